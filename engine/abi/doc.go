// Package abi describes the ABIs of Linux whose processes can be traced: x86-64, IA-32, AArch64 and 32-bit ARM.
//
// An instruction set (package isa) is the same whatever system runs it. An ABI adds what the Linux kernel defines: the
// code of a breakpoint's SIGTRAP, the registers and numbers of system calls, which calls a tracer may interrupt without
// a trace, and the layout of floating-point registers in tracing requests. It also names the crash handler for the ABI
// (package fallback).
//
// # Use
//
// OfProcess reads the ELF header of a process's program when it is attached to or has called exec, and the process
// keeps the *ABI for as long as it runs that program. At a hit, all questions about registers go through it. Of answers
// for a file, Host for this machine.
//
// # Threads
//
// Everything here is data. Values are made once and never changed; all functions and methods may be called from any
// goroutine.
package abi
