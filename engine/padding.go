package engine

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gotap/engine/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
)

// Before a process has a region, the code that makes it call the kernel lies for a moment in the padding after the code
// of a module: zeros that the file has there, or that the kernel fills the last page with. A session that is killed in
// that moment leaves the code behind, possibly with a thread in it. Clean removes the code when no thread is in it any
// more.

// padding finds room after the code of a module.
func (sp *space) padding(maps []module.Mapping, size uint64) (at uint64, ok bool) {
	for _, m := range maps {
		if m.Exec && m.Read && !m.Write && !m.Shared && m.Path != "[vsyscall]" && m.End-m.Start > size && sp.zeros(m.End-size, size) {
			return m.End - size, true
		}
	}
	return 0, false
}

// zeros reports whether memory at an address, and a few bytes before it, is all zeros: padding.
func (sp *space) zeros(at, size uint64) bool {
	const before = 16
	p := make([]byte, before+size)
	return sp.mem.Peek(at-before, p) == nil && bytes.Equal(p, make([]byte, len(p)))
}

// stubRooms are the sizes of code placed in padding, on any architecture.
var stubRooms = []uint64{fallback.StubSize, returnCodeSize, frameRoomSize}

// leftStubs finds such code that earlier sessions left in padding.
func leftStubs(mem *ptrace.Memory, maps []module.Mapping, native *fallback.Native) (left []module.Range) {
	for _, m := range maps {
		if !m.Exec || m.Write || m.Path == "" || m.Path[0] == '[' {
			continue
		}
		for _, size := range stubRooms {
			p := make([]byte, returnCodeSize)
			if m.End-m.Start > size && mem.Peek(m.End-size, p) == nil && native.BeginsStub(p) {
				left = append(left, module.Range{Start: m.End - size, End: m.End})
			}
		}
	}
	return left
}

// clearPatience is how long Clean waits for a moment in which all threads are seen to be outside the code.
const clearPatience = 10 * time.Second

// clearStubs zeroes code that earlier sessions left in the padding of a process, as soon as no thread is in it.
func clearStubs(s *Session, pid int, left []module.Range) error {
	for end := time.Now().Add(clearPatience); ; time.Sleep(time.Millisecond) {
		cleared := false
		if err := s.do(func() error { cleared = clearUnused(s, pid, left); return nil }); err != nil || cleared {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("cannot clear %#x: a thread stays in the code there", left[0].Start)
		}
	}
}

// clearUnused zeroes the code if all threads of the process are seen to be outside it.
func clearUnused(s *Session, pid int, left []module.Range) (cleared bool) {
	p := s.procs[pid]
	if p == nil {
		return true
	}
	held := s.world.holdAll()
	defer s.world.releaseWorld(held)
	for _, t := range p.threads {
		if pc, known := t.userPC(); !known || isIn(left, pc) {
			return false
		}
	}
	var all error
	for _, r := range left {
		all = errors.Join(all, p.space.mem.Poke(r.Start, make([]byte, r.End-r.Start), s.world.stoppedTid(p.space)))
	}
	return all == nil
}

// userPC returns the program counter of a thread that is in a stop, handled or not, or sleeps in a system call. It
// returns 0 for a thread that has ended.
func (t *thread) userPC() (pc uint64, known bool) {
	switch {
	case t.getRegs():
		return *t.pc(), true
	case procfs.Ended(t.tid):
		return 0, true
	}
	const fields = 9 // of /proc/TID/syscall during a call: its number, six arguments, stack pointer and program counter
	call := strings.Fields(procfs.Read(t.tid, "syscall"))
	if len(call) != fields {
		return 0, false
	}
	pc, err := strconv.ParseUint(call[fields-1], 0, 64)
	return pc, err == nil
}

func isIn(ranges []module.Range, addr uint64) bool {
	for _, r := range ranges {
		if r.Contains(addr) {
			return true
		}
	}
	return false
}
