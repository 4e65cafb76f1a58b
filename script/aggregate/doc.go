// Package aggregate gives JavaScript the aggregations, maps and per-thread variables of a script: the built-in
// functions that declare them (count, hist, map, …) and their methods. The data are objects of the arena, which
// programs and callbacks both change.
//
// # One aggregation
//
// hist("ns") reads its arguments, declares an object in the list of package shared, and gives an object of JavaScript
// that stands for it. Package fold finds it by Of when a program uses it. Methods read it through package shared, so
// that a recording knows what callbacks saw. When the run ends, PrintRest prints what the script has not printed
// itself.
//
// # Threads
//
// Everything belongs to the goroutine that owns the JavaScript machine.
package aggregate
