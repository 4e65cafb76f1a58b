// Package source holds the files of a script: their text, the meaning of their names, the function literals that may
// become programs, and the places of calls.
//
// # From a parsed file to a place in a message
//
// Package load parses a file. Files.Admit analyses it with package scope, numbers its function literals and shared
// variables, and rewrites the tree that will run, so that each literal registers itself. File.Compile makes a program
// of the JavaScript machine. When a built-in function is called wrongly, Files.Site finds the call by the innermost
// stack frame; Site.ArgSpan and Site.PropertySpan give the place of the argument in the text as the user wrote it.
//
// # Threads
//
// All of it belongs to the goroutine that owns the JavaScript machine. The trees that File.Info refers to are not
// changed after Admit, so programs can be compiled from them on any goroutine.
package source
