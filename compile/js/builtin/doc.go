// Package builtin is the functions, methods and context members that programs can use without declaring them.
//
// The tables (All, Members) are what the compiler, the help text and the declarations for editors are made of. One
// call, `log(x)`, from start to end: lower makes a Call of the syntax node, Find gives the table's Row, Row.Call checks
// permission (--unsafe, when) and the number of arguments, and the row's function reads the arguments through the
// Reader, which is lower, and returns a tree. Methods of maps, aggregations, trails and recorders are methods of Call
// as well.
//
// The tables are never written. A Call belongs to one handler, on one goroutine.
package builtin
