// Package stdlib is the library of script modules, embedded into the binary: import … from "gotap/NAME", or
// require("gotap/NAME"), loads NAME.js from this directory.
//
// Modules are not registered: each file in this folder is a module. It begins with its documentation: purpose, an
// example, its exports, and its behaviour if the target lacks what it needs. There are three kinds of exports, and the
// header states the kind of each:
//
//   - functions for programs, which are inlined there and compile to bytecode (int, portOf, owner …);
//   - functions of the host, for callbacks and the top level (errno, sockaddr, table …);
//   - functions that place probes (latency, allocations, tls …), for the top level.
//
// # Conventions
//
// Importing a module places no probe. A function that places probes takes a place or an options object, and returns an
// object with probes (which can be disabled or removed) and the aggregations and maps that they fill. A function given
// last is called on the host with the observed data; anything named `when`, `key` or `on` is a program. An unknown
// option is an error that lists the known ones.
//
// Places in libraries that a target may lack are optional, so that the run continues and a library loaded later is
// found. If none of the probes was hit, a line on standard error says at the end what the target would need
// (gotap/module: absent). Information from the host, such as /proc, is undefined if the process has ended, because
// callbacks run after the hit.
//
// Times are numbers of nanoseconds; options in other units have the unit in their name (ms, us).
//
// # Tests
//
// Names and flags are compared with those of golang.org/x/sys/unix and the kernel, addresses with package net. Each
// module has a script in testdata that checks the rest. Functions that place probes are run on real programs by the
// samples that use them.
package stdlib
