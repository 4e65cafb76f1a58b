package inject

import (
	"bytes"
	"slices"

	"gotap/engine/image/module"
)

// Gadget is a system call instruction.
type Gadget struct {
	At    uint64
	Thumb bool
}

// FindGadget finds an instruction with which the thread's process can call the kernel. The result is kept for the
// address space, and checked before each use: a probe may have been placed on it, or the memory may no longer exist.
func (j *Caller) FindGadget() (Gadget, bool) {
	kept := j.on.Gadget()
	if g := *kept; g.At != 0 && j.isGadget(g) {
		return g, true
	}
	maps, err := module.Maps(j.t.Tid)
	if err != nil {
		return Gadget{}, false
	}
	slices.SortStableFunc(maps, func(a, b module.Mapping) int { return preference(a) - preference(b) })
	for _, m := range maps {
		if g, ok := j.gadgetIn(m); ok {
			*kept = g
			return g, true
		}
	}
	return Gadget{}, false
}

// preference sorts the kernel's own pages first: probes are seldom placed there.
func preference(m module.Mapping) int {
	switch m.Path {
	case "[vdso]", "[sigpage]":
		return 0
	}
	return 1
}

// gadgetIn searches one mapping for a gadget, in the actual contents of memory.
func (j *Caller) gadgetIn(m module.Mapping) (Gadget, bool) {
	if !m.Exec || !m.Read || m.Path == "[vectors]" {
		return Gadget{}, false
	}
	const chunk = 64 << 10
	var buf [chunk]byte
	calls := &j.t.ABI().Calls
	for at := m.Start; at < m.End; at += chunk {
		code := buf[:j.t.Memory().PeekAvailable(at, buf[:min(chunk, m.End-at)])]
		if i := aligned(code, calls.Insn, 4); i >= 0 {
			return Gadget{at + uint64(i), false}, true
		}
		if i := aligned(code, calls.Thumb, 2); i >= 0 {
			return Gadget{at + uint64(i), true}, true
		}
	}
	return Gadget{}, false
}

// aligned returns the index of an instruction in code, at a multiple of n, or -1.
func aligned(code, insn []byte, n int) int {
	for i := 0; len(insn) > 0 && i+len(insn) <= len(code); i += n {
		if bytes.Equal(code[i:i+len(insn)], insn) {
			return i
		}
	}
	return -1
}

// isGadget reports whether a gadget is still in memory.
func (j *Caller) isGadget(g Gadget) bool {
	want := j.t.ABI().Calls.Insn
	if g.Thumb {
		want = j.t.ABI().Calls.Thumb
	}
	now := make([]byte, len(want))
	return j.t.Memory().Peek(g.At, now) == nil && bytes.Equal(now, want)
}
