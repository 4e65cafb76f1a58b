package engine

import (
	"errors"
	"fmt"
	"time"

	"gotap/engine/image/module"
)

// A session that is killed while it makes a process call the kernel may leave the code of the call in padding (package
// inject). Clean removes the code when no thread is in it any more.

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
		if pc, known := t.UserPC(); !known || isIn(left, pc) {
			return false
		}
	}
	var all error
	for _, r := range left {
		all = errors.Join(all, p.space.mem.Poke(r.Start, make([]byte, r.End-r.Start), s.world.stoppedTid(p.space)))
	}
	return all == nil
}

func isIn(ranges []module.Range, addr uint64) bool {
	for _, r := range ranges {
		if r.Contains(addr) {
			return true
		}
	}
	return false
}
