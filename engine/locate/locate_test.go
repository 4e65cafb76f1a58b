package locate

import (
	"errors"
	"testing"

	"gotap/engine/image/module"
	"gotap/engine/image/symbols"
	"gotap/engine/place"
	"gotap/engine/registry"
)

// files is a back end whose files have the places that a test gives them.
type files struct {
	has         map[string]bool // names of functions
	failure     error           // of resolving
	asked       int             // times something was resolved
	interrupted error
	awaits      bool
	later       bool // targets are compiled later
}

func (h *files) Interrupted() error { return h.interrupted }

func (h *files) Boundaries(*module.File, []byte, uint64) ([]uint64, error) { return nil, nil }

func (h *files) InFiles(spec place.Spec) bool { return spec.Kind != place.Syscall }

func (h *files) Resolve(_ *place.Resolver, spec place.Spec, list []*module.File) ([]place.Target, error) {
	h.asked++
	if h.failure != nil {
		return nil, h.failure
	}
	if !h.has[spec.Name] {
		return nil, &place.NotFoundError{Spec: spec, What: place.NoFunction}
	}
	return []place.Target{{File: list[0], Name: spec.Name}}, nil
}

func (h *files) Info(_ place.Spec, t place.Target) registry.PlaceInfo {
	if h.later {
		return nil
	}
	return &registry.Info{Target: t}
}

func (h *files) NoModule(_ int, spec place.Spec) error { return noModule(spec) }

func (h *files) Awaits(place.Spec, error) (bool, error) { return h.awaits, nil }

var one = []module.Loaded{{Path: "/a", File: &module.File{Identity: module.Identity{Path: "/a"}}}}

func function(name string) place.Spec { return place.Spec{Kind: place.Function, Name: name} }

