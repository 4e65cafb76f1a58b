package locate

import (
	"errors"
	"slices"

	"gotap/engine/image/debuginfo"
	"gotap/engine/image/module"
	"gotap/engine/place"
	"gotap/engine/registry"
)

// copiesKey is what inlined copies are remembered for: those of a function, or, without an address, of a name that has
// none.
type copiesKey struct {
	file  *module.File
	name  string
	vaddr uint64
}

// covers reports whether a specification of a probe stands for inlined copies, too.
func covers(pr *registry.Probe, spec place.Spec) bool {
	return pr.Spec.Copies && names(spec)
}

// names reports whether a specification is the name of a function, and no more.
func names(spec place.Spec) bool {
	return spec.Kind == place.Function && spec.Of == place.Named && !spec.HasOff && !spec.Every && spec.File == "" && !spec.Relative && !spec.Pattern()
}

// withCopies adds to the targets of a specification the inlined copies of its functions. A name that no function has
// may be one whose calls were all inlined.
func (l *Locator) withCopies(pr *registry.Probe, spec place.Spec, targets []place.Target, files []*module.File, err error) ([]place.Target, error) {
	var missing *place.NotFoundError
	switch {
	case !covers(pr, spec):
		return targets, err
	case errors.As(err, &missing):
		return l.onlyCopies(pr, spec, files, err)
	case err != nil || returns(pr):
		return targets, err
	}
	all := slices.Clone(targets)
	for _, t := range targets {
		if t.Entry() {
			all = addCopies(all, l.copies(copiesKey{t.File, t.Symbol, t.Func.Addr}))
		}
	}
	return all, nil
}

// onlyCopies returns the copies of a name that no function has.
func (l *Locator) onlyCopies(pr *registry.Probe, spec place.Spec, files []*module.File, err error) ([]place.Target, error) {
	for _, f := range place.Candidates(spec, files) {
		found := l.copies(copiesKey{file: f, name: spec.Name})
		switch {
		case len(found) == 0:
		case returns(pr):
			return nil, &place.RefusedError{Place: spec.String(), Reason: "all its calls are inlined, and an inlined copy does not return",
				Help: "enter(c) runs at the beginning of each copy"}
		default:
			return addCopies(nil, found), nil
		}
	}
	return nil, err
}

// returns reports whether a probe is about returns, or about who calls a function, which inlined copies do not tell.
func returns(pr *registry.Probe) bool { return pr.Spec.HasLeave || len(pr.Spec.From) > 0 }

// addCopies adds targets at addresses that no target has.
func addCopies(targets, copies []place.Target) []place.Target {
	for _, c := range copies {
		if !slices.ContainsFunc(targets, func(t place.Target) bool { return t.File == c.File && t.Vaddr == c.Vaddr }) {
			targets = append(targets, c)
		}
	}
	return targets
}

// copies reads inlined copies from debug information, once.
func (l *Locator) copies(key copiesKey) []place.Target {
	l.mu.Lock()
	found, known := l.inlined[key]
	l.mu.Unlock()
	in, ok := l.files.Info(key.file)
	if known || !ok {
		return found
	}
	var calls []debuginfo.Copy
	if key.vaddr != 0 {
		calls, _ = in.Copies(key.vaddr) // what cannot be read is not covered
	} else {
		calls, _ = in.CopiesOf(key.name)
	}
	for _, c := range calls {
		if !c.Exact {
			continue
		}
		found = append(found, place.Copied(key.file, c.PC, key.name, place.Copy{Off: uint64(c.Off), Caller: c.Caller, File: c.File, Line: c.Line}))
	}
	l.mu.Lock()
	l.inlined[key] = found
	l.mu.Unlock()
	return found
}
