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
	return m != nil && pr.callsCount(m, mods)
}

// callsCount reports whether calls that a module makes count.
func (pr *Probe) callsCount(m *module.Loaded, mods []module.Loaded) bool {
	if m.File == nil {
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

// Callers returns where the code is whose calls count: addresses at which CalledFrom is true, by module. It is called on
// the tracing thread.
func (pr *Probe) Callers(mods []module.Loaded) (code []module.Range) {
	for i := range mods {
		if !pr.callsCount(&mods[i], mods) {
			continue
		}
		for _, m := range mods[i].Mappings {
			if m.Exec {
				code = append(code, module.Range{Start: m.Start, End: m.End})
			}
		}
	}
	return code
}
