package gotap

import (
	"fmt"
	"sort"
	"sync"

	"gotap/engine"
	"gotap/runtime/opcode"
	"gotap/script"
)

// Programs of unsafe scripts change their targets. The first changes by each place of a script are notes of their own,
// or all of them (Tool.Verbose); the session's end counts the others.

// changesShown is how many changes by one place of a script are reported one by one.
const changesShown = 10

// changes counts changes of targets by the operation that made them.
type changes struct {
	mu    sync.Mutex // guards count: the tracing thread adds, Close reads
	count map[changeSite]uint64
}

// changeSite is an operation of a program.
type changeSite struct{ program, pc uint32 }

// add counts a change and returns how many the same operation has made.
func (d *changes) add(by changeSite) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.count == nil {
		d.count = map[changeSite]uint64{}
	}
	d.count[by]++
	return d.count[by]
}

// changed is called on the tracing thread for every change of a target.
func (s *Session) changed(c engine.Change) {
	if n := s.changes.add(changeSite{c.Program, c.PC}); n <= changesShown || s.opts.Tool.Verbose {
		s.notices.post(func() { s.note("%s: %s (thread %d)", s.placeOf(c.Program, c.PC), changeText(c), c.Tid) })
	}
}

// changeText returns a change in words.
func changeText(c engine.Change) string {
	switch c.Op {
	case opcode.PopR:
		return fmt.Sprintf("register set to %#x", c.Value)
	case opcode.SetRet:
		return fmt.Sprintf("result set to %#x", c.Value)
	case opcode.Skip:
		return fmt.Sprintf("function skipped, with result %#x", c.Value)
	case opcode.Signal:
		return fmt.Sprintf("signal %d sent", c.Value)
	}
	return fmt.Sprintf("%s written at %#x", bytesText(c.Size), c.Addr)
}

func bytesText(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// reportChanges reports how many changes were not reported one by one.
func (s closing) reportChanges() {
	if s.opts.Tool.Verbose {
		return
	}
	s.changes.mu.Lock()
	defer s.changes.mu.Unlock()
	var list []string
	for by, n := range s.changes.count {
		if n > changesShown {
			list = append(list, fmt.Sprintf("%s: changed its target %d times more", s.placeOf(by.program, by.pc), n-changesShown))
		}
	}
	sort.Slice(list, func(i, j int) bool { return natural(list[i], list[j]) })
	for _, text := range list {
		s.note("%s", text)
	}
}

// placeOf is where an operation of a program is in the script's text, or the program's name where that is not known.
func (s *Session) placeOf(program, pc uint32) string {
	info, _ := s.arena.Program(program)
	return script.PlaceOf(info, pc)
}
