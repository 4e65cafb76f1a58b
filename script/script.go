package script

import (
	"errors"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/runtime"
	"gotap/runtime/hook"
	"gotap/script/load"
	"gotap/script/output"
)

// Script is a loaded script with its JavaScript machine. Unless a method says otherwise it belongs to the goroutine that
// called Load, until Start hands it to the host's own.
type Script struct {
	opts   Options
	out    output.Sink
	arena  *runtime.Arena
	owned  bool // the arena is closed with the script
	loader *load.Loader
	tracer Tracer

	vm        *goja.Runtime
	dog       *watchdog
	plus      goja.Callable // (a, b) => a + b
	sources   map[string]*source
	functions []*function
	vars      vars
	modules   map[string]*module
	running   []*module
	inputs    []string

	symFunction, symGetter, symBuiltin, symAggregate, symStack, symComplaint *goja.Symbol
	clockAhead                                                               int64 // of the wall over c.time, once a series has asked
	aggProto, mapProto, threadProto, stackProto, objectPrototype             *goja.Object
	trailProto, recorderProto                                                *goja.Object
	uint8Array                                                               goja.Value

	loading bool
	ended   bool // the top level has run to its end, as far as it could
	broken  bool // an aggregation could not be made: what programs do with it cannot be checked
	diags   diag.List

	probes     []*Probe
	used       map[int]bool // objects that programs of the first usedOf probes use; made when a journal needs it
	usedOf     int
	spoiled    []*Probe // their declaration is wrong, and their programs are compiled for their errors alone
	byID       map[uint32]*Probe
	heirs      map[uint32]*Probe // of probes of earlier versions, by their numbers: who takes their events
	lastProbe  uint32
	aggregates []*aggregate
	recorders  []*aggregate // those that are dumped by themselves; guarded by sharedMu
	sharedMu   sync.Mutex   // guards shared and recorders, which are read on any goroutine
	shared     []sharedObject
	taken      map[int]bool // objects of the previous version that this one goes on with
	options    []Option
	begins     []goja.Callable
	ends       []goja.Callable
	listeners  map[string]*hook.Hook[Event]
	facilities []*facilityExit
	timers     []*timer // that have not ended
	timersMade int
	layouts    map[*runtime.Format]*layout
	rejected   []*goja.Promise

	host        host
	backlog     []runtime.Record // what waits from before this version took over
	closing     sync.Once
	eventPid    int
	faults      faults
	expect      expectations
	dumping     int         // dumps being delivered, one within the other
	stopped     atomic.Bool // stop() was called: nothing is delivered any more
	disabled    bool        // the script took too much memory: no callback runs any more
	nativeDepth int         // calls of guarded built-ins within each other
	status      int
}

// Load parses a script, runs its top level, and compiles every probe without a place. The errors of a stage are told
// together; with errors there is no Script. Warnings can come with one.
func Load(o Options) (*Script, diag.List) {
	s, err := newScript(o.withDefaults())
	if err != nil {
		return nil, diag.List{{Text: err.Error()}}
	}
	s.loadAll()
	if s.diags.HasErrors() {
		s.Close()
		return nil, s.diags
	}
	return s, s.diags
}

func newScript(o Options) (*Script, error) {
	s := &Script{opts: o, out: o.Output, arena: o.Arena, loader: &load.Loader{Std: o.Std},
		vm: goja.New(), sources: map[string]*source{}, modules: map[string]*module{}, byID: map[uint32]*Probe{},
		taken: map[int]bool{}, listeners: newListeners(), layouts: map[*runtime.Format]*layout{}}
	s.vars.s = s
	s.loader.Loaded = func(path string) bool { m := s.modules[path]; return m != nil && !m.running }
	if s.arena == nil {
		arena, err := runtime.NewArena(runtime.ArenaOptions{Size: checkArena})
		if err != nil {
			return nil, err
		}
		s.arena, s.owned = arena, true
	}
	if o.FirstProbe > 0 {
		s.lastProbe = o.FirstProbe - 1
	}
	if o.Previous != nil {
		s.lastProbe = o.Previous.lastProbe + probeGap
	}
	s.host.init()
	s.startMachine()
	return s, nil
}

// probeGap leaves numbers for probes that the callbacks of a running version make while the next one is loaded.
const probeGap = 1 << 12

// startMachine prepares the JavaScript machine before any text of the user runs.
func (s *Script) startMachine() {
	s.vm.SetMaxCallStackSize(callStackLimit)
	s.vm.SetPromiseRejectionTracker(s.trackRejection)
	s.vm.SetTimeSource(s.clock)
	s.vm.SetRandSource(s.chance)
	s.dog = newWatchdog(s.opts.Deadline, s.opts.HeapLimit)
	s.dog.interrupt = func(reason error) { s.vm.Interrupt(reason) }
	s.dog.clear = s.vm.ClearInterrupt
	s.dog.stuck = s.opts.Stuck
	go s.dog.run()
	for name, sym := range map[string]**goja.Symbol{"function": &s.symFunction, "getter": &s.symGetter, "builtin": &s.symBuiltin,
		"aggregate": &s.symAggregate, "stack": &s.symStack, "complaint": &s.symComplaint} {
		*sym = goja.NewSymbol(name)
	}
	s.objectPrototype = s.vm.Get("Object").ToObject(s.vm).Get("prototype").ToObject(s.vm)
	s.uint8Array = s.vm.Get("Uint8Array")
	// These cannot fail: they are a part of this program. BigInt has no form in JSON of its own; ours is that of all output.
	plus, _ := s.vm.RunString("BigInt.prototype.toJSON = function() { return String(this); }; (a, b) => a + b")
	s.plus, _ = goja.AssertFunction(plus)
	s.installAggregates()
	s.installStack()
	s.install()
	s.guardNatives()
}

