package watchpoint

import (
	"errors"
	"strings"
	"testing"

	"gotap/engine/image/module"
	"gotap/engine/image/symbols"
	"gotap/engine/isa"
	"gotap/engine/linux/debugreg"
	"gotap/engine/locate"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/registry/hit"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/facility"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// host resolves the variable cell, which lies at 0x40 of a file.
type host struct{ locate.Host }

var file = &module.File{Segments: []module.Segment{{MemSize: 0x1000}}}

func (host) Interrupted() error      { return nil }
func (host) InFiles(place.Spec) bool { return true }
func (host) Resolve(_ *place.Resolver, spec place.Spec, files []*module.File) ([]place.Target, error) {
	if spec.Name != "cell" || len(files) == 0 {
		return nil, &place.NotFoundError{Spec: spec, What: place.NoFunction}
	}
	return []place.Target{{File: file, Vaddr: 0x40, Name: "cell", Symbol: "cell"}}, nil
}

// process maps the file twice.
func process(slots int) Process {
	mapped := func(bias uint64) module.Loaded {
		return module.Loaded{Path: "/a", File: file, Bias: bias, Mappings: []module.Mapping{{Start: bias, End: bias + 0x1000}}}
	}
	return Process{Places: locate.New(host{}, new(symbols.Files)), Mods: []module.Loaded{mapped(0x1000), mapped(0x5000)}, ISA: isa.AMD64, Slots: slots, Check: func() error { return nil },
		Info: func(name string) registry.PlaceInfo { return registry.Other{Place: name} }}
}

// program ends at once.
var program = &runtime.Code{Insts: []runtime.Inst{{Op: opcode.Exit, A: uint32(outcome.ExitPlain)}}, Stack: 4}

func newProbe(t *testing.T, h registry.Handlers) *registry.Probe {
	t.Helper()
	pr, err := registry.New(registry.Spec{ID: 1, Name: "w", Specs: []place.Spec{{}}, ThisBytes: 64,
		Compile: func(registry.PlaceInfo) (registry.Handlers, error) { return h, nil }}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pr
}

// parsed is the specification of a watchpoint.
func parsed(t *testing.T, text string) place.Spec {
	t.Helper()
	spec, err := place.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// TestAdd: a probe is at all addresses that it names, once at each; addresses that need no file are taken as they are.
func TestAdd(t *testing.T) {
	var l List
	pr := newProbe(t, registry.Handlers{Enter: program})
	for range 2 {
		if err := l.Add(pr, parsed(t, "watch:cell/4/w"), process(debugreg.Slots)); err != nil {
			t.Fatal(err)
		}
	}
	if len(l) != 2 || l[0].Addr != 0x1040 || l[1].Addr != 0x5040 || !l[0].Placement.Data || l[0].Placement.Func != "cell" {
		t.Fatalf("%+v", l)
	}
	other := newProbe(t, registry.Handlers{Enter: program})
	if err := l.Add(other, parsed(t, "watch:0x7000/8/rw"), process(debugreg.Slots)); err != nil || l[2].Addr != 0x7000 {
		t.Errorf("an address: %v", err)
	}
	if l.Count(pr) != 2 || l.Count(other) != 1 {
		t.Errorf("%d and %d", l.Count(pr), l.Count(other))
	}
	if dropped := l.Drop(pr); len(dropped) != 2 || len(l) != 1 || l.Count(pr) != 0 {
		t.Errorf("dropped %d, left %d", len(dropped), len(l))
	}
}

// TestRefused: what the processor cannot watch is an error that says why; a stub decides for itself.
func TestRefused(t *testing.T) {
	leave := registry.Handlers{Leave: program}
	for _, c := range []struct {
		spec  string
		of    registry.Handlers
		slots int
		text  string
	}{
		{"watch:0x7001/4/w", registry.Handlers{Enter: program}, debugreg.Slots, "multiple of 4"},
		{"watch:0x7001/4/w", registry.Handlers{Enter: program}, 0, ""},
		{"watch:cell/4/w", registry.Handlers{Enter: program}, 1, "all 1 debug registers"},
		{"watch:cell/4/w", leave, debugreg.Slots, "a watchpoint has no return"},
	} {
		var l List
		err := l.Add(newProbe(t, c.of), parsed(t, c.spec), process(c.slots))
		if c.text == "" && err == nil || err != nil && c.text != "" && strings.Contains(err.Error(), c.text) {
			continue
		}
		t.Errorf("%s with %d slots: %v", c.spec, c.slots, err)
	}
	silent, broken := process(debugreg.Slots), errors.New("nothing is reported")
	silent.Check = func() error { return broken }
	var l List
	if err := l.Add(newProbe(t, registry.Handlers{Enter: program}), parsed(t, "watch:0x7000/4/w"), silent); !errors.Is(err, broken) || len(l) > 0 {
		t.Errorf("with debug registers that report nothing: %v", err)
	}
	var missing *place.NotFoundError
	if err := l.Add(newProbe(t, leave), parsed(t, "watch:nope/4/w"), process(1)); !errors.As(err, &missing) {
		t.Errorf("a name that means nothing: %v", err)
	}
}

// TestTouched: an access hits the watchpoints of its kind with which it has bytes in common.
func TestTouched(t *testing.T) {
	var l List
	for _, s := range []string{"watch:0x7000/4/w", "watch:0x7000/4/rw", "watch:0x7004/4/rw", "watch:0x7000/1/x"} {
		if err := l.Add(newProbe(t, registry.Handlers{Enter: program}), parsed(t, s), process(0)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		addr  uint64
		n     int
		write bool
		want  uint64
	}{
		{0x7000, 4, true, 0b011}, {0x7000, 4, false, 0b010}, {0x6ffc, 4, true, 0}, {0x6ffc, 5, true, 0b011},
		{0x7003, 2, false, 0b110}, {0x7008, 8, true, 0}, {0x7007, 1, true, 0b100},
	} {
		if got := l.Touched(c.addr, c.n, c.write); got != c.want {
			t.Errorf("%d bytes at %#x, write %v: %b, not %b", c.n, c.addr, c.write, got, c.want)
		}
	}
	if l.Of(place.OnReadWrite) != 0b110 || l.Of(place.OnExecute) != 0b1000 {
		t.Errorf("by kind: %b, %b", l.Of(place.OnReadWrite), l.Of(place.OnExecute))
	}
	if !l[0].Reaches(0x6ff9) || l[0].Reaches(0x6ff8) || l[0].Reaches(0x7004) {
		t.Error("reach")
	}
}

// thread is what hits ask of one.
type thread struct{ hit.Target }

func (thread) IDs() (pid, tid int)    { return 1, 1 }
func (thread) Disarm(*registry.Probe) {}

// TestRun: the programs of the watchpoints in a set run, those of armed probes; enter and post are one hit.
func TestRun(t *testing.T) {
	arena, err := arena.New(arena.Options{Size: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { arena.Close() })
	var l List
	var all []*registry.Probe
	for _, h := range []registry.Handlers{{Enter: program}, {Enter: program, Post: program}, {Enter: program}} {
		pr := newProbe(t, h)
		all = append(all, pr)
		if err := l.Add(pr, parsed(t, "watch:0x7000/4/w"), process(debugreg.Slots)); err != nil {
			t.Fatal(err)
		}
	}
	all[2].Enabled = false
	var h hit.Hit
	h.Init(hit.NewRunner(arena, facility.NewTable()), thread{}, nil, make([]uint64, 34), 1)
	storage := arena.AllocThis(64)
	arena.FreeThis(storage, 64)
	for range 1000 {
		h.Begin(8)
		l.Run(&h, 0b110)
		if h.Len() != 2 {
			t.Fatalf("%d programs ran", h.Len())
		}
		h.Posts()
		h.Commit()
	}
	if arena.AllocThis(64) != storage { // what was freed last is given first
		t.Error("storage was not freed")
	}
	if all[0].Hits() != 0 || all[1].Hits() != 1000 || all[2].Hits() != 0 {
		t.Errorf("%d, %d, %d hits", all[0].Hits(), all[1].Hits(), all[2].Hits())
	}
}
