package remote

import (
	"errors"

	"gotap/engine/module"
	"gotap/engine/place"
	"gotap/engine/registry"
)

// maxFunc bounds the bytes of a function that are looked at.
const maxFunc = 1 << 20

// targets finds the places of a specification among the target's modules.
func (s *Session) targets(spec place.Spec) ([]place.Target, error) {
	if spec.Kind == place.Syscall && !s.kernel {
		return nil, nil // no place in a file: see syscall.go
	}
	r := &place.Resolver{Lines: s.files.Lines, Boundaries: s.cfg.Boundaries}
	if spec.Absolute() {
		m := module.Find(s.mods, spec.Addr)
		if m == nil || m.File == nil || m.Err != nil {
			return nil, &place.RefusedError{Place: spec.String(), Reason: "no module is known there"}
		}
		spec.Module, spec.Addr = m.Path, m.Vaddr(spec.Addr)
		return r.Resolve(spec, m.File)
	}
	files := s.mapped()
	if spec.Kind == place.Syscall {
		return s.kernelCalls(r, spec, files)
	}
	targets, err := r.ResolveAll(spec, files)
	var found []place.Target
	for _, t := range targets {
		if t.IFunc {
			err = errors.Join(err, &place.RefusedError{Place: t.Name, Reason: "the loader chooses its code, which a stub does not tell",
				Help: "name the implementation that it chooses"})
			continue
		}
		found = append(found, t)
	}
	if len(found) > 0 {
		err = nil
	}
	if err != nil && s.waits(spec, err) {
		err = nil
	}
	return found, err
}

// mapped lists the files that the target maps.
func (s *Session) mapped() (files []*module.File) {
	for i := range s.mods {
		if s.mods[i].File != nil && s.mods[i].Err == nil {
			files = append(files, s.mods[i].File)
		}
	}
	return files
}

// waits reports whether a place that is not there may come with a library that the program has not loaded yet.
func (s *Session) waits(spec place.Spec, err error) bool {
	var missing *place.NotFoundError
	return errors.As(err, &missing) && s.loader.pending(spec)
}

// place makes or finds a probe's placement at a target, compiling it the first time.
func (s *Session) place(pr *probe, spec place.Spec, t place.Target) (*placement, error) {
	if isKernelCall(t) || onData(spec) {
		return pr.Place(t, s.otherInfo(t.Name))
	}
	return pr.Place(t, &registry.Info{Files: &s.files, Target: t, ISA: s.isa.ISA, Modules: s.mapped})
}

// otherInfo is what programs on a system call or on an access to data may know of it: the thread is at no place that is known beforehand.
func (s *Session) otherInfo(name string) registry.PlaceInfo {
	return &registry.Other{Place: name, Regs: s.isa, Word: s.isa.WordSize(),
		Globals: registry.Globals{Files: &s.files, Modules: s.mapped}}
}
