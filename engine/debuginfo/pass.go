package debuginfo

import (
	"bytes"

	"golang.org/x/arch/x86/x86asm"
)

// A line often has several runs of code that one pass goes through: the second half of an expression whose middle
// stands on another line, a loop's test that its head jumps to. Stopping at each would count one pass twice. Two rules
// leave runs out, both provable from the code:
//
// A run that can be entered only by falling into it from an earlier run of the same line is never reached without
// passing that one: there is no branch to anything between the two starts, and no indirect jump that might be one. A run
// that does nothing but jump to the start of another run of the line is passed only on the way there.

// onePerPass leaves out runs that are only ever reached in one pass with another.
func (in *Info) onePerPass(runs []run) []run {
	if len(runs) < 2 {
		return runs
	}
	var out []run
	for i := 0; i < len(runs); {
		fn, err := in.functionAt(runs[i].lo)
		if err != nil {
			return runs
		}
		r, ok := findRange(fn.unit.functions, runs[i].lo)
		j := i + 1
		for j < len(runs) && ok && runs[j].lo < r.hi && runs[j].lo >= r.lo {
			j++
		}
		out = append(out, in.distinct(r, runs[i:j])...)
		i = j
	}
	return out
}

// distinct applies the two rules to the runs of one function.
func (in *Info) distinct(r funcRange, runs []run) []run {
	if len(runs) < 2 {
		return runs
	}
	f, ok := in.branches(in.piecesOf(r))
	if !ok {
		return runs
	}
	var out []run
	var last *run // the run before, kept or not
	for i := range runs {
		follows := last != nil && last.block == runs[i].block && f.fallsInto(last.stop, runs[i].stop)
		last = &runs[i]
		if !follows && !f.jumpsTo(&runs[i], runs) {
			out = append(out, runs[i])
		}
	}
	if len(out) == 0 {
		return runs
	}
	return out
}

// branch is a direct branch.
type branch struct {
	at, next, to  uint64
	unconditional bool
}

// flow is the control flow of a function, as much of it as the rules need.
type flow struct {
	branches []branch
	ends     []uint64 // instructions after which the next is not run: returns, traps
}

// piecesOf are all pieces of the function that r is one of: the cold part jumps back into the hot one.
func (in *Info) piecesOf(r funcRange) []funcRange {
	u := in.unitOf(r.off)
	if u == nil {
		return []funcRange{r}
	}
	var pieces []funcRange
	for _, other := range u.functions {
		if other.off == r.off {
			pieces = append(pieces, other)
		}
	}
	return pieces
}

// branches decodes a function. ok is false when its code is not at hand, not x86, not decodable, or has jumps to where
// only the processor knows.
func (in *Info) branches(pieces []funcRange) (f flow, ok bool) {
	if in.machine != machineAMD64 && in.machine != machine386 {
		return f, false
	}
	for _, r := range pieces {
		code := in.code(r)
		if code == nil || !f.decode(code, r.lo, int(in.word())*8) {
			return f, false
		}
	}
	return f, true
}

// decode notes the branches in code, which lies at lo.
func (f *flow) decode(code []byte, lo uint64, mode int) bool {
	for off := 0; off < len(code); {
		if bytes.HasPrefix(code[off:], []byte{0xf3, 0x0f, 0x1e}) && len(code) >= off+4 { // endbr64, endbr32
			off += 4
			continue
		}
		inst, err := x86asm.Decode(code[off:], mode)
		if err != nil || inst.Op == 0 {
			return false
		}
		at := lo + uint64(off)
		off += inst.Len
		if !f.add(inst, at, at+uint64(inst.Len)) {
			return false
		}
	}
	return true
}

// add notes what an instruction does to the flow; false for an indirect jump.
func (f *flow) add(inst x86asm.Inst, at, next uint64) bool {
	switch inst.Op {
	case x86asm.RET, x86asm.UD2, x86asm.HLT:
		f.ends = append(f.ends, at)
		return true
	case x86asm.CALL, x86asm.LCALL, x86asm.XBEGIN:
		return true
	}
	rel, isRel := inst.Args[0].(x86asm.Rel)
	if isRel {
		f.branches = append(f.branches, branch{at, next, next + uint64(int64(rel)), inst.Op == x86asm.JMP})
		return true
	}
	return inst.Op != x86asm.JMP
}

// code is the machine code of a function; nil when no file has it.
func (in *Info) code(r funcRange) []byte {
	data, addr, err := in.Section(".text")
	if err != nil || r.lo < addr || r.hi > addr+uint64(len(data)) || r.hi < r.lo {
		return nil
	}
	return data[r.lo-addr : r.hi-addr]
}

// fallsInto reports whether to is reached only through from: nothing branches to an address behind from and up to to, and
// nothing in between leaves for good.
func (f *flow) fallsInto(from, to uint64) bool {
	for _, b := range f.branches {
		if from < b.to && b.to <= to || b.unconditional && from <= b.at && b.at < to {
			return false
		}
	}
	for _, at := range f.ends {
		if from <= at && at < to {
			return false
		}
	}
	return true
}

// jumpsTo reports whether a run ends in a jump to the start of another run, with no way out before.
func (f *flow) jumpsTo(r *run, runs []run) bool {
	for _, b := range f.branches {
		if b.at < r.stop || b.at >= r.hi {
			continue
		}
		if !b.unconditional || b.next != r.hi {
			return false
		}
		for i := range runs {
			if &runs[i] != r && runs[i].stop == b.to && runs[i].block == r.block {
				return true
			}
		}
	}
	return false
}
