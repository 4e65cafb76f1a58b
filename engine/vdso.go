package engine

import (
	"bytes"
	"slices"

	"gotap/engine/image/module"
	"gotap/engine/image/unwind"
)

// The vdso is code of the kernel in every process. Signal handlers return to it on IA-32 and AArch64, so that stacks lead through it; no
// file has it, and no probe is in it (excluded.go).
type vdso struct {
	asked  bool
	lo, hi uint64 // where it is mapped; both 0 when it is not
	bias   uint64
}

// holds reports whether an address is in it.
func (v *vdso) holds(addr uint64) bool { return addr >= v.lo && addr < v.hi }

// vdsoTable is the call-frame information of the vdso and its bias, if the address lies there. Tracing thread; the process is stopped.
func (t *thread) vdsoTable(pc uint64) (*unwind.Table, uint64, bool) {
	v := t.s.vdsoOf(t.proc)
	if !v.holds(pc) {
		return nil, 0, false
	}
	return t.s.tableOf(t.s.vdsos[t.proc.arch]), v.bias, true
}

// vdsoOf is the vdso of a process, which is stopped. Tracing thread.
func (s *Session) vdsoOf(p *process) *vdso {
	v := &p.space.vdso
	if !v.asked {
		*v = vdso{asked: true}
		s.findVDSO(p, v)
	}
	return v
}

// findVDSO looks where the vdso is mapped, and tells what names addresses. The first time for an architecture its code is read: the
// kernel maps the same into all processes of one.
func (s *Session) findVDSO(p *process, v *vdso) {
	maps, _ := module.Maps(p.pid) // a process that has gone has none
	at := slices.IndexFunc(maps, func(m module.Mapping) bool { return m.Path == "[vdso]" })
	if at < 0 {
		return
	}
	m, f := maps[at], s.vdsos[p.arch]
	if f == nil {
		image := make([]byte, m.End-m.Start)
		image = image[:p.space.read(m.Start, image)]
		var err error
		if f, err = module.NewFile(m.Path, bytes.NewReader(image)); err != nil || len(f.Segments) == 0 {
			return
		}
		s.vdsos[p.arch] = f
	}
	v.lo, v.hi, v.bias = m.Start, m.End, m.Start-f.Segments[0].Vaddr
	s.names.Add(p.pid, module.Loaded{Path: m.Path, Mappings: []module.Mapping{m}, File: f, Bias: v.bias})
}