// probe makes a probe on places; n counts how often it is compiled.
func probe(t *testing.T, optional bool, n *int, specs ...place.Spec) *registry.Probe {
	t.Helper()
	pr, err := registry.New(registry.Spec{ID: 1, Name: "p", Specs: specs, Optional: optional,
		Compile: func(registry.PlaceInfo) (registry.Handlers, error) { *n++; return registry.Handlers{}, nil }}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pr
}

// TestAnswersAreKept: the same question about the same files is asked once, whether the place was found or not.
// Failures may pass.
func TestAnswersAreKept(t *testing.T) {
	h := &files{has: map[string]bool{"f": true}}
	l := New(h, new(symbols.Files))
	for range 3 {
		if got, err := l.Targets(function("f"), one); len(got) != 1 || err != nil {
			t.Errorf("%v, %v", got, err)
		}
		if _, err := l.Targets(function("g"), one); err == nil {
			t.Error("g was found")
		}
	}
	if h.asked != 2 {
		t.Errorf("the files were searched %d times, not twice", h.asked)
	}
	other := []module.Loaded{{Path: "/b", File: &module.File{Identity: module.Identity{Path: "/b"}}}}
	if l.Targets(function("f"), other); h.asked != 3 {
		t.Errorf("other files were not searched")
	}
	h.failure = errors.New("cannot read")
	l.Targets(function("h"), one)
	h.failure, h.has["h"] = nil, true
	if got, err := l.Targets(function("h"), one); len(got) != 1 || err != nil {
		t.Errorf("after a failure that has passed: %v, %v", got, err)
	}
}

// TestPrepare: what is not there is an error with its position in the list, unless the probe is optional or the place
// may still come.
func TestPrepare(t *testing.T) {
	procs := []Process{{Pid: 1, Mods: one}, {Pid: 2, Mods: one}}
	for _, c := range []struct {
		name     string
		host     files
		optional bool
		compiled int
		fails    bool
	}{
		{"found", files{has: map[string]bool{"f": true, "g": true}}, false, 2, false},
		{"one missing", files{has: map[string]bool{"f": true}}, false, 1, true},
		{"optional", files{has: map[string]bool{"f": true}}, true, 1, false},
		{"awaited", files{has: map[string]bool{"f": true}, awaits: true}, false, 1, false},
		{"failing though optional", files{failure: errors.New("cannot read")}, true, 0, true},
		{"compiled later", files{has: map[string]bool{"f": true, "g": true}, later: true}, false, 0, false},
	} {
		n := 0
		pr := probe(t, c.optional, &n, function("f"), place.Spec{Kind: place.Syscall, Name: "read"}, function("g"))
		err := New(&c.host, new(symbols.Files)).Prepare(pr, pr.Spec.Specs, procs)
		if (err != nil) != c.fails || n != c.compiled {
			t.Errorf("%s: compiled %d times, %v", c.name, n, err)
		}
		var at *place.ListedError
		if c.name == "one missing" && (!errors.As(err, &at) || at.Index != 2) {
			t.Errorf("%s: %v is not listed as the third", c.name, err)
		}
	}
}

// TestPrepareInterrupted: nothing is compiled after the end of placing, whose error is returned as it is.
func TestPrepareInterrupted(t *testing.T) {
	n, stop := 0, errors.New("stop")
	pr := probe(t, false, &n, function("f"))
	h := &files{has: map[string]bool{"f": true}, interrupted: stop}
	if err := New(h, new(symbols.Files)).Prepare(pr, pr.Spec.Specs, []Process{{1, one}}); err != stop || n != 0 {
		t.Errorf("compiled %d times, %v", n, err)
	}
}

// TestAddresses: an address of a process is looked for in the module that is mapped there.
func TestAddresses(t *testing.T) {
	n := 0
	spec := place.Spec{Kind: place.Address, Addr: 0x1000}
	pr := probe(t, false, &n, spec)
	l := New(&files{}, new(symbols.Files))
	var refused *place.RefusedError
	if err := l.Prepare(pr, pr.Spec.Specs, []Process{{1, one}}); !errors.As(err, &refused) || refused.Reason != whyNoModule {
		t.Errorf("%v", err)
	}
}

// TestKernelCode: code of the kernel in a process is refused by name, and left out where a pattern means it.
func TestKernelCode(t *testing.T) {
	for _, name := range kernelModules {
		if ExcludedModule(place.Spec{Kind: place.Function, Module: name, Name: "f"}) == nil {
			t.Errorf("%s is not refused", name)
		}
	}
	if err := ExcludedModule(place.Spec{Kind: place.Function, Module: "libc", Name: "f"}); err != nil {
		t.Error(err)
	}
	if LeftOut(place.Spec{Kind: place.Function, Module: "linux*", Name: "f"}) == "" {
		t.Error("nobody says that linux* leaves the vdso out")
	}
	if text := LeftOut(place.Spec{Kind: place.Function, Module: "libc*", Name: "f"}); text != "" {
		t.Errorf("libc*: %s", text)
	}
}

// TestLeftOut: a probe leaves out what it names so, in any module unless it names one; a probe of which nothing is left
// has an error.
func TestLeftOut(t *testing.T) {
	procs := []Process{{Pid: 1, Mods: one}}
	inOther := place.Spec{Kind: place.Function, Module: "/b", Name: "f"}
	for _, c := range []struct {
		not   []place.Spec
		left  int // places
		fails bool
	}{
		{nil, 2, false},
		{[]place.Spec{function("f")}, 1, false},
		{[]place.Spec{inOther, function("nowhere")}, 2, false},
		{[]place.Spec{function("f"), function("g")}, 0, true},
	} {
		h := &named{files{has: map[string]bool{"f": true, "g": true}}}
		n := 0
		pr := probe(t, false, &n, function("f"), function("g"))
		pr.Spec.Not = c.not
		l := New(h, new(symbols.Files))
		err := l.Prepare(pr, pr.Spec.Specs, procs)
		var missing *place.NotFoundError
		if errors.As(err, &missing) != c.fails || n != c.left {
			t.Errorf("not %v: compiled %d places, %v", c.not, n, err)
		}
	}
}

// named is a back end in which each function has an address of its own.
type named struct{ files }

func (h *named) Resolve(r *place.Resolver, spec place.Spec, list []*module.File) ([]place.Target, error) {
	targets, err := h.files.Resolve(r, spec, list)
	for i := range targets {
		targets[i].Vaddr = uint64(spec.Name[0])
	}
	return targets, err
}
