// Package rsp is a client of the GDB remote serial protocol (GDB manual, appendix E), as spoken by the stubs of
// QEMU, gdbserver, OpenOCD and the kernel's KGDB. It handles packets and their meaning; it does not depend on
// probes, files or instruction sets.
//
// # One exchange, from start to end
//
// Call writes a packet, "$" command "#" checksum, and waits for the answer. A goroutine of the Client reads the
// connection: it checks and acknowledges each packet, undoes the run-length encoding, and passes the packet on
// through a channel. An answer that does not arrive within Patience is an error, and so is everything that is not a
// packet: a Client that has failed stays failed, because what arrives next could be the answer to any request. A
// stub that can work without acknowledgements is asked to.
//
// A target is stopped or runs. While it is stopped, all calls but WaitStop are allowed. Resume starts it, and after
// that only WaitStop and Interrupt make sense until a stop reply has arrived. The caller keeps track of the state
// and of the order of calls: this is the protocol's all-stop mode, in which a stop of one thread is a stop of all.
//
// # Registers
//
// The stub's target description, an XML document that may include others (description.go), defines the contents of
// the "g" packet. Registers that "g" leaves out are read one by one. Stubs without a description have the layout
// that was once built into GDB (classic.go).
//
// # What is not supported
//
// Non-stop mode, tracepoints, reverse execution, and the file operations that a target requests from its debugger:
// such a request is answered with "not supported". Byte order is little-endian.
//
// Concurrency: one goroutine drives a target, since each call builds on what earlier calls have chosen. Call locks
// for one exchange, and may be called concurrently with that goroutine; Interrupt, Close and Err may be called at
// any time.
package rsp
