// Package rsp is a client of the GDB remote serial protocol (GDB manual, appendix E), as stubs of QEMU, gdbserver, OpenOCD and the
// kernel's KGDB speak it. It knows packets and what they mean; it knows nothing of probes, files or instruction sets.
//
// # One exchange, from start to end
//
// Call writes a packet, "$" command "#" checksum, and waits for the answer. A goroutine of the Client's own reads what comes: it
// checks and acknowledges each packet, undoes the run-length encoding, and passes it on through a channel. An answer that does not
// come within Patience is an error, and so is everything that is no packet: a Client that has failed stays failed, because what
// arrives next could be the answer to any question. A stub that can do without acknowledgements is asked to.
//
// A target is stopped or runs. While it is stopped, all calls but WaitStop are allowed. Resume lets it run, and after
// that only WaitStop and Interrupt make sense, until a stop reply has come. Which of the two it is the caller knows, and keeps in order:
// this is the protocol's all-stop mode, where a stop of one thread is a stop of all.
//
// # Registers
//
// What the "g" packet holds is told by the stub's target description, an XML document that may include others (description.go). Registers
// that "g" leaves out are asked for one by one. Stubs without a description have the layout that GDB once had built in (classic.go).
//
// # What is not here
//
// Non-stop mode, tracepoints, reverse execution, and the file operations that a target asks of its debugger: such a request is
// answered with "not supported". Byte order is little-endian.
//
// Concurrency: one goroutine drives a target, since each call builds on what the ones before it have chosen. Call locks for one
// exchange, and may be called beside it; Interrupt, Close and Err may be called at any time.
package rsp
