// Package othertracers knows commands and flags of strace, ltrace, uftrace, perf, bpftrace and Frida, and what does the
// same in gotap.
//
// Flag, Valued and Command return hints for mistakes on the command line. All functions are safe for concurrent use.
package othertracers
