package engine

import (
	"fmt"
	"os"
	"strings"

	"gotap/engine/module"
)

// slotPool is memory mapped into a target for copies of displaced instructions. Every point has a slot of its own, whose
// contents never change while it is in use, so that any number of threads may be in it at once and a hit writes nothing.
//
// The memory is mapped by the target itself, made to by a thread that has just hit a breakpoint: it is in user mode,
// between two instructions, in no system call, so that nothing needs to be restarted (see inject). It stays
// mapped, unused, when the session ends: to unmap it would take another system call of the target, and a core dump or
// an unwinder may still name an address in it.
type slotPool struct {
	next, end uint64
	free      []uint64
}

const slotArea = 64 << 10

func (p slotPool) copy() slotPool {
	p.free = append([]uint64(nil), p.free...)
	return p
}

// take takes a slot, 0 when the pool is used up.
func (p *slotPool) take(size uint64) uint64 {
	if n := len(p.free); n > 0 {
		slot := p.free[n-1]
		p.free = p.free[:n-1]
		return slot
	}
	if p.next+size > p.end {
		return 0
	}
	slot := p.next
	p.next += size
	return slot
}

// slotFor gives a point its slot, by way of a thread that has hit it. It reports false when the instruction has
// to be run in place.
func (s *Session) slotFor(p *point, t *thread) bool {
	if p.slot != 0 {
		return true
	}
	sp := p.sp
	size := uint64(sp.arch.SlotSize())
	slot := sp.slots.take(size)
	if slot == 0 {
		if !s.mapSlots(sp, t) {
			return false
		}
		slot = sp.slots.take(size)
	}
	code, err := p.site.OutOfLine(slot)
	if err == nil {
		err = sp.mem.Poke(slot, code, t.tid)
	}
	if err != nil {
		sp.slots.free = append(sp.slots.free, slot)
		return false
	}
	p.slot = slot
	return true
}

// mapSlots has the target map memory for slots.
func (s *Session) mapSlots(sp *space, t *thread) bool {
	if sp.sealed {
		return false
	}
	sp.sealed = true // until it has worked
	if why := t.filtered(); why != "" {
		s.warn(fmt.Sprintf("process %d: %s; instructions are stepped in place, which holds its other threads", t.proc.pid, why))
		return false
	}
	base, err := t.mapMemory(slotArea)
	if err != nil {
		s.warn(fmt.Sprintf("process %d: %v; instructions are stepped in place, which holds its other threads", t.proc.pid, err))
		return false
	}
	sp.sealed = false
	sp.slots.next, sp.slots.end = base, base+slotArea
	return true
}

// filtered says why a thread must not be made to call the kernel: a seccomp filter may kill it for that.
func (t *thread) filtered() string {
	switch t.statusField("Seccomp") {
	case "", "0":
		return ""
	}
	return "its system calls are filtered (seccomp)"
}

// statusField reads a field of /proc/TID/status.
func (t *thread) statusField(name string) string { return statusField(t.tid, name) }

func statusField(tid int, name string) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && key == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// gadget finds an instruction that calls the kernel in the target's own memory: in the vDSO, which every process has
// unless it was started without, or in any code.
func (sp *space) gadget(pid int, insn []byte) (uint64, bool) {
	maps, err := module.Maps(pid)
	if err != nil {
		return 0, false
	}
	for _, vdso := range []bool{true, false} {
		for _, m := range maps {
			if !m.Exec || !m.Read || m.Path == "[vsyscall]" || vdso != (m.Path == "[vdso]") {
				continue
			}
			if at, ok := sp.find(m.Start, m.End, insn); ok {
				return at, true
			}
		}
	}
	return 0, false
}

// find searches memory for bytes.
func (sp *space) find(start, end uint64, want []byte) (uint64, bool) {
	const chunk = 1 << 16
	for at := start; at < end; at += chunk {
		code := string(sp.code(at, int(min(chunk+8, end-at))))
		if i := strings.Index(code, string(want)); i >= 0 {
			return at + uint64(i), true
		}
	}
	return 0, false
}
