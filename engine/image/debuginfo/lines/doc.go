// Package lines maps source lines to code and back, with the line tables of a module.
//
// One operation from start to end: Addrs("main.c", 12). The files of every unit's line table are compared with the last
// components of the path; only tables that mention the file are read and cached. Each table gives the runs of the line:
// stretches of code that belong to it, split where an inlined call starts or ends. Runs that do not start a statement
// are dropped (best). steps.go then decodes the function and drops runs that are only executed in one step with another
// run, so that one execution of the line gives one stop. A line without code is an *Error with the nearest lines that
// have code, or with similar names of files.
//
// Tables is not safe for concurrent use, because it moves the entry.Reader.
//
// Called from: debuginfo. It imports entry and function.
package lines
