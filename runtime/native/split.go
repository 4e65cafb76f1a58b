package native

import (
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// maxSplit is how many operations a program may have when it is split, as a multiple of those that it had.
const maxSplit = 4

// way is an operation of a program, to be executed when the program has logged something.
type way struct {
	pc  int
	log *Log
}

// splitter copies operations of a program so that each copy is reached with one log. In a program that logs under a
// condition, as `if (c.arg0 == 5) log(c.arg1)` does, the operations behind the condition are reached with two different
// logs, and get two copies. A copy stands directly behind the operation that it follows, so no jump is added, and every
// way through the program has as many steps as before.
type splitter struct {
	*planner
	insts   []runtime.Inst
	origin  []uint32 // of each of insts, its operation in the program
	placed  map[way]int
	pending []way // to be placed, because something jumps there
	jumps   []jump
}

// jump is one of insts and what it has to jump to.
type jump struct {
	at int
	to way
}

// split returns a planner for a program of which this planner has found that its logs differ, or nil if it would become
// too long, or the way in which its parts lie does not permit it.
func (p *planner) split() *planner {
	s := splitter{planner: p, placed: map[way]int{}, pending: []way{{0, p.logs.one(&Log{})}}}
	for len(s.pending) > 0 {
		if next := s.nextPending(); !s.isPlaced(next) && !s.place(next) {
			return nil
		}
	}
	for _, j := range s.jumps {
		s.insts[j.at].A = uint32(s.placed[j.to])
	}
	n := newPlanner(p.Code, s.insts, p.arena, p.features, p.Place)
	n.origin = s.origin
	return &n
}

// nextPending removes the first in the order of the program, so that most operations lie behind the one that they
// follow in it.
func (s *splitter) nextPending() way {
	first := 0
	for i, w := range s.pending {
		if w.pc < s.pending[first].pc {
			first = i
		}
	}
	w := s.pending[first]
	s.pending = append(s.pending[:first], s.pending[first+1:]...)
	return w
}

func (s *splitter) isPlaced(w way) bool {
	_, is := s.placed[w]
	return is
}

// place places an operation and those that follow it without a jump, up to one that ends the program, or that native
// code will not execute. It reports whether that is possible.
func (s *splitter) place(w way) bool {
	for {
		if s.isPlaced(w) || w.pc >= len(s.Insts) || len(s.insts) >= maxSplit*len(s.Insts) {
			return false // only a jump could lead from the operation before to this one; it runs past its end; it is too long
		}
		in := s.Insts[w.pc]
		s.placed[w] = len(s.insts)
		s.insts, s.origin = append(s.insts, in), append(s.origin, uint32(w.pc))
		row := opcode.RowOf(in.Op)
		if row == nil || row.Group == opcode.Log && s.lacksItem(w.pc, w.log) != "" {
			return true
		}
		after := s.logAfter(w.log, w.pc)
		if row.Does.Has(opcode.Jumps) {
			to := way{int(in.A), after}
			s.jumps = append(s.jumps, jump{len(s.insts) - 1, to})
			s.pending = append(s.pending, to)
		}
		if row.Does.Has(opcode.Ends) {
			return true
		}
		w = way{w.pc + 1, after}
	}
}
