// Package samples is gotap's sample library: each file a document, a program and a test.
//
// A sample begins with its purpose ("// NAME: what it tells"), how to call it, and real output. It takes its arguments by
// option() and works without a target, on gotap's own demonstration process. The test compiles every sample, compares the listing of
// its bytecode with a golden one, and runs it on a real program.
package samples
