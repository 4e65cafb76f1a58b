package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"gotap/engine"
	"gotap/engine/place"
	"gotap/runtime/arena"
)

// A bench measures one machine. Its parts print a few lines each.
type bench struct {
	out     io.Writer
	errs    io.Writer
	o       Options
	exe     string // gotap itself
	program string // of reference/reference.c
}

// kindOfProbe is a kind of probe, with the loop that does as much.
type kindOfProbe struct {
	name, script string
	emulate      string // the loop with the first instruction emulated
	step         string // with it stepped; "": there is none
}

// kindsOfProbe are the letters of the table of Kprobes' overhead. A hit of r, kr and jr is a call: two breakpoints.
var kindsOfProbe = []kindOfProbe{
	{"k: on an instruction, counts", `probe("work", c => n.inc());`, "emulate", "step"},
	{"j: parameters like the function's", `probe("work", (a, b) => sum_.add(a));`, "emulate", "step"},
	{"r: on the return", `probe("work", { leave(c) { n.inc(); } });`, "both", ""},
	{"kr: k and r on one function", `probe("work", c => n.inc()); probe("work", { leave(c) { n.inc(); } });`, "both", ""},
	{"jr: j and r on one function", `probe("work", (a, b) => sum_.add(a)); probe("work", { leave(c) { n.inc(); } });`, "both", ""},
}

// target returns the program that calls work.
func (b bench) target() []string { return []string{b.program, "target", strconv.Itoa(b.o.Hits)} }

// own is gotap with a script.
func (b bench) own(engine, script string, target ...string) []string {
	script = `const n = count("n"), sum_ = sum("sum"); ` + script + ` end(() => { n.clear(); sum_.clear(); });`
	return append([]string{b.exe, "run", "-q", "--engine", engine, "-e", script, "--"}, target...)
}

// kinds prints the table of kinds of probes.
func (b bench) kinds() error {
	fmt.Fprintf(b.out, "\n%-42s %12s %12s %8s\n", "a hit", "C loop", "gotap", "ratio")
	n := strconv.Itoa(b.o.Hits)
	for i, k := range kindsOfProbe {
		c := contest{k.name + ", emulated", []string{b.program, k.emulate, n}, b.own("emulate", k.script, b.target()...)}
		if err := c.run(b.out, b.o.Rounds); err != nil {
			return err
		}
		if k.step == "" || i > 0 && !b.o.All {
			continue
		}
		c = contest{k.name + ", stepped", []string{b.program, k.step, n}, b.own("step", k.script, b.target()...)}
		if err := c.run(b.out, b.o.Rounds); err != nil {
			return err
		}
	}
	return nil
}

// affinity compares hits on one CPU, where gotap and its target share one, with those where the kernel chooses. A CPU
// is shared after half a second, so the target runs for longer than in the other parts.
func (b bench) affinity() error {
	target := []string{b.program, "target", strconv.Itoa(4 * b.o.Hits)}
	script := kindsOfProbe[0].script
	auto := b.own("auto", script, target...)
	fmt.Fprintf(b.out, "\n%-42s %12s %12s %8s\n", "a hit", "off", "auto", "ratio")
	return contest{"k, --affinity", slices.Insert(slices.Clone(auto), 2, "--affinity", "off"), auto}.run(b.out, b.o.Rounds)
}

// median is that of as many measurements as there are rounds.
func (b bench) median(argv []string) (float64, error) {
	var all []float64
	for range b.o.Rounds {
		ns, err := measure(argv)
		if err != nil {
			return 0, err
		}
		all = append(all, ns)
	}
	return median(all), nil
}

// threads prints how many hits there are in a second when several threads call at once. One thread of gotap serves them
// all.
func (b bench) threads() error {
	counts := []int{1, 2, 8}
	if b.o.All {
		counts = append(counts, 16, 64)
	}
	fmt.Fprintln(b.out)
	for _, t := range counts {
		for _, engine := range []string{"emulate", "step"} {
			if engine == "step" && t > 1 && !b.o.All {
				continue
			}
			target := []string{b.program, "threads", strconv.Itoa(t), strconv.Itoa(b.o.Hits)}
			ns, err := b.median(b.own(engine, kindsOfProbe[0].script, target...))
			if err != nil {
				return err
			}
			fmt.Fprintf(b.out, "%-42s %9.0f hits a second\n", fmt.Sprintf("%s, --engine %s", threads(t), engine), 1e9/ns)
		}
	}
	return nil
}

