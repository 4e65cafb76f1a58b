// Package limits refuses uses of the language's own built-in functions that would take too long or too much memory
// inside the JavaScript machine, where the watchdog cannot interrupt them: texts and arrays that are too large, JSON
// that nests too deeply.
//
// Install replaces those functions before the script runs. Everything here runs on the goroutine that owns the machine.
// A function that refuses throws a RangeError; otherwise it calls the original. Patterns that backtrack without end are
// different: their package has a time limit of its own, set for the whole process.
package limits
