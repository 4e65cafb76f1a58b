package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed reference/reference.c
var referenceSource string

func newBench(w *World) *cobra.Command {
	var o benchOptions
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure the cost of a hit on this machine, beside hand-written loops and installed rivals",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if o.hits < 1 || o.rounds < 1 {
				return withStatus(statusUsage, fmt.Errorf("--hits and --rounds take numbers from 1"))
			}
			return runBench(w, o)
		},
	}
	c.Flags().IntVar(&o.hits, "hits", 10_000, "hits a round")
	c.Flags().IntVar(&o.rounds, "rounds", 3, "rounds; the median counts")
	c.Flags().BoolVar(&o.all, "all", false, "every kind of probe with a stepped instruction too, and more threads")
	return c
}

// benchOptions are the flags.
type benchOptions struct {
	hits, rounds int
	all          bool
}

// A contest is two ways to do the same thing, run in turn so that both see the same machine.
type contest struct {
	name      string
	reference []string // command line; its standard output is "N ns"
	own       []string
}

func runBench(w *World, o benchOptions) error {
	benchMachine(w)
	dir, err := os.MkdirTemp("", "gotap-bench-")
	if err != nil {
		return withStatus(statusFailure, fmt.Errorf("cannot make a directory: %w", err))
	}
	defer os.RemoveAll(dir)
	program, err := buildReference(dir)
	if err != nil {
		return withStatus(statusFailure, err)
	}
	exe, err := os.Executable()
	if err != nil {
		return withStatus(statusFailure, err)
	}
	b := bench{w, o, exe, program}
	for _, part := range []func() error{b.events, b.coldStart, b.reload, b.flood, b.kinds, b.rivals, b.threads, b.disabled, b.arming, b.holding} {
		if err := part(); err != nil {
			return withStatus(statusFailure, err)
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
		return "", &hintError{fmt.Errorf("cannot build the reference loops: %v\n%s", err, out), "install gcc"}
	}
	return program, nil
}

// run prints a line: both medians, and the median of the ratios.
func (c contest) run(w *World, rounds int) error {
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
	fmt.Fprintf(w.Stdout, "%-42s %9.0f ns %9.0f ns %8.2f\n", c.name, median(reference), median(own), median(ratios))
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

// rivals measures what is installed for the same job.
func (b bench) rivals() error {
	path, err := exec.LookPath("bpftrace")
	if err != nil || os.Geteuid() != 0 {
		fmt.Fprintln(b.w.Stdout, "bpftrace: not here, or not allowed")
		return nil
	}
	target := b.target()
	ns, err := b.median(append([]string{path, "-e", fmt.Sprintf("uprobe:%s:work { @ = count(); }", b.program), "-c"}, strings.Join(target, " ")))
	if err != nil {
		fmt.Fprintf(b.w.Stdout, "bpftrace: %v\n", err)
		return nil
	}
	fmt.Fprintf(b.w.Stdout, "%-42s %9.0f ns (in the kernel, as root)\n", "bpftrace uprobe, count()", ns)
	return nil
}
