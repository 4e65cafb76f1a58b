package probes

import (
	"debug/elf"
	"errors"
	"iter"
	"slices"
	"testing"

	"gotap/arch/x86"
	"gotap/engine/backend"
	"gotap/engine/image/module"
	"gotap/engine/image/symbols"
	"gotap/engine/isa"
	"gotap/engine/locate"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
	"gotap/engine/semaphore"
	"gotap/engine/syscallprobe"
	"gotap/engine/watchpoint"
	"gotap/runtime"
)

// machine is a tracer of one process, in which functions are points.
type machine struct {
	functions   map[string]uint64
	points      map[uint64]*spot
	refuse      map[uint64]error // of planting, by address
	together    bool             // breakpoints are planted at the end of Together
	queued      []*spot
	replacing   int // times that Replacing says so
	awaited     int
	over        bool
	loader      bool // a program's loader has yet to map its libraries
	mods        []module.Loaded
	places      *locate.Locator
	marks       map[string]*module.Mark
	calls       syscallprobe.Probes
	refuseCalls error
	watches     watchpoint.List
	set         int // watchpoints, as of the latest SyncWatches
	raised      semaphore.Counts
	data        [64]byte
	kept        []string
	warned      []string
}

// spot is a point.
type spot struct {
	retprobe.Point
	m       *machine
	addr    uint64
	planted bool
}

func (p *spot) Address() uint64  { return p.addr }
func (p *spot) Recount(int)      {}
func (p *spot) Strategy() string { return "by hand" }

func (p *spot) Sync() error {
	switch want := p.Wanted(); {
	case want && !p.planted && p.m.together:
		p.m.queued = append(p.m.queued, p)
	case want && !p.planted && p.m.refuse[p.addr] != nil:
		return p.m.refuse[p.addr]
	default:
		p.planted = want
	}
	return nil
}

var (
	file    = &module.File{Segments: []module.Segment{{MemSize: 0x1000}}}
	library = &module.File{Segments: []module.Segment{{MemSize: 0x1000}}}
	mapped  = []module.Loaded{{Path: "/a", File: file, Mappings: []module.Mapping{{End: 0x1000}}}}
)

func newMachine() (*machine, *Set) {
	m := &machine{functions: map[string]uint64{"f": 0x10, "g": 0x20, "cell": 0x30, "mark": 0x38}, points: map[uint64]*spot{}, refuse: map[uint64]error{}, mods: mapped}
	m.marks = map[string]*module.Mark{"mark": {PC: 0x38, Semaphore: 8}}
	m.calls.Conventions = []syscallprobe.Convention{{Machine: elf.EM_X86_64, Regs: x86.New64(), Word: 8}}
	m.places = locate.New(m, new(symbols.Files))
	return m, New(m, m.places, new(backend.Config))
}

var errOver = errors.New("the session is over")

func (m *machine) Do(fn func() error) error {
	if m.over {
		return errOver
	}
	return fn()
}

func (m *machine) Read(fn func()) error {
	return m.Do(func() error { fn(); return nil })
}

func (m *machine) Prepare(fn func([]locate.Process, Do) error) error {
	return fn([]locate.Process{{Pid: 7, Mods: mapped}}, m.Do)
}

func (m *machine) Processes() []Process { return []Process{m} }
func (m *machine) Spaces() []Space      { return []Space{m} }

func (m *machine) Points() iter.Seq[*retprobe.Point] {
	return func(yield func(*retprobe.Point) bool) {
		for _, p := range m.points {
			if !yield(&p.Point) {
				return
			}
		}
	}
}

func (m *machine) Together(fn func()) map[*retprobe.Point]error {
	m.together = true
	fn()
	m.together = false
	lost := map[*retprobe.Point]error{}
	for _, p := range m.queued {
		if err := p.Sync(); err != nil {
			lost[&p.Point] = err
		}
	}
	m.queued = nil
	return lost
}

func (m *machine) Replacing() bool {
	m.replacing--
	return m.replacing >= 0
}

func (m *machine) AwaitReplaced() error { m.awaited++; return nil }
func (m *machine) AwaitPrograms()       {}

func (m *machine) Calls() *syscallprobe.Probes { return &m.calls }

func (m *machine) AddCalls(pr *registry.Probe, spec place.Spec) error { return m.calls.Add(pr, spec) }
func (m *machine) SyncCalls() error                                   { return m.refuseCalls }
func (m *machine) Closing() bool                                      { return false }
func (m *machine) AddressSpace() Space                                { return m }
func (m *machine) Watches() *watchpoint.List                          { return &m.watches }

