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

// benchCount is the script of the benchmark: the cheapest program there is.
const benchCount = `const n = count("n"); probe("work", c => n.inc()); end(() => n.clear());`

func newBench(w *World) *cobra.Command {
	var hits, rounds int
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure the cost of a hit on this machine, beside hand-written loops and installed rivals",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if hits < 1 || rounds < 1 {
				return withStatus(statusUsage, fmt.Errorf("--hits and --rounds take numbers from 1"))
			}
			return runBench(w, hits, rounds)
		},
	}
	c.Flags().IntVar(&hits, "hits", 100_000, "hits a round")
	c.Flags().IntVar(&rounds, "rounds", 5, "rounds; the median counts")
	return c
}

// A contest is two ways to do the same thing, run in turn so that both see the same machine.
type contest struct {
	name      string
	reference []string // command line; its standard output is "N ns"
	own       []string
}

func runBench(w *World, hits, rounds int) error {
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
	n := strconv.Itoa(hits)
	target := []string{program, "target", n}
	own := func(engine string) []string {
		return append([]string{exe, "run", "-q", "--engine", engine, "-e", benchCount, "--"}, target...)
	}
	fmt.Fprintf(w.Stdout, "\n%-34s %12s %12s %8s\n", "a hit that counts", "C loop", "gotap", "ratio")
	for _, c := range []contest{
		{"first instruction emulated", []string{program, "emulate", n}, own("emulate")},
		{"first instruction stepped", []string{program, "step", n}, own("step")},
	} {
		if err := c.run(w, rounds); err != nil {
			return withStatus(statusFailure, err)
		}
	}
	benchRivals(w, target, rounds)
	return nil
}

// buildReference compiles the loops; they exist in C only, so there is nothing to compare with where no compiler is.
func buildReference(dir string) (string, error) {
	source, program := filepath.Join(dir, "reference.c"), filepath.Join(dir, "reference")
	if err := os.WriteFile(source, []byte(referenceSource), 0o600); err != nil {
		return "", err
	}
	if out, err := exec.Command("gcc", "-O2", "-o", program, source).CombinedOutput(); err != nil {
		return "", &hintError{fmt.Errorf("cannot build the reference loops: %v\n%s", err, out), "install gcc"}
	}
	return program, nil
}

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
	fmt.Fprintf(w.Stdout, "%-34s %9.0f ns %9.0f ns %8.2f\n", c.name, median(reference), median(own), median(ratios))
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

// benchRivals measures what is installed for the same job.
func benchRivals(w *World, target []string, rounds int) {
	path, err := exec.LookPath("bpftrace")
	if err != nil || os.Geteuid() != 0 {
		fmt.Fprintln(w.Stdout, "bpftrace: not here, or not allowed")
		return
	}
	argv := []string{path, "-e", fmt.Sprintf("uprobe:%s:work { @ = count(); }", target[0]), "-c", strings.Join(target, " ")}
	var seen []float64
	for range rounds {
		ns, err := measure(argv)
		if err != nil {
			fmt.Fprintf(w.Stdout, "bpftrace: %v\n", err)
			return
		}
		seen = append(seen, ns)
	}
	fmt.Fprintf(w.Stdout, "%-34s %9.0f ns (in the kernel, as root)\n", "bpftrace uprobe, count()", median(seen))
}
