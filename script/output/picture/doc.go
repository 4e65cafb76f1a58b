// Package picture keeps what a run produces, so that it can be written as one file when the run has ended: as a page, a
// profile, a time line.
//
// A Sink fills a Picture; the formats, which are packages of their own, write one. Stacks are found wherever a script
// has put them: in keys of aggregations, in fields of events, in columns of tables. Of the calls that gotap trace
// reports, stacks are made by their threads and depths.
//
// A Sink's methods may be called from several goroutines. A Picture is read by one.
package picture
