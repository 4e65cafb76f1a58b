// Package load turns the text of a script into a syntax tree in which every node has its place in the user's file.
//
// A plain script goes directly to the JavaScript parser. Only a file named .ts, or one with import or export, first
// goes through esbuild, which strips the types and joins the modules into one text; a source map gives the original
// place of every offset. Offsets in this package are bytes of the parsed text (File.Source); File.Origin gives the
// original place.
//
// Each file is parsed twice: Tree stays as written, for the compiler of programs; package scope rewrites Run before it
// is executed. Parsing costs less than a millisecond for scripts of usual size, and code to copy a tree safely would be
// longer.
//
// Nothing here runs JavaScript, and nothing is safe for concurrent use.
package load
