package script

import (
	"errors"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/runtime/arena"
	"gotap/runtime/snapshot"
	"gotap/script/aggregate"
	"gotap/script/console"
	"gotap/script/environ"
	"gotap/script/event"
	"gotap/script/expect"
	"gotap/script/fold"
	"gotap/script/host"
	"gotap/script/journal"
	"gotap/script/jsvm"
	"gotap/script/limits"
	"gotap/script/listen"
	"gotap/script/load"
	"gotap/script/module"
	"gotap/script/option"
	"gotap/script/output"
	"gotap/script/probe"
	"gotap/script/recorder"
	"gotap/script/shared"
	"gotap/script/source"
	"gotap/script/timer"
	"gotap/script/value"
	"gotap/script/variable"
)

// Script is a loaded script with its JavaScript machine. Unless a method says otherwise it belongs to the goroutine
// that called Load, until Start hands it to the host's own.
type Script struct {
	opts   Options
	out    output.Sink
	arena  *arena.Arena
	owned  bool // the arena is closed with the script
	world  *journal.World
	tracer Tracer

	machine   *jsvm.Machine
	objects   *shared.Table
	values    *value.Values
	variables *variable.Variables
	probes    *probe.Set
	lib       library

	begins []goja.Callable
	ends   []goja.Callable

	host    *host.Host
	guests  []*Script    // further scripts whose machines run on this one's host
	joined  atomic.Int32 // how many they are, for other goroutines
	status  int          // of stop
	follow  string       // of follow(); "": not asked for
	closing sync.Once
	errors  errorWatch
}

// library implements the built-in functions.
type library struct {
	aggregates *aggregate.Aggregates
	console    *console.Console
	environ    *environ.Environ
	events     *event.Events
	expect     *expect.Expectations
	fold       *fold.Folder
	listeners  *listen.Listeners
	modules    *module.Modules
	options    *option.Options
	recorders  *recorder.Recorders
	timers     *timer.Timers
}

// Load parses a script, runs its top level, and compiles every probe without a place. All errors of a stage are
// reported together; with errors there is no Script. Warnings can come with one.
func Load(o Options) (*Script, diag.List) {
	s, err := newScript(o.withDefaults())
	if err != nil {
		return nil, diag.List{{Text: err.Error()}}
	}
	s.load()
	if diags := s.machine.Diags; diags.HasErrors() {
		s.Close()
		return nil, diags
	}
	return s, s.machine.Diags
}

// checkArena is the size of the arena of a script that was given none.
const checkArena = 64 << 20

func newScript(o Options) (*Script, error) {
	s := &Script{opts: o, out: o.Output, arena: o.Arena}
	if s.arena == nil {
		arena, err := arena.New(arena.Options{Size: checkArena})
		if err != nil {
			return nil, err
		}
		s.arena, s.owned = arena, true
	}
	s.build()
	return s, nil
}

// build makes the machine and all parts of the script, before any text of the user runs.
func (s *Script) build() {
	o, old := s.opts, s.opts.Previous
	s.machine = jsvm.New(jsvm.Options{Files: source.NewFiles(o.Own, o.Keep), Out: o.Output, Deadline: o.Deadline, HeapLimit: o.HeapLimit,
		Stuck: o.Stuck, Exhausted: s.exhausted})
	m := s.machine
	s.world = &journal.World{Journal: o.Journal, Replay: o.Replay, Fail: m.Must}
	s.values = value.New(m, s.world)
	if old == nil {
		old = &Script{}
	}
	s.objects = shared.NewTable(s.arena, s.world, old.objects)
	s.variables = variable.New(m, s.objects, old.variables)
	lib := &s.lib
	lib.environ = environ.New(m, s.world, o.Columns)
	lib.aggregates = aggregate.New(aggregate.Options{Machine: m, World: s.world, Table: s.objects, Values: s.values, Out: s.out,
		Clock: lib.environ.Monotonic})
	lib.recorders = recorder.New(m, lib.aggregates, s.world, s.out, dumped{s})
	lib.fold = fold.New(m, lib.aggregates, s.variables, hostOnly)
	s.probes = probe.New(probe.Config{Machine: m, World: s.world, Arena: s.arena, Fold: lib.fold, Unsafe: o.Unsafe, First: o.FirstProbe,
		Previous: old.probes})
	s.objects.Used = func(id int) bool { return !m.Loading && s.probes.Uses(id) }
	lib.events = event.New(m, s.values)
	lib.listeners = listen.New(m, s.values, o.Name, o.Facilities)
	lib.timers = timer.New(m, s.journalTimer)
	lib.options = option.New(m, o.Args, o.Replay, o.Check)
	lib.expect = expect.New(m, s.out, o.Replay)
	lib.modules = module.New(m, &load.Loader{Std: o.Std}, s.admit)
	lib.console = console.New(m, s.out)
	s.host = host.New(s.arena, hosted{s})
	s.errors = newErrorWatch(s.arena)
	m.Faults.Failed = s.tellException
	s.install()
	limits.Install(m)
}

