package view

import (
	"bytes"
	"slices"

	"gotap/engine/image/module"
	"gotap/engine/image/unwind"
	"gotap/engine/space"
)

// vdsoTable returns the call-frame information and the bias of the vdso, if the address lies there. Only the
// tracing thread calls it; the process is stopped.
func (w *View) vdsoTable(pc uint64) (*unwind.Table, uint64, bool) {
	v := w.code.VDSOOf(w.Of.Pid(), w.Space)
	if !v.Holds(pc) {
		return nil, 0, false
	}
	return w.code.Table(w.code.vdsos[w.Space.ABI]), v.Bias, true
}

// VDSOOf returns the vdso of a process, which is stopped. Only the tracing thread calls it.
func (g *Images) VDSOOf(pid int, sp *space.Space) *space.VDSO {
	v := &sp.VDSO
	if !v.Asked {
		*v = space.VDSO{Asked: true}
		g.findVDSO(pid, sp, v)
	}
	return v
}

// findVDSO finds the mapping of the vdso and registers it for naming addresses. The first time for an architecture
// it reads the vdso's code: the kernel maps the same code into all processes of an architecture.
func (g *Images) findVDSO(pid int, sp *space.Space, v *space.VDSO) {
	maps, _ := module.Maps(pid) // a process that no longer exists has no mappings
	at := slices.IndexFunc(maps, func(m module.Mapping) bool { return m.Path == "[vdso]" })
	if at < 0 {
		return
	}
	m, f := maps[at], g.vdsos[sp.ABI]
	if f == nil {
		image := make([]byte, m.End-m.Start)
		image = image[:sp.Read(m.Start, image)]
		var err error
		if f, err = module.NewFile(m.Path, bytes.NewReader(image)); err != nil || len(f.Segments) == 0 {
			return
		}
		g.vdsos[sp.ABI] = f
	}
	v.Lo, v.Hi, v.Bias = m.Start, m.End, m.Start-f.Segments[0].Vaddr
	g.names.Add(pid, module.Loaded{Path: m.Path, Mappings: []module.Mapping{m}, File: f, Bias: v.Bias})
}
