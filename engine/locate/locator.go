package locate

import (
	"errors"
	"slices"
	"sync"

	"gotap/engine/image/module"
	"gotap/engine/image/symbols"
	"gotap/engine/isa"
	"gotap/engine/place"
	"gotap/engine/registry"
)

// Process is a process in which places are looked for.
type Process struct {
	Pid  int
	Mods []module.Loaded
}

// Host is what a back end adds to what files say.
type Host interface {
	// Interrupted returns an error once placing probes is to end.
	Interrupted() error
	// Boundaries lists the addresses of the instructions in code.
	Boundaries(f *module.File, code []byte, vaddr uint64) ([]uint64, error)
	// InFiles reports whether a specification is looked for in files. Otherwise the back end finds its places itself.
	InFiles(spec place.Spec) bool
	// Resolve finds the targets of a specification in files, and leaves out those that the back end cannot probe.
	Resolve(r *place.Resolver, spec place.Spec, files []*module.File) ([]place.Target, error)
	// Info returns what programs may know of a target; nil: the target is compiled later, when more is known.
	Info(spec place.Spec, t place.Target) registry.PlaceInfo
	// NoModule explains why nothing can be probed at an address of a process where no module is mapped.
	NoModule(pid int, spec place.Spec) error
	// Awaits reports whether the places of a specification, which were not found for a reason, may come with a module
	// that is mapped later. The error then says why the module, which can be read already, does not have them.
	Awaits(spec place.Spec, reason error) (bool, error)
}

// Locator finds places for one session.
type Locator struct {
	host       Host
	files      *symbols.Files
	overlooked place.Overlooked

	mu      sync.Mutex // guards what follows
	answers map[place.Spec][]answer
	inlined map[copiesKey][]place.Target
}

// answer is what a specification means in a list of files.
type answer struct {
	files   []*module.File
	targets []place.Target
	err     error
}

// New returns a Locator that reads what files say through files.
func New(host Host, files *symbols.Files) *Locator {
	return &Locator{host: host, files: files, answers: map[place.Spec][]answer{}, inlined: map[copiesKey][]place.Target{}}
}

// Resolver returns how places are found in single files.
func (l *Locator) Resolver() *place.Resolver {
	return &place.Resolver{Lines: l.files.Lines, Boundaries: l.host.Boundaries, Callees: isa.Callees, Overlooked: &l.overlooked}
}

// Fresh returns errors that limit what a session shows and end nothing, each once: for files with debug information
// that are missing, and for patterns that mean inlined functions of the main program. The latter are searched for.
func (l *Locator) Fresh() []error { return append(l.files.FreshMissing(), l.overlooked.Fresh()...) }

// Targets lists the targets of a specification among modules.
func (l *Locator) Targets(spec place.Spec, mods []module.Loaded) ([]place.Target, error) {
	if !l.host.InFiles(spec) {
		return nil, nil
	}
	if spec.Absolute() {
		return l.absolute(spec, mods)
	}
	files := module.Files(mods)
	if a, ok := l.known(spec, files); ok {
		return a.targets, a.err
	}
	targets, err := l.host.Resolve(l.Resolver(), spec, files)
	var missing *place.NotFoundError
	if err == nil || errors.As(err, &missing) {
		l.keep(spec, answer{files, targets, err})
	}
	return targets, err
}

// Of lists the targets of one of a probe's specifications, without those that the probe leaves out.
func (l *Locator) Of(pr *registry.Probe, spec place.Spec, mods []module.Loaded) ([]place.Target, error) {
	targets, err := l.Targets(spec, mods)
	l.seekCallers(pr, mods)
	targets, err = l.withCopies(pr, spec, l.kept(pr, targets, mods), module.Files(mods), err)
	return slices.DeleteFunc(slices.Clone(targets), func(t place.Target) bool { return t.Copy != nil && l.unfit(pr, spec, t) }), err
}

// kept returns the targets that the probe does not leave out.
func (l *Locator) kept(pr *registry.Probe, targets []place.Target, mods []module.Loaded) []place.Target {
	if len(pr.Spec.Not) == 0 {
		return targets
	}
	return slices.DeleteFunc(slices.Clone(targets), func(t place.Target) bool { return l.excluded(pr, t, mods) })
}

// known returns the answer that is kept for a specification.
func (l *Locator) known(spec place.Spec, files []*module.File) (answer, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.answers[spec] {
		if slices.Equal(a.files, files) {
			return a, true
		}
	}
	return answer{}, false
}

