package executor

import (
	"errors"
	"fmt"
	"strings"

	"gotap/arch"
	"gotap/engine/registry/retprobe"
)

// Place is an address of one address space where programs are to run.
type Place interface {
	// Address returns its address.
	Address() uint64
	// Insn returns the instruction there.
	Insn() arch.Site
	// Owners returns what the place is for; its Enters are the programs.
	Owners() *retprobe.Point
}

// Executor is one way of running the programs of places.
type Executor interface {
	// Name names it in messages.
	Name() string
	// Fits returns nil if it can run the programs of a place, and otherwise why it cannot.
	Fits(p Place) error
	// Install makes the programs of places run, which are of one address space and have not been installed. It returns
	// those that it could not install, with the reasons; for them nothing has changed.
	Install(places ...Place) []Failure
	// Replace is called when the owners of an installed place may have changed. If it fails, the place is as it was
	// before.
	Replace(p Place) error
	// Remove undoes Install for places of one address space. A place whose code somebody else has changed since is left
	// alone; that is not an error.
	Remove(places ...Place) []Failure
	// Verify checks that nothing is left of what was installed at places and removed. It removes what is left, and
	// returns an error for what it cannot remove.
	Verify(places []Place) error
	// How says how it runs the programs of a place, as `gotap list -v` shows it: "emulated".
	How(p Place) string
}

// Failure is a place for which an executor could not do what was asked, with the reason.
type Failure struct {
	Place Place
	Err   error
}

// Err returns the reasons of failures, joined; nil if there are none.
func Err(failed []Failure) error {
	if len(failed) == 1 {
		return failed[0].Err
	}
	var all error
	for _, f := range failed {
		all = errors.Join(all, f.Err)
	}
	return all
}

// List is the executors of a back end, the preferred first.
type List []Executor

// UnfitError reports a place that no executor fits.
type UnfitError struct {
	Addr    uint64
	Reasons []error // one for each executor
}

func (e *UnfitError) Error() string {
	var texts []string
	for _, r := range e.Reasons {
		texts = append(texts, r.Error())
	}
	return fmt.Sprintf("nothing can run a program at %#x: %s", e.Addr, strings.Join(texts, "; "))
}

// Unwrap returns the reasons.
func (e *UnfitError) Unwrap() []error { return e.Reasons }

var errNoExecutor = errors.New("no executor is available")

// For returns the first executor that fits a place. The error, which is an UnfitError, says why none does.
func (l List) For(p Place) (Executor, error) {
	unfit := &UnfitError{Addr: p.Address()}
	for _, e := range l {
		err := e.Fits(p)
		if err == nil {
			return e, nil
		}
		unfit.Reasons = append(unfit.Reasons, fmt.Errorf("%s: %w", e.Name(), err))
	}
	if len(l) == 0 {
		unfit.Reasons = []error{errNoExecutor}
	}
	return nil, unfit
}

// Install installs one place with the first executor of the list that fits and succeeds.
func (l List) Install(p Place) (Executor, error) {
	e, err := l.For(p)
	if err != nil {
		return nil, err
	}
	if err := Err(e.Install(p)); err != nil {
		return nil, err
	}
	return e, nil
}

// How says how the programs of a place run that an executor has installed; nil: how they would run.
func (l List) How(p Place, by Executor) string {
	if by == nil {
		var err error
		if by, err = l.For(p); err != nil {
			return "refused"
		}
	}
	return by.How(p)
}
