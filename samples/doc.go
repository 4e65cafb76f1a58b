// Package samples is gotap's sample library: each file a document, a program and a test.
//
// A sample's header is its document: the purpose ("// NAME: what it shows"), its topic, how to call it, its limits, and
// what a real run printed. It takes its arguments by option(), each with a help text, and works without a file: `gotap
// run NAME`. If the target lacks the library or server that a sample needs, it says so at the end. Work that several
// samples share is in the modules of package stdlib.
//
// The tests of this folder compile every sample and compare the listing of its bytecode with a golden one. The tests of
// the command run each sample on a real program and check its output.
//
// # What is not here
//
// Measuring a call's processor time needs the kernel's help: funcprof measures elapsed time, offcpu measures blocking
// system calls. dashboard's table is the limit of terminal drawing.
package samples
