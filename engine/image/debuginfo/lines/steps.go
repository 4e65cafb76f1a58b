package lines

import (
	"bytes"
	"debug/elf"
	"slices"

	"golang.org/x/arch/x86/x86asm"
	"gotap/engine/image/debuginfo/function"
)

// A line often has several runs of code in one step: the second half of an expression whose middle
// is on another line, a loop's test that its head jumps to. Stopping at each would count one step twice. Two rules
// remove runs, and the code proves both:
//
// A run that is entered only from an earlier run of the same line is part of the same step. That is so when nothing
// branches to an address between the two starts, and the function has no indirect jump.
//
// A run that only jumps to the start of another run of the line is part of the same step.

// distinctSteps removes runs that are executed only in one step with another run.
func (lt *Tables) distinctSteps(runs []run) []run {
	if len(runs) < 2 {
		return runs
	}
	var out []run
	for i := 0; i < len(runs); {
		r, err := lt.functions.Range(runs[i].lo)
		if err != nil {
			return runs
		}
		j := i + 1
		for j < len(runs) && runs[j].lo < r.Hi && runs[j].lo >= r.Lo {
			j++
		}
		out = append(out, lt.distinct(r, runs[i:j])...)
		i = j
	}
	return out
}

// distinct applies the two rules to the runs of one function.
func (lt *Tables) distinct(r function.Range, runs []run) []run {
	if len(runs) < 2 {
		return runs
	}
	f, ok := lt.branches(lt.functions.Pieces(r))
	if !ok {
		return runs
	}
	var out []run
	var last *run // the previous run, removed or not
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

// flow is the control flow of a function, as far as the rules need it.
type flow struct {
	branches []branch
	ends     []uint64 // instructions after which the next one is not executed: returns, traps
}

// branches decodes a function. ok is false when its code is not available, is not x86, cannot be decoded, or has an
// indirect jump.
func (lt *Tables) branches(pieces []function.Range) (f flow, ok bool) {
	if lt.entries.Machine() != elf.EM_X86_64 && lt.entries.Machine() != elf.EM_386 {
		return f, false
	}
	for _, r := range pieces {
		code := lt.code(r)
		if code == nil || !f.decode(code, r.Lo, int(lt.entries.Word())*8) {
			return f, false
		}
	}
	return f, true
}

// decode adds the branches in code, which starts at lo. It returns false when it cannot decode the code or finds an
// indirect jump.
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

// add adds an instruction to the flow. It returns false for an indirect jump.
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

// Entry returns where an inlined call begins whose code is in ranges, none of them empty, and whether each execution of the
// call executes that instruction once. named is the entry that the debug information names, or 0. It may be behind the
// end of an empty range, at an instruction of the caller that was moved there; the call then begins at the next range, if
// the code between is executed from start to end.
func (lt *Tables) Entry(named uint64, ranges [][2]uint64) (pc uint64, exact bool) {
	if named != 0 {
		next := ^uint64(0)
		for _, r := range ranges {
			if r[0] <= named && named < r[1] {
				return named, lt.begins(named, ranges, true)
			}
			if r[0] > named {
				next = min(next, r[0])
			}
		}
		if lt.leadsTo(named, next) {
			return next, lt.begins(next, ranges, true)
		}
	}
	return ranges[0][0], lt.begins(ranges[0][0], ranges, false)
}

// leadsTo reports whether the code between two addresses of a function is executed from start to end, and no other code
// leads to its end.
func (lt *Tables) leadsTo(from, to uint64) bool {
	around, err := lt.functions.Range(from)
	if err != nil || to >= around.Hi {
		return false
	}
	f, ok := lt.branches(lt.functions.Pieces(around))
	return ok && f.fallsInto(from, to) && !slices.ContainsFunc(f.branches, func(b branch) bool { return from <= b.at && b.at < to })
}

// begins reports whether each execution of an inlined call, whose code is in ranges, executes the instruction at pc
// once. stated says that the debug information names pc as the entry. Otherwise it is only the lowest address, where
// LLVM has what the optimiser moved out of a loop around the call: then the call is one range that nothing outside
// branches into.
func (lt *Tables) begins(pc uint64, ranges [][2]uint64, stated bool) bool {
	inside := func(addr uint64) bool {
		return slices.ContainsFunc(ranges, func(r [2]uint64) bool { return r[0] <= addr && addr < r[1] })
	}
	around, err := lt.functions.Range(pc)
	if err != nil || !inside(pc) || !stated && len(ranges) > 1 {
		return false
	}
	f, ok := lt.branches(lt.functions.Pieces(around))
	if !ok {
		return stated
	}
	return !slices.ContainsFunc(f.branches, func(b branch) bool {
		if inside(b.at) {
			return b.to == pc // a loop that begins there
		}
		return !stated && b.to != pc && inside(b.to)
	})
}

// code returns the machine code of a function, or nil when no file has it.
func (lt *Tables) code(r function.Range) []byte {
	data, addr, err := lt.entries.Section(".text")
	if err != nil || r.Lo < addr || r.Hi > addr+uint64(len(data)) || r.Hi < r.Lo {
		return nil
	}
	return data[r.Lo-addr : r.Hi-addr]
}

// fallsInto reports whether to is reached only through from: nothing branches to an address behind from and up to to,
// and no instruction between them leaves.
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

// jumpsTo reports whether a run ends in a jump to the start of another run, without a branch before that.
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
