package dpdf

import (
	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// verified verifies a program. DProbes did not mind when control came to a label with more
// words on the stack one time than another, as to an abort at the end that all tests jump to.
// The verifier does; so where it refuses a program, what can be reached with several depths is
// written out once for each, and that is verified instead. The errors are those of the program
// as it was written.
func verified(p *compile.Program) (*compile.Program, diag.List) {
	list := compile.Verify(p)
	if !list.HasErrors() {
		return p, list
	}
	if s := split(p); s != nil {
		if again := compile.Verify(s); !again.HasErrors() {
			return s, again
		}
	}
	return p, list
}

// spot is a command as it is reached with a depth of the stack. In a routine the depth is counted from its entry, as
// handlers and the base of the stack are; the program itself is the routine -1.
type spot struct{ at, depth, routine int }

// splitter rewrites a program with each command once for each depth.
type splitter struct {
	code  []compile.Command
	out   []compile.Command
	index map[spot]int // of what is written
	jumps map[int]spot // commands whose target is to be filled in
	todo  []spot
	nets  map[int]int  // by how much routines change the depth
	busy  map[int]bool // routines whose change is being found out
}

// maxSplit is how many times as long a program may become. An abort at the end that ten tests
// jump to, each with another depth, makes one line ten; more than eight times the whole program
// is another kind of program.
const maxSplit = 8

// split is nil for programs that it cannot treat: those that go back to a saved depth, whose routines return at
// several depths or call themselves, that take more than there is, or that would become too long.
func split(p *compile.Program) *compile.Program {
	s := splitter{code: p.Code, index: map[spot]int{}, jumps: map[int]spot{}, nets: map[int]int{}, busy: map[int]bool{},
		todo: []spot{{0, 0, -1}}}
	for len(s.todo) > 0 {
		next := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		if !s.line(next) || len(s.out) > maxSplit*len(p.Code) {
			return nil
		}
	}
	for i, to := range s.jumps {
		s.out[i].A = uint32(s.index[to])
	}
	c := *p
	c.Code, c.Bound = s.out, compile.Bound{}
	return &c
}

// step is where control goes from a command: on, to another place, or both; ok is false where that is not known.
// A handler finds three words more than there were at the entry of its routine.
func (s *splitter) step(from spot) (next, to spot, goes, ok bool) {
	c := s.code[from.at]
	pops, pushes := opcode.RowOf(c.Op).Effect(c.A)
	next = spot{from.at + 1, from.depth - pops + pushes, from.routine}
	if c.Op == opcode.RestoreTSP || from.routine < 0 && from.depth < pops || next.depth > runtime.MaxStack {
		return next, to, false, false
	}
	switch {
	case c.Op == opcode.SetX:
		return next, spot{int(c.A), 3, from.routine}, true, true
	case c.Op == opcode.Call:
		net, ok := s.net(int(c.A))
		next.depth += net
		return next, spot{int(c.A), 0, int(c.A)}, true, ok
	case c.Op.Has(opcode.Jumps):
		to = spot{int(c.A), next.depth, from.routine}
		if c.Op == opcode.Loop {
			next.depth-- // the counter goes when the loop is left
		}
		return next, to, true, true
	}
	return next, to, false, true
}

// ends reports whether control does not go on behind a command.
func ends(op opcode.Op) bool { return op.Has(opcode.Ends) }

// net is by how much a routine changes the depth: every ret of it has to be at that depth.
func (s *splitter) net(entry int) (net int, ok bool) {
	if net, known := s.nets[entry]; known || s.busy[entry] {
		return net, known
	}
	s.busy[entry] = true
	seen, todo, returns := map[spot]bool{}, []spot{{entry, 0, entry}}, false
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		if at.at >= len(s.code) || len(seen) > maxSplit*len(s.code) {
			return 0, false
		}
		next, to, goes, ok := s.step(at)
		op := s.code[at.at].Op
		switch {
		case !ok, op == opcode.Ret && returns && net != at.depth:
			return 0, false
		case op == opcode.Ret:
			net, returns = at.depth, true
		}
		if goes && op != opcode.Call {
			todo = append(todo, to)
		}
		if !ends(op) {
			todo = append(todo, next)
		}
	}
	if returns {
		s.nets[entry] = net
	}
	return net, returns
}

// line writes commands from one to where control does not go on, or comes to what is written already.
func (s *splitter) line(from spot) bool {
	for begun := false; ; begun = true {
		if _, done := s.index[from]; done {
			if begun {
				s.jumps[len(s.out)] = from
				s.out = append(s.out, compile.Command{Op: opcode.Jmp, Pos: s.code[from.at].Pos})
			}
			return true
		}
		if from.at >= len(s.code) || len(s.out) > maxSplit*len(s.code) {
			return false
		}
		c := s.code[from.at]
		s.index[from] = len(s.out)
		next, to, goes, ok := s.step(from)
		if !ok {
			return false
		}
		if goes {
			s.jumps[len(s.out)] = to
			s.todo = append(s.todo, to)
		}
		if s.out = append(s.out, c); ends(c.Op) {
			return true
		}
		from = next
	}
}
