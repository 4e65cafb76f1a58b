package probes

import (
	"errors"
	"iter"
	"testing"

	"gotap/engine/arming"
	"gotap/engine/backend"
	"gotap/engine/image/module"
	"gotap/engine/image/symbols"
	"gotap/engine/locate"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
	"gotap/runtime"
)

// machine is a tracer of one process, in which functions are points.
type machine struct {
	functions map[string]uint64
	points    map[uint64]*spot
	refuse    map[uint64]error // of planting, by address
	together  bool             // breakpoints are planted at the end of Together
	queued    []*spot
	replacing int // times that Replacing says so
	awaited   int
	over      bool
	loader    bool // a program's loader has yet to map its libraries
	others    map[*registry.Probe]bool
	kept      []string
	warned    []string
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
	file   = &module.File{Segments: []module.Segment{{MemSize: 0x1000}}}
	mapped = []module.Loaded{{Path: "/a", File: file, Mappings: []module.Mapping{{End: 0x1000}}}}
)

func newMachine() (*machine, *Set) {
	m := &machine{functions: map[string]uint64{"f": 0x10, "g": 0x20}, points: map[uint64]*spot{}, refuse: map[uint64]error{},
		others: map[*registry.Probe]bool{}}
	return m, New(m, locate.New(m, new(symbols.Files)), new(backend.Config))
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

func (m *machine) Processes() []arming.Process { return []arming.Process{m} }
func (m *machine) Spaces() []Space             { return []Space{m} }

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

func (m *machine) AddNonBreakpoints(pr *registry.Probe) error {
	for _, spec := range pr.Spec.Specs {
		if spec.Kind == place.Syscall {
			m.others[pr] = true
		}
	}
	return nil
}

func (m *machine) DropNonBreakpoints(pr *registry.Probe) { delete(m.others, pr) }
func (m *machine) SyncNonBreakpoints() error             { return nil }

func (m *machine) NonBreakpoints(pr *registry.Probe) int {
	if m.others[pr] {
		return 1
	}
	return 0
}

func (m *machine) KeepCalls(pr *registry.Probe) { m.kept = append(m.kept, pr.Spec.Name) }
func (m *machine) Warn(text string)             { m.warned = append(m.warned, text) }

func (m *machine) Unsettled() bool              { return m.loader }
func (m *machine) IsLoader(*module.Loaded) bool { return false }
func (m *machine) Begun(*registry.Probe)        {}

func (m *machine) Pid() int                 { return 7 }
func (m *machine) Modules() []module.Loaded { return mapped }
func (m *machine) HasVDSO() bool            { return false }
func (m *machine) Gone() bool               { return false }

func (m *machine) ArmSpecial(*registry.Probe, place.Spec, place.Target, *module.Loaded) (bool, error) {
	return false, nil
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
func (m *machine) InFiles(spec place.Spec) bool                              { return spec.Kind != place.Syscall }
func (m *machine) NoModule(int, place.Spec) error                            { return nil }
func (m *machine) Awaits(place.Spec, error) (bool, error)                    { return false, nil }

func (m *machine) Info(_ place.Spec, t place.Target) registry.PlaceInfo {
	return &registry.Info{Target: t}
}

func (m *machine) Resolve(_ *place.Resolver, spec place.Spec, _ []*module.File) (found []place.Target, err error) {
	for name, vaddr := range m.functions {
		if spec.Matches(name) {
			found = append(found, place.Target{File: file, Vaddr: vaddr, Name: name})
		}
	}
	if found == nil {
		err = &place.NotFoundError{Spec: spec, What: place.NoFunction}
	}
	return found, err
}

// planted reports whether there is a breakpoint at an address.
func (m *machine) planted(addr uint64) bool { return m.points[addr] != nil && m.points[addr].planted }

// spec is a probe on functions; "syscall" stands for a system call.
func spec(id uint32, names ...string) registry.Spec {
	s := registry.Spec{ID: id, Name: names[0], Compile: func(registry.PlaceInfo) (registry.Handlers, error) {
		return registry.Handlers{Enter: new(runtime.Code)}, nil
	}}
	for _, name := range names {
		kind := place.Function
		if name == "syscall" {
			kind = place.Syscall
		}
		s.Specs = append(s.Specs, place.Spec{Kind: kind, Name: name})
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
