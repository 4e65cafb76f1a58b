// Package module runs the modules that a script requires, as CommonJS does. Imports are joined with the script by
// package load; both give the same instance of a module.
//
// # One require
//
// Require resolves the name and gives the exports if the module has run. Otherwise it loads the file, adds it to the
// files of the script, and runs it as a function of exports, require, module, __filename and __dirname. A module that
// requires a running one is an error, which names the circle. An exception forgets the module, so that a later require
// runs it again.
//
// # Threads
//
// Everything belongs to the goroutine that owns the JavaScript machine.
package module
