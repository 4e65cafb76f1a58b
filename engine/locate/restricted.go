package locate

import (
	"slices"

	"gotap/engine/image/module"
	"gotap/engine/place"
	"gotap/engine/registry"
)

// excluded reports whether a probe leaves out a target.
func (l *Locator) excluded(pr *registry.Probe, t place.Target, mods []module.Loaded) (out bool) {
	for _, spec := range pr.Spec.Not {
		as := registry.LeftOut(spec)
		if open := pr.Spec.Effects.Open(as); out && !open {
			continue
		}
		if l.excludes(pr.Spec.Effects, spec, t, mods) {
			pr.Spec.Effects.Had(as)
			out = true
		}
	}
	return out
}

// excludes reports whether a specification of what is left out means a target. Without a module part it means every
// module.
func (l *Locator) excludes(effects *registry.Effects, spec place.Spec, t place.Target, mods []module.Loaded) bool {
	in := spec
	if spec.Of != place.Callees { // those of a module's function may be in any module
		if !place.InModule(spec, t.File, module.Files(mods)) {
			return false
		}
		in.Module = t.File.Path
	}
	same, err := l.Targets(in, mods)
	effects.Missed(registry.LeftOut(spec), err) // what is not there leaves nothing out
	return slices.ContainsFunc(same, func(s place.Target) bool { return s.File == t.File && s.Vaddr == t.Vaddr })
}

// seekCallers records which modules whose calls a probe counts are mapped.
func (l *Locator) seekCallers(pr *registry.Probe, mods []module.Loaded) {
	for _, name := range pr.Spec.From {
		as := registry.Restriction{From: true, Text: name}
		if !pr.Spec.Effects.Open(as) {
			continue
		}
		anything := place.Spec{Kind: place.Function, Module: name, Name: "*"}
		if files := module.Files(mods); len(place.Candidates(anything, files)) > 0 {
			pr.Spec.Effects.Had(as)
		} else {
			pr.Spec.Effects.Missed(as, place.NotLoaded(anything, files))
		}
	}
}
