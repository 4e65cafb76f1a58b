package engine

import (
	"errors"
	"fmt"
	"gotap/arch"
	"path/filepath"
	"slices"

	"gotap/engine/module"
	"gotap/engine/place"
	"gotap/engine/registry"
)

// procView is what Add needs to know of a process to resolve places in it, on another goroutine than the tracing one.
type procView struct {
	pid  int
	mods []module.Loaded
}

// snapshot lists the processes that are probed, with their modules.
func (s *Session) snapshot() ([]procView, error) {
	var all []procView
	err := s.do(func() error {
		for pid, p := range s.procs {
			if !p.silent {
				all = append(all, procView{pid, p.space.mods})
			}
		}
		return nil
	})
	slices.SortFunc(all, func(a, b procView) int { return a.pid - b.pid })
	return all, err
}

// resolver is how places are found in files.
func (s *Session) resolver() *place.Resolver {
	return &place.Resolver{Lines: s.names.Lines, Boundaries: s.cfg.Boundaries}
}

// targets finds the places of a specification among modules. Results are kept: children that exec the same
// programs again and again ask the same questions.
func (s *Session) targets(spec place.Spec, mods []module.Loaded) ([]place.Target, error) {
	if spec.Absolute() {
		return s.absolute(spec, mods)
	}
	key := targetsKey{spec: spec}
	list := module.Files(mods)
	for _, f := range list {
		key.files += fmt.Sprintf("%p ", f)
	}
	s.resolved.Lock()
	r, ok := s.resolved.m[key]
	s.resolved.Unlock()
	if ok {
		return r.targets, r.err
	}
	r.targets, r.err = s.resolver().ResolveAll(spec, list)
	s.resolved.Lock()
	s.resolved.m[key] = r
	s.resolved.Unlock()
	return r.targets, r.err
}

// targetsKey is a question to the resolver, targetsResult its answer.
type targetsKey struct {
	spec  place.Spec
	files string
}

type targetsResult struct {
	targets []place.Target
	err     error
}

// absolute finds the place of an address of a process.
func (s *Session) absolute(spec place.Spec, mods []module.Loaded) ([]place.Target, error) {
	m := module.Find(mods, spec.Addr)
	if unmapped(mods, spec.Addr) {
		return nil, &place.RefusedError{Place: spec.String(), Reason: "no module is mapped there",
			Help: "an address without a module is one of the process; in a file it is written MODULE:0xADDRESS"}
	}
	in := spec
	in.Module, in.Addr = m.Path, m.Vaddr(spec.Addr)
	return s.resolver().Resolve(in, m.File)
}

// unmapped reports that there is no module at an address, or none that can be read.
func unmapped(mods []module.Loaded, addr uint64) bool {
	m := module.Find(mods, addr)
	return m == nil || m.File == nil || m.Err != nil
}

// prepare resolves specifications of a probe in the processes there are and compiles it for every place, on the caller's goroutine.
// It fails when a place is refused that was named outright, and when there is none and the probe is not optional.
func (s *Session) prepare(pr *probe, specs []place.Spec, procs []procView) error {
	var all error
	for i, spec := range specs {
		if spec.Kind == place.Syscall || spec.Absolute() && spec.Kind == place.Watch {
			continue
		}
		err := excludedModule(spec)
		if err == nil {
			err = s.prepareSpec(pr, spec, procs)
		}
		if err != nil {
			all = errors.Join(all, &place.ListedError{Index: i, Err: err})
		}
	}
	return all
}

func (s *Session) prepareSpec(pr *probe, spec place.Spec, procs []procView) error {
	var first error
	found := false
	for _, p := range procs {
		targets, err := s.targets(spec, p.mods)
		if e := s.cfg.Interrupted(); e != nil { // places may be missing
			return e
		}
		if err != nil && spec.Absolute() && unmapped(p.mods, spec.Addr) {
			err = s.excludedAddress(p.pid, spec)
		}
		if err != nil && first == nil {
			first = err
		}
		for _, t := range targets {
			if err := s.cfg.Interrupted(); err != nil {
				return err
			}
			found = true
			if t.IFunc || spec.Kind == place.Watch {
				continue // compiled when it is known what was chosen
			}
			if _, err := s.place(pr, t); err != nil {
				return err
			}
		}
	}
	var missing *place.NotFoundError
	switch {
	case found:
		return nil
	case pr.Spec.Optional && (first == nil || errors.As(first, &missing)):
		return nil
	}
	if there, err := s.inFile(spec); there {
		return err
	}
	if first == nil {
		first = &place.NotFoundError{Spec: spec, What: place.NoFunction}
	}
	return first
}