// loadAll does what Load promises; errors are in s.diags.
func (s *Script) loadAll() {
	f, list := s.loader.Parse(s.opts.Name, s.opts.Dir, s.opts.Text)
	s.diags = append(s.diags, list...)
	if s.failed() {
		return
	}
	src, list := s.admit(f)
	s.diags = append(s.diags, list...)
	prg, list := src.compile()
	s.diags = append(s.diags, list...)
	if s.failed() {
		return
	}
	s.runTop(prg)
	if s.ended && !s.broken {
		s.compileProbes()
	}
}

func (s *Script) failed() bool { return s.diags.HasErrors() }

// runTop runs the top level, which may take loadFactor times as long as a callback.
func (s *Script) runTop(prg *goja.Program) {
	s.loading = true
	err := s.protect(true, func() error {
		_, err := s.vm.RunProgram(prg)
		return err
	})
	s.loading = false
	if err != nil && !s.isStop(err) {
		s.diags = append(s.diags, s.explain(err))
	}
	for _, p := range s.rejected {
		s.diags = append(s.diags, s.rejection(p))
	}
	s.rejected = nil
	if s.ended = err == nil || s.isStop(err); s.ended {
		s.checkArgs()
	}
}

// compileProbes folds and compiles all probes, so that all errors are told at once, in the order of the text.
func (s *Script) compileProbes() {
	var list diag.List
	for _, p := range append(slices.Clone(s.probes), s.spoiled...) {
		s.foldProbe(p)
		_, diags := p.Compile(nil)
		list = append(list, diags...)
	}
	s.compileGuessed()
	if list.HasErrors() && len(s.taken) > 0 {
		list = s.compileAnew(list)
	}
	s.diags = append(s.diags, unique(list)...)
	sort.SliceStable(s.diags, func(i, j int) bool {
		a, b := s.diags[i].Span, s.diags[j].Span
		return a.Source == b.Source && a.Start < b.Start
	})
}

// compileGuessed compiles those probes again that read a map which a probe after them turned out to keep text in.
func (s *Script) compileGuessed() {
	for _, p := range s.probes {
		p.recompileGuessed(s.arena)
	}
}

// unique drops repetitions: a function used by several probes is compiled for each.
func unique(list diag.List) diag.List {
	seen := map[diag.Diagnostic]bool{}
	var out diag.List
	for _, d := range list {
		if !seen[d] {
			seen[d] = true
			out = append(out, d)
		}
	}
	return out
}

// Probes lists the probes in the order of declaration.
func (s *Script) Probes() []*Probe { return s.probes }

// Options lists the script's own options, for --help.
func (s *Script) Options() []Option { return s.options }

// Inputs are the files the script was made of, for a watcher: absolute paths, and the name given for the script itself.
func (s *Script) Inputs() []string { return s.inputs }

// Arena is where the script's objects are.
func (s *Script) Arena() *runtime.Arena { return s.arena }

// SetTracer tells the script who places its probes. It is called once, before Start.
func (s *Script) SetTracer(t Tracer) { s.tracer = t }

// Stopped reports whether the script has called stop. Safe for concurrent use.
func (s *Script) Stopped() bool { return s.stopped.Load() }

// Status is the exit status that stop was given, 0 otherwise; to be read when the host is at rest.
func (s *Script) Status() int { return s.status }

// Close frees the machine; after End if Start was called. Closing again does nothing.
func (s *Script) Close() {
	s.closing.Do(func() {
		s.dog.close()
		s.leaveFacilities()
		if s.owned {
			s.arena.Close()
		}
	})
}

// protect runs a callback, or the top level, in the machine under the watchdog, and turns a Go panic that escapes it into an error.
func (s *Script) protect(top bool, f func() error) (err error) {
	s.dog.begin(top)
	defer s.dog.end()
	defer func() {
		if r := recover(); r != nil {
			err = recovered(r)
		}
	}()
	return f()
}

func recovered(r any) error {
	if err, ok := r.(error); ok {
		return err
	}
	return errors.New(strings.TrimSpace("internal error: " + textOf(r)))
}

func textOf(r any) string {
	if v, ok := r.(goja.Value); ok {
		return "uncaught " + v.String()
	}
	if s, ok := r.(string); ok {
		return s
	}
	return "panic"
}

// outside does something that the script cannot hurry, with the callback's clock stopped.
func (s *Script) outside(f func()) {
	defer s.dog.pause()()
	f()
}
