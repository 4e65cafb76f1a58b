package remote

import (
	"errors"
	"fmt"

	"gotap/compile"
	"gotap/engine"
	"gotap/engine/debuginfo"
	"gotap/engine/isa"
	"gotap/engine/module"
	"gotap/engine/place"
)

// maxFunc bounds the bytes of a function that are looked at.
const maxFunc = 1 << 20

// targets finds the places of a specification among the target's modules.
func (s *Session) targets(spec place.Spec) ([]place.Target, error) {
	if spec.Kind == place.Syscall {
		return nil, &place.RefusedError{Place: spec.String(), Reason: "a stub does not tell of system calls",
			Help: "in a kernel the function of the call is a place, as __x64_sys_openat or do_sys_openat2"}
	}
	r := &place.Resolver{Lines: s.files.Lines, Boundaries: isa.Boundaries}
	if spec.Absolute() {
		m := module.Find(s.mods, spec.Addr)
		if m == nil || m.File == nil || m.Err != nil {
			return nil, &place.RefusedError{Place: spec.String(), Reason: "no module is known there"}
		}
		spec.Module, spec.Addr = m.Path, m.Vaddr(spec.Addr)
		return r.Resolve(spec, m.File)
	}
	var files []*module.File
	for i := range s.mods {
		if s.mods[i].File != nil && s.mods[i].Err == nil {
			files = append(files, s.mods[i].File)
		}
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

// waits reports whether a place that is not there may come with a library that the program has not loaded yet.
func (s *Session) waits(spec place.Spec, err error) bool {
	var missing *place.NotFoundError
	return errors.As(err, &missing) && s.loader.pending(spec)
}

// place makes or finds a probe's placement at a target, compiling it the first time.
func (s *Session) place(pr *probe, t place.Target) (*placement, error) {
	key := siteKey{t.File, t.Vaddr, t.Name}
	if pl := pr.places[key]; pl != nil {
		return pl, nil
	}
	code, err := pr.spec.Compile(&placeInfo{s, t})
	if err != nil {
		return nil, err
	}
	pl := &placement{probe: pr, target: t, code: code, modN: t.File.Path, funcN: t.Symbol}
	if pl.funcN == "" && t.Func != nil {
		pl.funcN = t.Func.Demangled()
	}
	pr.places[key] = pl
	return pl, nil
}

// placeInfo answers what compiling a program may want to know of its place.
type placeInfo struct {
	s *Session
	t place.Target
}

var _ engine.CodePlace = (*placeInfo)(nil)

// Name implements engine.PlaceInfo.
func (i *placeInfo) Name() string { return i.t.Name }

// Access implements engine.PlaceInfo.
func (i *placeInfo) Access(path []string) (compile.Access, error) {
	in, ok := i.s.files.Info(i.t.File)
	if !ok {
		return compile.Access{}, fmt.Errorf("cannot find %q at %s: %w", path, i.t.Name, debuginfo.ErrNone)
	}
	return in.Access(i.t.Vaddr, path)
}

// ReturnType implements engine.PlaceInfo.
func (i *placeInfo) ReturnType() (compile.Access, bool) {
	in, ok := i.s.files.Info(i.t.File)
	if !ok || i.t.Func == nil {
		return compile.Access{}, false
	}
	a, err := in.ReturnAccess(i.t.Func.Addr)
	return a, err == nil
}

// Arg implements engine.PlaceInfo.
func (i *placeInfo) Arg(n int) (compile.Access, bool) {
	if i.t.Mark == nil || n < 0 || n >= len(i.t.Mark.Args) || i.t.Mark.Args[n].Err != nil {
		return compile.Access{}, false
	}
	return i.t.Mark.Args[n].Access, true
}

// Register implements engine.PlaceInfo.
func (i *placeInfo) Register(name string) (index, bits, shift int, ok bool) {
	return i.s.isa.RegIndex(name)
}

// WordSize implements engine.PlaceInfo.
func (i *placeInfo) WordSize() int { return i.s.isa.WordSize() }

// Code implements engine.CodePlace.
func (i *placeInfo) Code(n int) ([]byte, error) {
	code, err := i.t.File.Code(i.t.Vaddr, n)
	if err != nil {
		return nil, fmt.Errorf("cannot read the code at %s: %w", i.t.Name, err)
	}
	return code, nil
}