// inFile resolves a specification that names a file by its path in the file itself: when it means something there, the probe can
// wait for the file to be mapped. there is false when there is no such file. The file is opened by the name that processes
// will map it by, whatever links lead to it.
func (s *Session) inFile(spec place.Spec) (there bool, err error) {
	if spec.Module == "" || module.IsGlob(spec.Module) {
		return false, nil
	}
	path, err := filepath.Abs(spec.Module)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return false, nil
	}
	f, err := s.modules.OpenPath(path)
	if err != nil {
		return false, nil
	}
	_, err = s.resolver().Resolve(spec, f)
	return true, err
}

// place makes or finds a probe's placement at a target, compiling it the first time.
func (s *Session) place(pr *probe, t place.Target) (*placement, error) { return pr.Place(t, s.info(t)) }

// info answers what compiling a program may want to know of a target.
func (s *Session) info(t place.Target) PlaceInfo {
	return &registry.Info{Files: &s.names.Files, Target: t, ISA: abiOf(t.File).ISA, Modules: s.names.files}
}

// otherInfo makes the answers for a place that is no code. Registers are as wide as the kernel shows them to us, whatever the target's are.
func (s *Session) otherInfo(name string, names arch.Arch) PlaceInfo {
	return &registry.Other{Place: name, Regs: names, Word: 8, Globals: registry.Globals{Files: &s.names.Files, Modules: s.names.files}}
}

// armProbe arms a probe in a process, at all places that it has in these modules. What a pattern matched and cannot be
// probed is left out and told; what was named outright is an error.
func (s *Session) armProbe(p *process, pr *probe, mods []module.Loaded) error {
	if p.silent || pr.Removed {
		return nil
	}
	var all error
	for i, spec := range pr.Spec.Specs {
		if spec.Kind == place.Syscall || spec.Kind == place.Watch {
			continue
		}
		leaveOutKernel(pr, spec)
		targets, _ := s.targets(spec, p.space.mods)
		if err := s.cfg.Interrupted(); err != nil { // places may be missing
			return err
		}
		for _, t := range targets {
			if err := s.cfg.Interrupted(); err != nil {
				return err
			}
			err := s.armTarget(p, pr, t, mods)
			switch {
			case err == nil:
			case p.space.mem.Gone(): // it has ended while it was armed, which its exit is about to tell
				return nil
			case fatal(err): // of every further place there would be the same to say
				return errors.Join(all, &place.ListedError{Index: i, Err: err})
			case !spec.Pattern() && !spec.Every:
				all = errors.Join(all, &place.ListedError{Index: i, Err: err})
			default:
				pr.Refuse(fmt.Sprintf("%s: %v", t.Name, err))
			}
		}
	}
	return all
}

// fatal reports errors that are no property of one place.
func fatal(err error) bool {
	var many errTooMany
	return errors.As(err, &many)
}

// armTarget arms a probe at one place, in each module of the list that is the place's file.
func (s *Session) armTarget(p *process, pr *probe, t place.Target, mods []module.Loaded) error {
	for i := range mods {
		m := &mods[i]
		if m.File != t.File || m.Err != nil || !m.Covers(t.Vaddr) {
			continue
		}
		if t.IFunc {
			if err := s.armIFunc(p, pr, t, m); err != nil {
				return err
			}
			continue
		}
		pl, err := s.place(pr, t)
		if err != nil {
			return err
		}
		var refused *place.RefusedError // names the place itself
		if err := s.armAt(p, pl, m.Addr(registry.PlantedAt(t)), m); errors.As(err, &refused) {
			return err
		} else if err != nil {
			return fmt.Errorf("cannot probe %s: %w", t.Name, err)
		}
	}
	return nil
}

// armAt attaches a placement to the point at an address.
func (s *Session) armAt(p *process, pl *placement, addr uint64, m *module.Loaded) error {
	if pl.Code.Leave != nil && !pl.Target.Entry() {
		return &place.RefusedError{Place: pl.Target.Name, Reason: "only functions are left, and this is not the start of one"}
	}
	pt, err := s.pointAt(p.space, addr, m)
	if err != nil {
		return err
	}
	if err := pt.Attach(pl, &body{s, pt, pl.Target, m}); err != nil {
		return err
	}
	s.raiseSemaphore(p, pl)
	return nil
}

// armAll arms all probes in a process, in modules that have just appeared. There is nobody to return an error to: what
// is refused is told.
func (s *Session) armAll(p *process, mods []module.Loaded) {
	if p.silent {
		return
	}
	for _, pr := range s.probes.All() {
		err := s.armProbe(p, pr, mods)
		if errors.Is(err, ErrInterrupted) {
			return
		}
		if err != nil {
			pr.Refuse(err.Error())
			s.warn(fmt.Sprintf("probe %s in process %d: %v", pr.Spec.Name, p.pid, err))
		}
	}
	s.armSpecials(p)
}
