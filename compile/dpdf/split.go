package dpdf

import (
	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
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

// spot is a command as it is reached with a depth of the stack.
type spot struct{ at, depth int }

// splitter writes a program anew, each command once for each depth.
type splitter struct {
	code  []compile.Command
	out   []compile.Command
	index map[spot]int // of what is written
	jumps map[int]spot // commands whose target is to be filled in
	todo  []spot
}

// maxSplit is how many times as long a program may become. An abort at the end that ten tests
// jump to, each with another depth, makes one line ten; more than eight times the whole program
// is another kind of program.
const maxSplit = 8

// split is nil for programs that it cannot treat: those that call routines or set handlers,
// whose effect on the stack it does not know, that take more than there is, or that would
// become too long.
func split(p *compile.Program) *compile.Program {
	s := splitter{code: p.Code, index: map[spot]int{}, jumps: map[int]spot{}, todo: []spot{{0, 0}}}
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

// countsDepth reports whether a command does something else at another depth, or goes to one
// that is not counted here.
func countsDepth(op runtime.Op) bool {
	return op == runtime.OpSetX || op >= runtime.OpSaveTSP && op <= runtime.OpPokeBase
}

// line writes commands from one to where control does not go on, or comes to what is written already.
func (s *splitter) line(from spot) bool {
	for begun := false; ; begun = true {
		if _, done := s.index[from]; done {
			if begun {
				s.jumps[len(s.out)] = from
				s.out = append(s.out, compile.Command{Op: runtime.OpJmp, Pos: s.code[from.at].Pos})
			}
			return true
		}
		if from.at >= len(s.code) {
			return false
		}
		c := s.code[from.at]
		s.index[from] = len(s.out)
		pops, pushes := compile.RowOf(c.Op).Effect(c)
		next := spot{from.at + 1, from.depth - pops + pushes}
		if c.Op == runtime.OpCall || c.Op == runtime.OpRet || countsDepth(c.Op) || from.depth < pops || next.depth > runtime.MaxStack {
			return false
		}
		if c.Op >= runtime.OpJmp && c.Op <= runtime.OpLoop {
			to := spot{int(c.A), next.depth}
			s.jumps[len(s.out)] = to
			s.todo = append(s.todo, to)
			if c.Op == runtime.OpLoop {
				next.depth-- // the counter goes when the loop is left
			}
		}
		s.out = append(s.out, c)
		switch c.Op {
		case runtime.OpJmp, runtime.OpExit, runtime.OpAbort, runtime.OpRemove, runtime.OpRaise:
			return true
		}
		from = next
	}
}
