package remote

import (
	"errors"

	"gotap/arch"
	"gotap/engine/executor"
)

// The breakpoints are an executor: the whole target stops at one, the programs are interpreted in the stop, and the
// displaced instruction is completed as the point's strategy says (execute.go).
var _ executor.Executor = (*breakpoints)(nil)

// Name implements executor.Executor.
func (*breakpoints) Name() string { return "breakpoint" }

// Fits implements executor.Executor: the interpreter runs all programs.
func (*breakpoints) Fits(executor.Place) error { return nil }

// Install implements executor.Executor.
func (b *breakpoints) Install(places ...executor.Place) []executor.Failure {
	return each(places, b.plant)
}

// Replace implements executor.Executor. The programs are looked up at each hit.
func (*breakpoints) Replace(executor.Place) error { return nil }

// Remove implements executor.Executor.
func (b *breakpoints) Remove(places ...executor.Place) []executor.Failure {
	return each(places, b.unplant)
}

// each calls fn for places, and returns its errors.
func each(places []executor.Place, fn func(*point) error) (failed []executor.Failure) {
	for _, p := range places {
		if err := fn(p.(*point)); err != nil {
			failed = append(failed, executor.Failure{Place: p, Err: err})
		}
	}
	return failed
}

// Verify implements executor.Executor. A stub answers for its own breakpoints; what cannot be removed is tried again.
func (b *breakpoints) Verify(places []executor.Place) (all error) {
	for _, p := range places {
		all = errors.Join(all, b.unplant(p.(*point)))
	}
	return all
}

// How implements executor.Executor.
func (*breakpoints) How(p executor.Place) string {
	if p.(*point).How == arch.Emulated {
		return "emulated"
	}
	return "stepped by the stub"
}