// admit adds a parsed file to the script.
func (s *Script) admit(parsed *load.File) (*source.File, diag.List) {
	f, list := s.machine.Files.Admit(parsed, s.variables.Len())
	for _, v := range f.Info.Slots {
		s.variables.Add(f, v)
	}
	return f, list
}

// load does what Load promises; errors are in the machine's Diags.
func (s *Script) load() {
	m := s.machine
	f, list := s.lib.modules.Loader.Parse(s.opts.Name, s.opts.Dir, s.opts.Text)
	if m.Diags = append(m.Diags, list...); m.Diags.HasErrors() {
		return
	}
	if load.IsEmpty(s.opts.Text) {
		m.Diags.Warnf(diag.Span{}, "", "the script is empty: nothing is traced")
	}
	src, list := s.admit(f)
	m.Diags = append(m.Diags, list...)
	prg, list := src.Compile()
	if m.Diags = append(m.Diags, list...); m.Diags.HasErrors() {
		return
	}
	if !m.RunTop(prg) {
		return
	}
	s.lib.options.CheckArgs()
	if !s.lib.aggregates.Broken {
		s.compileProbes()
	}
}

// compileProbes folds and compiles all probes, so that all errors are reported at once, in the order of the text.
// Errors may come from objects taken over from the previous version, whose keys have another shape now: such objects
// are made again.
func (s *Script) compileProbes() {
	list := s.probes.Compile()
	if list.HasErrors() && s.objects.AnyAdopted() {
		if changed, err := s.lib.aggregates.Renew(); changed && err == nil {
			list = s.probes.Recompile()
		}
	}
	diags := append(s.machine.Diags, unique(list)...)
	sort.SliceStable(diags, func(i, j int) bool {
		a, b := diags[i].Span, diags[j].Span
		return a.Source == b.Source && a.Start < b.Start
	})
	s.machine.Diags = diags
}

// unique drops repetitions: a function that several probes use is compiled for each.
func unique(list diag.List) diag.List {
	seen := map[diag.Diagnostic]bool{}
	var out diag.List
	for _, d := range list {
		if key := d.Key(); !seen[key] {
			seen[key] = true
			out = append(out, d)
		}
	}
	return out
}

// Check compiles and verifies every program of the script; it needs no target.
func (s *Script) Check() ([]Checked, diag.List) {
	all, list := s.probes.Check()
	return all, unique(list)
}

// Probes lists the probes in the order of declaration.
func (s *Script) Probes() []*Probe { return s.probes.List() }

// Plan compares the probes with those of the running version of a watched script; see probe.Set.Plan.
func (s *Script) Plan(old *Script) (keep, add, remove []*Probe) { return s.probes.Plan(old.probes) }

// Options lists the script's own options, for --help.
func (s *Script) Options() []Option { return s.lib.options.List }

// Inputs returns the files of the script, for a watcher: absolute paths, and the name given for the script itself.
func (s *Script) Inputs() []string { return s.machine.Files.Inputs }

// Arena is where the script's objects are.
func (s *Script) Arena() *arena.Arena { return s.arena }

// SetTracer sets what places the script's probes. It is called once, before Start.
func (s *Script) SetTracer(t Tracer) {
	s.tracer, s.probes.Tracer, s.values.Symbolizer, s.lib.environ.Memory = t, t, t, t
}

// Stopped reports whether the script has called stop. Safe for concurrent use.
func (s *Script) Stopped() bool { return s.machine.Stopped.Load() }

// Status returns the exit status that stop was given, 0 otherwise. The host must not be running.
func (s *Script) Status() int { return s.status }

// Verdict returns the result of the script's expectations, after End.
func (s *Script) Verdict() Verdict { return s.lib.expect.Verdict }

// Values returns the present values of the script's shared variables, aggregations and maps, in the order of
// declaration. Safe for concurrent use.
func (s *Script) Values() []snapshot.Snapshot { return s.objects.Values() }

// TakeValues is Values and Reset in one: what is added meanwhile is either in the result or stays. Safe for concurrent
// use.
func (s *Script) TakeValues() []snapshot.Snapshot { return s.objects.TakeValues() }

// Reset sets them all back to their first values. Safe for concurrent use.
func (s *Script) Reset() { s.objects.Reset() }

// SetValue gives a variable that programs share a value, as text has it. Errors are *shared.SetError. Safe for
// concurrent use.
func (s *Script) SetValue(name, text string) error {
	err := s.objects.Set(name, text)
	var e *shared.SetError
	if errors.As(err, &e) && e.Unknown {
		if own, ok := s.variables.SetError(name); ok {
			return own
		}
	}
	return err
}

// Close frees the machine; after End if Start was called. Closing again does nothing.
func (s *Script) Close() {
	s.closing.Do(func() {
		s.machine.Close()
		s.lib.listeners.Close()
		if s.owned {
			s.arena.Close()
		}
	})
}
