package arming

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gotap/engine/backend"
	"gotap/engine/image/module"
	"gotap/engine/image/symbols"
	"gotap/engine/locate"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/runtime"
)

// target is a process in which points are only noted, and a back end whose one file has the functions that a test
// names.
type target struct {
	mods      []module.Loaded
	functions map[string]uint64 // and where they are in the file
	armed     []uint64
	failure   map[uint64]error // of attaching, by address
	gone      bool
	special   bool
}

var file = &module.File{Identity: module.Identity{Path: "/a"}, Segments: []module.Segment{{MemSize: 0x3000}}}

func (p *target) Pid() int                 { return 7 }
func (p *target) Modules() []module.Loaded { return p.mods }
func (p *target) HasVDSO() bool            { return true }
func (p *target) Gone() bool               { return p.gone }

func (p *target) ArmSpecial(*registry.Probe, place.Spec, place.Target, *module.Loaded) (bool, error) {
	return p.special, nil
}

func (p *target) Attach(_ *registry.Placement, addr uint64, _ *module.Loaded) error {
	if err := p.failure[addr]; err != nil {
		return err
	}
	p.armed = append(p.armed, addr)
	return nil
}

func (p *target) Interrupted() error                                        { return nil }
func (p *target) Boundaries(*module.File, []byte, uint64) ([]uint64, error) { return nil, nil }
func (p *target) InFiles(place.Spec) bool                                   { return true }
func (p *target) NoModule(int, place.Spec) error                            { return nil }
func (p *target) Awaits(place.Spec, error) (bool, error)                    { return false, nil }

func (p *target) Info(_ place.Spec, t place.Target) registry.PlaceInfo {
	return &registry.Info{Target: t}
}

func (p *target) Resolve(_ *place.Resolver, spec place.Spec, _ []*module.File) (found []place.Target, err error) {
	for name, vaddr := range p.functions {
		if spec.Matches(name) {
			found = append(found, place.Target{File: file, Vaddr: vaddr, Name: name})
		}
	}
	slices.SortFunc(found, func(a, b place.Target) int { return int(a.Vaddr) - int(b.Vaddr) })
	return found, nil
}

// arm arms a probe on specifications.
func arm(t *testing.T, p *target, code registry.Handlers, specs ...place.Spec) (*registry.Probe, error) {
	t.Helper()
	pr, err := registry.New(registry.Spec{ID: 1, Name: "p", Specs: specs,
		Compile: func(registry.PlaceInfo) (registry.Handlers, error) { return code, nil }}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := Armer{locate.New(p, new(symbols.Files)), p.Interrupted}
	return pr, a.Probe(p, pr, p.mods)
}

func function(name string) place.Spec { return place.Spec{Kind: place.Function, Name: name} }

// whole is the module as a loader maps it.
func whole(bias uint64) module.Loaded {
	return module.Loaded{Path: file.Path, File: file, Bias: bias, Mappings: []module.Mapping{{Start: bias, End: bias + 0x3000}}}
}

// part is a second copy of one page of the file's code, which some programs map near other code.
func part(bias, offset uint64) module.Loaded {
	return module.Loaded{Path: file.Path, File: file, Bias: bias,
		Mappings: []module.Mapping{{Start: bias + offset, End: bias + offset + 0x1000, Offset: offset}}}
}

// TestModules: a place is armed in every copy of its file that has it; a copy of a part of the file ends with its
// mappings.
func TestModules(t *testing.T) {
	p := &target{functions: map[string]uint64{"f": 0x1010, "g": 0x2010}, mods: []module.Loaded{whole(0x10000), part(0x50000, 0x1000)}}
	if _, err := arm(t, p, registry.Handlers{}, function("f"), function("g")); err != nil {
		t.Fatal(err)
	}
	if want := []uint64{0x11010, 0x51010, 0x12010}; !slices.Equal(p.armed, want) {
		t.Errorf("armed at %#x, not %#x", p.armed, want)
	}
}

// TestRefused: what was named outright is an error with its position, what a pattern matched is left out and noted.
func TestRefused(t *testing.T) {
	cannot := errors.New("no room")
	p := &target{functions: map[string]uint64{"f": 0x10, "fa": 0x20}, mods: []module.Loaded{whole(0)}, failure: map[uint64]error{0x10: cannot}}
	_, err := arm(t, p, registry.Handlers{}, function("fa"), function("f"))
	var at *place.ListedError
	if !errors.As(err, &at) || at.Index != 1 || err.Error() != "cannot probe f: no room" || !slices.Equal(p.armed, []uint64{0x20}) {
		t.Errorf("armed %#x: %v", p.armed, err)
	}
	pr, err := arm(t, p, registry.Handlers{}, function("f*"))
	if err != nil || !slices.Equal(pr.Refused, []string{"f: cannot probe f: no room"}) {
		t.Errorf("left out %q, %v", pr.Refused, err)
	}
	p.gone = true
	if _, err := arm(t, p, registry.Handlers{}, function("f")); err != nil {
		t.Errorf("in a process that has ended: %v", err)
	}
}

// TestLimit: an error that every further place would meet ends the work, whatever matched.
func TestLimit(t *testing.T) {
	p := &target{functions: map[string]uint64{"f": 0x10, "g": 0x20}, mods: []module.Loaded{whole(0)},
		failure: map[uint64]error{0x10: backend.TooManyError{Limit: 1, Wanted: 2}}}
	_, err := arm(t, p, registry.Handlers{}, function("*"), function("g"))
	var many backend.TooManyError
	if !errors.As(err, &many) || len(p.armed) > 0 {
		t.Errorf("armed %#x: %v", p.armed, err)
	}
}

// TestKinds: leave handlers need the start of a function; what is not plain code is armed by the back end; the vdso is
// noted.
func TestKinds(t *testing.T) {
	p := &target{functions: map[string]uint64{"f": 0x10}, mods: []module.Loaded{whole(0)}}
	if _, err := arm(t, p, registry.Handlers{Leave: new(runtime.Code)}, function("f")); err == nil || !strings.Contains(err.Error(), "f") {
		t.Errorf("a leave handler in the middle of a function: %v", err)
	}
	p.special = true
	if _, err := arm(t, p, registry.Handlers{}, function("f")); err != nil || len(p.armed) > 0 {
		t.Errorf("the back end's own place was armed at %#x, %v", p.armed, err)
	}
	pr, _ := arm(t, p, registry.Handlers{}, place.Spec{Kind: place.Function, Module: "*", Name: "f"})
	if !slices.Equal(pr.Refused, []string{locate.LeftOut(pr.Spec.Specs[0])}) {
		t.Errorf("left out %q", pr.Refused)
	}
}
