package arena

import "unsafe"

// ControlOffset is where the control word lies in an arena.
const ControlOffset = wordControl * 8

// Control returns the control word, which tells executors that run programs in other processes whether to run them:
// while it is the number of a living thread of the session. A robust futex makes the kernel change it when that thread
// ends, however it ends (set_robust_list(2)): bit 30 is set then. It belongs to the session; the host of the arena does
// not use it.
func (a *Arena) Control() *uint32 { return (*uint32)(unsafe.Pointer(&a.words[wordControl])) }

// Used returns how many bytes of the arena, from its start on, are in use. It grows as objects are declared.
func (a *Arena) Used() uint64 { return a.next.Load() }

// Reserve allocates zeroed memory for what executors share besides objects, aligned to a cache line, and returns its
// offset in bytes and its words. It is never freed. ok is false if the arena has no more. It is safe for concurrent
// use.
func (a *Arena) Reserve(bytes int) (off uint64, words []uint64, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if off, ok = a.allocateLocked(uint64(bytes)); !ok {
		return 0, nil, false
	}
	return off, a.words[off/8:][: bytes/8 : bytes/8], true
}
