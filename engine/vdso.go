package engine

import (
	"bytes"
	"slices"

	"gotap/engine/image/module"
	"gotap/engine/image/unwind"
	"gotap/engine/space"
)

// vdsoTable returns the call-frame information and the bias of the vdso, if the address lies there. Only the
// tracing thread calls it; the process is stopped.
func (t *thread) vdsoTable(pc uint64) (*unwind.Table, uint64, bool) {
	v := t.s.images.vdsoOf(t.proc)
	if !v.Holds(pc) {
		return nil, 0, false
	}
	return t.s.images.tableOf(t.s.images.vdsos[t.proc.arch]), v.Bias, true
}

// vdsoOf returns the vdso of a process, which is stopped. Only the tracing thread calls it.
func (g *images) vdsoOf(p *process) *space.VDSO {
	v := &p.space.VDSO
	if !v.Asked {
		*v = space.VDSO{Asked: true}
		g.findVDSO(p, v)
	}
	return v
}

// findVDSO finds the mapping of the vdso and registers it for naming addresses. The first time for an architecture
// it reads the vdso's code: the kernel maps the same code into all processes of an architecture.
func (g *images) findVDSO(p *process, v *space.VDSO) {
	maps, _ := module.Maps(p.pid) // a process that no longer exists has no mappings
	at := slices.IndexFunc(maps, func(m module.Mapping) bool { return m.Path == "[vdso]" })
	if at < 0 {
		return
	}
	m, f := maps[at], g.vdsos[p.arch]
	if f == nil {
		image := make([]byte, m.End-m.Start)
		image = image[:p.space.Read(m.Start, image)]
		var err error
		if f, err = module.NewFile(m.Path, bytes.NewReader(image)); err != nil || len(f.Segments) == 0 {
			return
		}
		g.vdsos[p.arch] = f
	}
	v.Lo, v.Hi, v.Bias = m.Start, m.End, m.Start-f.Segments[0].Vaddr
	g.s.names.Add(p.pid, module.Loaded{Path: m.Path, Mappings: []module.Mapping{m}, File: f, Bias: v.Bias})
}
