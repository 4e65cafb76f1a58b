package space

import (
	"errors"
	"fmt"

	"gotap/arch"
	"gotap/engine/backend"
	"gotap/engine/crashsafe"
	"gotap/engine/executor"
)

// breakpoints is the executor that plants a breakpoint at a place: the thread stops there, the programs are interpreted
// in the stop, and the displaced instruction is completed as the point's strategy says.
type breakpoints struct{ c *Patcher }

var _ executor.Executor = breakpoints{}

// Name implements executor.Executor.
func (breakpoints) Name() string { return "breakpoint" }

var errNoStrategy = errors.New("its instruction cannot be completed while it is displaced")

// Fits implements executor.Executor: the interpreter runs all programs.
func (b breakpoints) Fits(p executor.Place) error {
	switch p := p.(*Point); {
	case p.How == arch.Refused:
		return errNoStrategy
	case b.c.set.Strategy == backend.Inline && p.isOnlyProbed() && p.By == nil:
		return errInsists
	}
	return nil
}

// errInsists is why a place that no jump fits is refused, although a breakpoint would. A place that has been taken once
// is taken again when its probe is enabled, even if another probe has come between that leaves no room for a jump.
var errInsists = errors.New("--engine inline stops no threads")

// insistError is a place that is refused because its programs would have to stop threads.
type insistError struct {
	addr uint64
	why  error
}

func (e *insistError) Error() string {
	return fmt.Sprintf("--engine inline cannot take %#x: %s", e.addr, reasonOf(e.why))
}

// reasonOf returns why a jump does not fit, without the place.
func reasonOf(err error) string {
	var window *arch.WindowError
	if errors.As(err, &window) {
		return window.Reason
	}
	return err.Error()
}

func (e *insistError) Unwrap() error { return e.why }

// chooseFor returns the executor for a point.
func (c *Patcher) chooseFor(p *Point) (executor.Executor, error) {
	by, err := c.Executors.For(p)
	switch {
	case c.set.Strategy != backend.Inline || !p.isOnlyProbed():
	case err != nil:
		err = &insistError{p.Addr, c.set.Jumps.Fits(p)}
	case by == executor.Executor(breakpoints{c}):
		p.RefuseJump(c.set.Jumps.Fits(p))
	}
	return by, err
}

// RefuseJump notes with the probes of a point why their programs stop threads, although that is not wanted.
func (p *Point) RefuseJump(why error) {
	for _, pl := range p.Enters {
		pl.Probe.Refuse(fmt.Sprintf("%#x: threads stop there: %s", p.Addr, reasonOf(why)))
	}
}

// isOnlyProbed reports whether nothing but programs at its instruction needs the point's breakpoint.
func (p *Point) isOnlyProbed() bool {
	return p.Internal == nil && len(p.Resolvers) == 0 && p.Guard.Call == 0 && p.Returns == 0 && len(p.Exits) == 0
}

// Install implements executor.Executor. The threads that must not run meanwhile have been stopped: see together.go.
func (b breakpoints) Install(places ...executor.Place) []executor.Failure {
	return b.rewrite(places, true)
}

// Replace implements executor.Executor. The programs are looked up at each hit. Those that are left may fit a better
// executor now: a probe with a limit has reached it, say.
func (b breakpoints) Replace(at executor.Place) error {
	if b.c.set.Strategy != backend.Mixed {
		return nil
	}
	p := at.(*Point)
	by, err := b.c.Executors.For(p)
	if err != nil || by == executor.Executor(b) {
		return nil
	}
	p.By = by
	return by.Replace(p)
}

// Remove implements executor.Executor. The breakpoints that stop threads from blocking SIGTRAP (package crashsafe) come
// last.
func (b breakpoints) Remove(places ...executor.Place) (failed []executor.Failure) {
	if len(places) == 1 {
		return b.rewrite(places, false)
	}
	byKind := map[crashsafe.CallKind][]executor.Place{}
	for _, p := range places {
		kind := p.(*Point).Guard.Call
		byKind[kind] = append(byKind[kind], p)
	}
	for _, kind := range crashsafe.RemovalOrder {
		failed = append(failed, b.rewrite(byKind[kind], false)...)
	}
	return failed
}

// rewrite plants or removes breakpoints of one address space: one breakpoint by itself, several a page at a time.
func (b breakpoints) rewrite(places []executor.Place, plant bool) (failed []executor.Failure) {
	switch {
	case len(places) == 0:
	case len(places) > 1:
		reasons := map[*Point]error{}
		b.c.rewrite(PointsOf(places), plant, reasons)
		for p, err := range reasons {
			failed = append(failed, executor.Failure{Place: p, Err: err})
		}
	default:
		p := places[0].(*Point)
		if err := b.c.rewriteOne(p, plant); err != nil {
			return []executor.Failure{{Place: p, Err: err}}
		}
	}
	return failed
}

// Verify implements executor.Executor.
func (b breakpoints) Verify(places []executor.Place) error {
	var all error
	for _, p := range StillPatched(PointsOf(places)) {
		if err := b.c.Restore(p, 0); err != nil {
			all = errors.Join(all, err)
		}
	}
	return all
}

// How implements executor.Executor.
func (breakpoints) How(p executor.Place) string { return strategyNames[p.(*Point).How] }

var strategyNames = [...]string{
	arch.Refused: "refused", arch.Emulated: "emulated", arch.OutOfLine: "out of line", arch.InPlace: "in place",
}

// PointsOf returns places as the points that they are.
func PointsOf(places []executor.Place) []*Point {
	points := make([]*Point, 0, len(places))
	for _, p := range places {
		points = append(points, p.(*Point))
	}
	return points
}
