package engine

import (
	"bytes"
	"slices"

	"gotap/engine/image/module"
	"gotap/engine/image/unwind"
)

// vdso is the kernel's code in a process. Signal handlers return to it on IA-32 and AArch64, so stacks lead through
// it. No file contains it, and no probe is placed in it (excluded.go).
type vdso struct {
	asked  bool
	lo, hi uint64 // its mapping; both 0 if it is not mapped
	bias   uint64
}

// holds reports whether an address is in the vdso.
func (v *vdso) holds(addr uint64) bool { return addr >= v.lo && addr < v.hi }

// vdsoTable returns the call-frame information and the bias of the vdso, if the address lies there. Only the
// tracing thread calls it; the process is stopped.
func (t *thread) vdsoTable(pc uint64) (*unwind.Table, uint64, bool) {
	v := t.s.images.vdsoOf(t.proc)
	if !v.holds(pc) {
		return nil, 0, false
	}
	return t.s.images.tableOf(t.s.images.vdsos[t.proc.arch]), v.bias, true
}

// vdsoOf returns the vdso of a process, which is stopped. Only the tracing thread calls it.
func (g *images) vdsoOf(p *process) *vdso {
	v := &p.space.vdso
	if !v.asked {
		*v = vdso{asked: true}
		g.findVDSO(p, v)
	}
	return v
}

// findVDSO finds the mapping of the vdso and registers it for naming addresses. The first time for an architecture
// it reads the vdso's code: the kernel maps the same code into all processes of an architecture.
func (g *images) findVDSO(p *process, v *vdso) {
	maps, _ := module.Maps(p.pid) // a process that no longer exists has no mappings
	at := slices.IndexFunc(maps, func(m module.Mapping) bool { return m.Path == "[vdso]" })
	if at < 0 {
		return
	}
	m, f := maps[at], g.vdsos[p.arch]
	if f == nil {
		image := make([]byte, m.End-m.Start)
		image = image[:p.space.read(m.Start, image)]
		var err error
		if f, err = module.NewFile(m.Path, bytes.NewReader(image)); err != nil || len(f.Segments) == 0 {
			return
		}
		g.vdsos[p.arch] = f
	}
	v.lo, v.hi, v.bias = m.Start, m.End, m.Start-f.Segments[0].Vaddr
	g.s.names.Add(p.pid, module.Loaded{Path: m.Path, Mappings: []module.Mapping{m}, File: f, Bias: v.bias})
}
