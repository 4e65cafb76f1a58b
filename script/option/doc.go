// Package option has the options that a script declares with option(…), and the values that users give with --arg.
//
// # One option
//
// Declare reads name, default and help, and converts the given value to the type of the default. The list serves the
// help of the command. When the top level has run, CheckArgs reports arguments that no option took.
//
// # Threads
//
// Everything runs while the script is loaded, on the goroutine that loads it.
package option
