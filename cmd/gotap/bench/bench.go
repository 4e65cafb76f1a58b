// Package bench measures what gotap costs on this machine: what "gotap bench" does. A figure is worth little without
// something beside it, so what can be is measured beside hand-written loops in C that do the same job and no more
// (reference/reference.c), in turn, as a ratio.
//
// The interpreter and the compiler are measured in this process (machine.go), so are events (events.go); hits, reloads
// and a flood of events by starting gotap as users do (parts.go, inline.go, reload.go, flood.go), and other tracers on
// the same program (rivals.go).
package bench

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed reference/reference.c
var referenceSource string

// Options say how much is measured.
type Options struct {
	Hits   int           // that a round makes, from 1
	Rounds int           // the median of which counts, from 1
	Rivals bool          // only other tracers beside gotap
	All    bool          // every kind of probe with a stepped instruction too, and more threads
	Settle time.Duration // how long "run --watch" waits for an editor to be done; it is part of a reload
}

// A contest is two ways to do the same thing, run in turn so that both see the same machine.
type contest struct {
	name      string
	reference []string // command line; its standard output is "N ns"
	own       []string
}

// Run measures this machine with the running program as gotap, and prints tables to out; gotap's messages go to errs.
// It takes minutes, and needs gcc and the permission to trace.
func Run(out, errs io.Writer, o Options) error {
	if !o.Rivals {
		measureMachine(out, min(runTime, time.Duration(o.Hits)*40*time.Microsecond))
	}
	dir, err := os.MkdirTemp("", "gotap-bench-")
	if err != nil {
		return fmt.Errorf("cannot make a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	program, err := buildReference(dir)
	if err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	b := bench{out, errs, o, exe, program}
	if o.Rivals {
		return b.rivals()
	}
	for _, part := range []func() error{b.events, b.coldStart, b.reload, b.flood, b.kinds, b.inline, b.affinity, b.rivals, b.threads, b.disabled, b.arming, b.holding} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// buildReference compiles the loops; they exist in C only, so there is nothing to compare with where no compiler is.
func buildReference(dir string) (string, error) {
	source, program := filepath.Join(dir, "reference.c"), filepath.Join(dir, "reference")
	if err := os.WriteFile(source, []byte(referenceSource), 0o600); err != nil {
		return "", err
	}
	if out, err := exec.Command("gcc", "-O2", "-pthread", "-o", program, source).CombinedOutput(); err != nil {
		return "", &noCompiler{fmt.Errorf("cannot build the reference loops: %w\n%s", err, out)}
	}
	return program, nil
}

// noCompiler is an error of building the reference.
type noCompiler struct{ error }

// Hint says what to do about it.
func (e *noCompiler) Hint() string  { return "install gcc" }
func (e *noCompiler) Unwrap() error { return e.error }

// run prints a line: both medians, and the median of the ratios.
func (c contest) run(out io.Writer, rounds int) error {
	var reference, own, ratios []float64
	for range rounds {
		r, err := measure(c.reference)
		if err != nil {
			return err
		}
		o, err := measure(c.own)
		if err != nil {
			return err
		}
		reference, own, ratios = append(reference, r), append(own, o), append(ratios, o/r)
	}
	fmt.Fprintf(out, "%-42s %9.0f ns %9.0f ns %8.2f\n", c.name, median(reference), median(own), median(ratios))
	return nil
}

// measure runs a command whose output ends with "N ns".
func measure(argv []string) (float64, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("cannot measure %s: %w", strings.Join(argv, " "), err)
	}
	for _, line := range strings.Split(string(out), "\n") {
		if ns, found := strings.CutSuffix(line, " ns"); found {
			return strconv.ParseFloat(ns, 64)
		}
	}
	return 0, fmt.Errorf("cannot measure %s: it printed no time", strings.Join(argv, " "))
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}