// disabled compares a function with a disabled probe to one without any.
func (b bench) disabled() error {
	calls := min(b.o.Hits, 10_000) * 20_000
	target := []string{b.program, "target", strconv.Itoa(calls)}
	plain, err := b.median(target)
	if err != nil {
		return err
	}
	with, err := b.median(b.own("auto", `probe("work", { enter(c) { n.inc(); }, disabled: true });`, target...))
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n%-42s %9.2f ns, %.2f ns without gotap\n", "a call with a disabled probe", with, plain)
	return nil
}

// session launches the reference program in a session of this very process.
func (b bench) session(fn func(s *engine.Session, pid int) error, args ...string) error {
	arena, err := arena.New(arena.Options{})
	if err != nil {
		return err
	}
	defer arena.Close()
	s, err := engine.New(engine.Config{Follow: engine.FollowThreads, MaxProbes: 2 * armedPlaces, Arena: arena})
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	pid, err := s.Launch(engine.Command{Path: b.program, Args: append([]string{b.program}, args...), Stdin: null, Stdout: null})
	if err != nil {
		s.Close(true)
		return err
	}
	err = fn(s, pid)
	s.Close(true)
	syscall.Kill(pid, syscall.SIGKILL)
	syscall.Wait4(pid, nil, 0, nil) // it may have been reaped already
	return err
}

// armedPlaces is the number of instructions of the reference's function many.
const armedPlaces = 10_000

// arming measures how long it takes to register and arm probes, and to disarm and arm them again.
func (b bench) arming() error {
	return b.session(func(s *engine.Session, _ int) error {
		spec, err := place.Parse("many+*")
		if err != nil {
			return err
		}
		code := emptyCode()
		began := time.Now()
		err = s.Add(engine.ProbeSpec{ID: 1, Name: "many", Specs: []place.Spec{spec}, HasEnter: true,
			Compile: func(engine.PlaceInfo) (engine.Handlers, error) { return engine.Handlers{Enter: code}, nil }})
		if err != nil {
			return err
		}
		armed, points := time.Since(began), s.Stats().Points
		began = time.Now()
		if err := s.Disable(1); err != nil {
			return err
		}
		disarmed := time.Since(began)
		began = time.Now()
		if err := s.Enable(1); err != nil {
			return err
		}
		fmt.Fprintf(b.out, "\n%-42s %9.3f s; to disable %.3f s, to enable %.3f s\n", fmt.Sprintf("to register and arm %d probes", points),
			armed.Seconds(), disarmed.Seconds(), time.Since(began).Seconds())
		return nil
	}, "target", "1")
}

// holding measures how long it takes to stop all threads of a process.
func (b bench) holding() error {
	for _, t := range []int{1, 100, 1000} {
		err := b.session(func(s *engine.Session, _ int) error {
			if err := s.Start(); err != nil {
				return err
			}
			if err := awaitThreads(s, t); err != nil {
				return err
			}
			var all []float64
			for range 5 {
				took, err := s.Hold()
				if err != nil {
					return err
				}
				all = append(all, float64(took.Nanoseconds()))
			}
			fmt.Fprintf(b.out, "%-42s %9.3f ms\n", "to stop "+threads(t)+" and detach", median(all)/1e6)
			return nil
		}, "sleepers", strconv.Itoa(t))
		if err != nil {
			return err
		}
	}
	return nil
}

// awaitThreads waits until so many threads are traced.
func awaitThreads(s *engine.Session, n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // each new thread is stopped and started; the machine may be busy
	defer cancel()
	for s.Stats().Attached < n {
		if ctx.Err() != nil {
			return fmt.Errorf("cannot measure with %d threads: only %d began", n, s.Stats().Attached)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

// threads returns a number of threads in words.
func threads(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", n)
}
