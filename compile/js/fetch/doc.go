// Package fetch reads values of the place where a probe is: arguments, results, variables and registers.
//
// A Path names a value through debug information: c.args.p.field, c.locals.n, c.ret.x, global("limit").y. One path from
// start to end: lower collects its names; when the value is needed, the Fetcher asks the js.Place for a compile.Access,
// which says where the value starts and which steps (offset, load, truncate, …) lead to it; access turns them into a
// tree. Values made of others (structs, arrays, all arguments) are read part by part into one text with known bounds
// (pretty.go). Text of Go, Rust and C++ is an address and a length (sizedtext.go).
//
// Without a place (gotap check) a stand-in takes the value's part, and Result.UsesPlace asks for another compilation at
// each place.
//
// A Fetcher belongs to one handler, on one goroutine. It calls the Place from there.
package fetch
