// Package register holds the registers of a stub's target: GDB's names of architectures and registers, where the stub
// shows each register (Layout), and the registers of one stopped thread (File).
//
// # One hit, from start to end
//
// At the start of a session Bind finds the registers of the architecture in the stub's description. After each stop
// Read reads the general registers of the thread, in one packet where the stub has them there, and registers that the
// packet leaves out one by one. Programs and emulated instructions read and change File.General and, after LoadVectors,
// File.Vectors. Write sends the stub the registers that have changed, before the thread is resumed.
//
// Vector registers are read only when they are needed, at most once per stop. The registers of x86's floating-point
// unit are read each time and never written.
//
// # Concurrency
//
// An ISA and a Layout are never changed. A File may be used only while the target is stopped, by the
// goroutine that may use the Client.
package register