func (m *machine) Watchable(place.Spec) (watchpoint.Process, bool) {
	return watchpoint.Process{Places: m.places, Mods: m.mods, ISA: isa.AMD64, Info: func(string) registry.PlaceInfo { return nil }}, true
}

func (m *machine) SyncWatches() error {
	m.set = 0
	for _, w := range m.watches {
		if w.Placement.Probe.Armed() {
			m.set++
		}
	}
	return nil
}

func (m *machine) Semaphores() (*semaphore.Counts, semaphore.Memory) { return &m.raised, m }

func (m *machine) ReadMemory(addr uint64, p []byte) error {
	copy(p, m.data[addr:])
	return nil
}

func (m *machine) WriteMemory(addr uint64, p []byte) error {
	copy(m.data[addr:], p)
	return nil
}

func (m *machine) KeepCalls(pr *registry.Probe) { m.kept = append(m.kept, pr.Spec.Name) }
func (m *machine) Warn(text string)             { m.warned = append(m.warned, text) }

func (m *machine) Unsettled() bool              { return m.loader }
func (m *machine) IsLoader(*module.Loaded) bool { return false }
func (m *machine) Begun(*registry.Probe)        {}

func (m *machine) Pid() int                 { return 7 }
func (m *machine) Modules() []module.Loaded { return m.mods }
func (m *machine) HasVDSO() bool            { return false }
func (m *machine) Gone() bool               { return false }

func (m *machine) ArmSpecial(_ *registry.Probe, spec place.Spec, _ place.Target, _ *module.Loaded) (bool, error) {
	return spec.Kind == place.Watch, nil
}

func (m *machine) Attach(pl *registry.Placement, addr uint64, _ *module.Loaded) error {
	p := m.points[addr]
	if p == nil {
		p = &spot{m: m, addr: addr}
		p.At = p
		m.points[addr] = p
	}
	return p.Attach(pl, nil)
}

func (m *machine) Interrupted() error                                        { return nil }
func (m *machine) Boundaries(*module.File, []byte, uint64) ([]uint64, error) { return nil, nil }
func (m *machine) AddSample(*registry.Probe, place.Spec) error               { return nil }
func (m *machine) SyncSamples()                                              {}
func (m *machine) DropSamples(*registry.Probe)                               {}
func (m *machine) Samples(*registry.Probe) int                               { return 0 }

func (m *machine) InFiles(spec place.Spec) bool                  { return spec.Kind != place.Syscall }
func (m *machine) NoModule(int, place.Spec) error                { return nil }
func (m *machine) Awaits(spec place.Spec, _ error) (bool, error) { return spec.Name == "later", nil }

func (m *machine) Info(spec place.Spec, t place.Target) registry.PlaceInfo {
	if spec.Kind == place.Watch {
		return nil
	}
	return &registry.Info{Target: t}
}

func (m *machine) Resolve(_ *place.Resolver, spec place.Spec, files []*module.File) (found []place.Target, err error) {
	if spec.Name == "later" && slices.Contains(files, library) {
		return []place.Target{{File: library, Vaddr: 0x34, Name: "later"}}, nil
	}
	for name, vaddr := range m.functions {
		if spec.Matches(name) {
			found = append(found, place.Target{File: file, Vaddr: vaddr, Name: name, Mark: m.marks[name]})
		}
	}
	if found == nil {
		err = &place.NotFoundError{Spec: spec, What: place.NoFunction}
	}
	return found, err
}

// planted reports whether there is a breakpoint at an address.
func (m *machine) planted(addr uint64) bool { return m.points[addr] != nil && m.points[addr].planted }

// kinds are what the names of specifications stand for, besides functions.
var kinds = map[string]place.Spec{"getpid": {Kind: place.Syscall}, "cell": {Kind: place.Watch, Len: 4}, "later": {Kind: place.Watch, Len: 4},
	"mark": {Kind: place.Mark}}

// spec is a probe on functions, or what kinds says.
func spec(id uint32, names ...string) registry.Spec {
	s := registry.Spec{ID: id, Name: names[0], Compile: func(registry.PlaceInfo) (registry.Handlers, error) {
		return registry.Handlers{Enter: new(runtime.Code)}, nil
	}}
	for _, name := range names {
		one := kinds[name]
		one.Name = name
		s.Specs = append(s.Specs, one)
	}
	return s
}

// add adds a probe that is right.
func add(t *testing.T, s *Set, p registry.Spec) {
	t.Helper()
	if err := s.Add(p); err != nil {
		t.Fatal(err)
	}
}
