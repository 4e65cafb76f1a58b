package view

import (
	"gotap/engine/abi"
	"gotap/engine/history"
	"gotap/engine/image/module"
	"gotap/engine/image/unwind"
)

// Images is what is known of the code that targets map: unwinding tables, the kernel's vDSOs.
type Images struct {
	names   *history.History
	walkers map[*abi.ABI]*unwind.Walker
	tables  map[*module.File]*unwind.Table
	vdsos   map[*abi.ABI]*module.File
	python  pythonFrames
}

// NewImages returns an empty collection.
func NewImages(names *history.History) *Images {
	return &Images{
		names: names, walkers: map[*abi.ABI]*unwind.Walker{}, tables: map[*module.File]*unwind.Table{}, vdsos: map[*abi.ABI]*module.File{},
	}
}

// tableOf returns the call-frame information of a file. After the first call for a file, the tracing thread needs
// no lock for it.
func (g *Images) tableOf(f *module.File) *unwind.Table {
	if t, ok := g.tables[f]; ok {
		return t
	}
	t := g.names.Table(f)
	g.tables[f] = t
	return t
}

// newWalker returns the unwinder of an architecture. All threads share it, because only the tracing thread uses it.
func (g *Images) newWalker(a *abi.ABI) (*unwind.Walker, error) {
	if w := g.walkers[a]; w != nil {
		return w, nil
	}
	layout, err := unwind.LayoutOf(a.Arch)
	if err != nil {
		return nil, err
	}
	w := unwind.NewWalker(layout)
	g.walkers[a] = w
	return w, nil
}