func (l *Locator) keep(spec place.Spec, a answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers[spec] = append(l.answers[spec], a)
}

// absolute finds the target at an address of a process.
func (l *Locator) absolute(spec place.Spec, mods []module.Loaded) ([]place.Target, error) {
	m := mapped(mods, spec.Addr)
	if m == nil {
		return nil, noModule(spec)
	}
	in := spec
	in.Module, in.Addr = m.Path, m.Vaddr(spec.Addr)
	return l.Resolver().Resolve(in, m.File)
}

// mapped returns the module at an address; nil when there is none, or none that can be read.
func mapped(mods []module.Loaded, addr uint64) *module.Loaded {
	if m := module.Find(mods, addr); m != nil && m.File != nil && m.Err == nil {
		return m
	}
	return nil
}

// Place makes or finds a probe's placement at a target, and compiles it the first time. It is nil when the target is
// compiled later.
func (l *Locator) Place(pr *registry.Probe, spec place.Spec, t place.Target) (*registry.Placement, error) {
	info := l.host.Info(spec, t)
	if info == nil {
		return nil, nil
	}
	return pr.Place(t, info)
}

// Prepare finds the places of specifications of a probe in processes, and compiles the probe for each of them.
func (l *Locator) Prepare(pr *registry.Probe, specs []place.Spec, procs []Process) error {
	var all error
	var total tally
	for i, spec := range specs {
		if !l.host.InFiles(spec) {
			total.kept++ // the back end finds them
			continue
		}
		err := ExcludedModule(spec)
		if err == nil {
			err = l.prepare(pr, spec, procs, &total)
		}
		if e := l.host.Interrupted(); e != nil { // places may be missing
			return e
		}
		if err != nil {
			all = errors.Join(all, &place.ListedError{Index: i, Err: err})
		}
	}
	if all == nil && total.kept == 0 && total.left > 0 {
		return &place.ListedError{Err: &place.NotFoundError{Spec: specs[0], What: place.LeftOut}}
	}
	return all
}

// tally counts targets that a probe takes, and those that it leaves out.
type tally struct{ kept, left int }

// prepare is Prepare for one specification.
func (l *Locator) prepare(pr *registry.Probe, spec place.Spec, procs []Process, total *tally) error {
	var first error
	found := false
	for _, p := range procs {
		targets, err := l.Targets(spec, p.Mods)
		l.seekCallers(pr, p.Mods)
		targets, err = l.withCopies(pr, spec, targets, module.Files(p.Mods), err)
		if err != nil && spec.Absolute() && mapped(p.Mods, spec.Addr) == nil {
			err = l.host.NoModule(p.Pid, spec)
		}
		if first == nil {
			first = err
		}
		found = found || len(targets) > 0
		kept := l.kept(pr, targets, p.Mods)
		total.kept, total.left = total.kept+len(kept), total.left+len(targets)-len(kept)
		if err := l.compile(pr, spec, kept); err != nil {
			return err
		}
	}
	if found {
		return nil
	}
	return l.missing(pr, spec, first)
}

// unfit reports whether a probe cannot be compiled for a target.
func (l *Locator) unfit(pr *registry.Probe, spec place.Spec, t place.Target) bool {
	_, err := l.Place(pr, spec, t)
	return err != nil
}

// compile makes the placements of a probe at targets. Inlined copies that it does not fit are left out, unless there is
// nothing else.
func (l *Locator) compile(pr *registry.Probe, spec place.Spec, targets []place.Target) error {
	var unfit error
	placed := 0
	for _, t := range targets {
		if err := l.host.Interrupted(); err != nil {
			return err
		}
		_, err := l.Place(pr, spec, t)
		switch {
		case err == nil:
			placed++
		case t.Copy == nil:
			return err
		case unfit == nil:
			unfit = err
		}
	}
	if placed > 0 {
		return nil
	}
	return unfit
}

// missing returns the error of a specification that means nothing in any process, or nil when that is none.
func (l *Locator) missing(pr *registry.Probe, spec place.Spec, first error) error {
	var missing *place.NotFoundError
	if pr.Spec.Optional && (first == nil || errors.As(first, &missing)) {
		return nil
	}
	if awaited, err := l.host.Awaits(spec, first); awaited {
		return err
	}
	if first == nil {
		first = &place.NotFoundError{Spec: spec, What: place.NoFunction}
	}
	return first
}
