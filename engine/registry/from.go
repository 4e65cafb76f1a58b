package registry

import (
	"slices"

	"gotap/engine/image/module"
	"gotap/engine/place"
)

// CalledFrom reports whether the code at an address is in one of the modules whose calls count (Spec.From). mods are
// those of the process. It is called on the tracing thread.
func (pr *Probe) CalledFrom(addr uint64, mods []module.Loaded) bool {
	m := module.Find(mods, addr)
	if m == nil || m.File == nil {
		return false
	}
	wanted, known := pr.callers[m.File]
	if !known {
		files := module.Files(mods)
		wanted = slices.ContainsFunc(pr.Spec.From, func(name string) bool {
			return place.InModule(place.Spec{Module: name}, m.File, files)
		})
		if pr.callers == nil {
			pr.callers = map[*module.File]bool{}
		}
		pr.callers[m.File] = wanted
	}
	return wanted
}
