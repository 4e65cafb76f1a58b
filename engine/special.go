package engine

import "gotap/engine/syscallprobe"

// otherProbes are the probes that breakpoints alone do not serve: on system calls (syscalls.go) and on data (watch.go).
type otherProbes struct {
	s        *Session
	calls    syscallprobe.Probes
	sysnames int  // enabled probes on system calls
	watching int  // watchpoints
	before   bool // some of them stop a thread before the instruction: on ARM all, elsewhere those on instructions
}

// markMemory is the memory of an address space that has semaphores. It implements semaphore.Memory.
type markMemory struct{ tracedSpace }

// ReadMemory implements semaphore.Memory.
func (m markMemory) ReadMemory(addr uint64, p []byte) error { return m.Mem.Peek(addr, p) }

// WriteMemory implements semaphore.Memory.
func (m markMemory) WriteMemory(addr uint64, p []byte) error {
	return m.Mem.Poke(addr, p, m.s.world.stoppedTid(m.Space))
}
