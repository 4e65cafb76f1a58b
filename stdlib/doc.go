// Package stdlib is the library of script modules, embedded into the binary: import … from "gotap/NAME", or require("gotap/NAME"), finds
// NAME.js here.
//
// There is no registration: a file in this folder is a module. It begins with its documentation: purpose, an example, its exports, and
// what happens with a target that lacks what it needs. Exports are of three sorts, and the header says which is which:
//
//   - functions for programs, which are inlined there and compile to bytecode (int, portOf, owner …);
//   - functions of the host, for callbacks and the top level (errno, sockaddr, table …);
//   - functions that place probes (latency, allocations, tls …), for the top level.
//
// # Conventions
//
// Importing a module places no probe. What places probes takes a place or an object of options, and returns an object with
// probes (which can be disabled or removed) and the aggregations and maps that they fill; a function given last is called on the host
// with what was seen, and anything named `when`, `key` or `on` is a program. An unknown option is an error that lists the known ones.
//
// Places in libraries that a target may lack are optional, so that the run continues and a library loaded later is found; when
// none of the probes was hit, a line on standard error says at the end what the target would need (gotap/module: absent). Information from
// the host, such as /proc, is undefined when the process has ended: callbacks run after the hit.
//
// Times are nanoseconds in numbers; names of units are in the options that have others (ms, us).
//
// # Tests
//
// Names and flags are compared with what golang.org/x/sys/unix and the kernel say, addresses with package net; each module
// has a script in testdata that checks the rest; what places probes is run on real programs by the samples that use it.
package stdlib
