package trampoline

import (
	"errors"
	"iter"
	"os"
	"slices"
	"testing"
	"time"

	"gotap/engine/abi"
	"gotap/engine/backend"
	"gotap/engine/image/module"
	"gotap/engine/inline"
	"gotap/engine/space"
	"gotap/engine/testenv"
	"gotap/runtime/arena"
	"gotap/runtime/calls"
	"gotap/runtime/ranges"
)

// TestWithout: ranges without others, in all ways in which they can overlap.
func TestWithout(t *testing.T) {
	r := func(bounds ...uint64) (all []ranges.Range) {
		for i := 0; i < len(bounds); i += 2 {
			all = append(all, ranges.Range{Start: bounds[i], End: bounds[i+1]})
		}
		return all
	}
	for _, c := range []struct{ others, want []ranges.Range }{
		{nil, r(10, 20)}, {r(0, 10, 20, 30), r(10, 20)}, {r(5, 12), r(12, 20)}, {r(18, 40), r(10, 18)}, {r(12, 14), r(10, 12, 14, 20)},
		{r(10, 20), nil}, {r(0, 100), nil}, {r(14, 16, 11, 12), r(10, 11, 12, 14, 16, 20)}, {r(10, 11, 19, 20), r(11, 19)},
	} {
		if got := without(ranges.Range{Start: 10, End: 20}, c.others); !slices.Equal(got, c.want) {
			t.Errorf("without %v: %v, not %v", c.others, got, c.want)
		}
	}
}

// TestPlainMemory goes through the mappings of the test itself: what native code may read is never code, and the stack
// is part of it.
func TestPlainMemory(t *testing.T) {
	maps, err := module.Maps(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	stack := false
	for _, m := range maps {
		if isPlain(m) && (m.Exec || !m.Read || m.Path == "[vdso]" || m.Path == "[vvar]" || m.Path == "[vsyscall]") {
			t.Errorf("%s counts as plain memory", m.Path)
		}
		stack = stack || m.Path == "[stack]" && isPlain(m)
	}
	if !stack {
		t.Error("the stack does not")
	}
	for path, want := range map[string]bool{"/dev/mem": false, "/dev/shm/x": true, "/sys/x": false, "/proc/1/mem": false, "/tmp/x": true, "socket:[1]": false, "[anon: x]": true} {
		if got := isPlain(module.Mapping{Path: path, Read: true, Inode: 7}); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// TestStubs: a stub is found by all its addresses and no other, whatever the order in which stubs were written.
func TestStubs(t *testing.T) {
	var j spaceJumps
	for _, at := range []uint64{0x3000, 0x1000, 0x2000} {
		i, _ := slices.BinarySearchFunc(j.stubs, at, func(o stub, at uint64) int { return int(o.start) - int(at) })
		j.stubs = slices.Insert(j.stubs, i, stub{start: at, end: at + 0x100})
	}
	for addr, want := range map[uint64]uint64{0: 0, 0xfff: 0, 0x1000: 0x1000, 0x10ff: 0x1000, 0x1100: 0, 0x2050: 0x2000, 0x30ff: 0x3000, 0x3100: 0} {
		got := uint64(0)
		if s := j.stubAt(addr); s != nil {
			got = s.start
		}
		if got != want {
			t.Errorf("at %#x is the stub of %#x, not %#x", addr, got, want)
		}
	}
	j.bells = map[uint64]*bell{0x1010: {stub: 0x1000, run: &space.Run{}}}
	j.islands = []*inline.Island{{Base: 0x10000}, {Base: 0x8000}}
	c := j.clone()
	if b := c.bells[0x1010]; b == nil || b.run != nil || j.bells[0x1010].run == nil {
		t.Error("a bell in the copy of a child runs something, or the parent's does not")
	}
	if all := j.ranges(); len(all) != 2 || all[0].Start != 0x8000 || all[1].Start != 0x10000 {
		t.Errorf("the islands are at %v", all)
	}
}

// TestStale: a stub is stale when no jump leads there, nor will.
func TestStale(t *testing.T) {
	for _, c := range []struct {
		jump space.Jump
		want bool
	}{
		{space.Jump{Stub: 0x1000, Runs: []space.Run{{}}, In: true}, false},
		{space.Jump{Stub: 0x1000, Runs: []space.Run{{}}, Waits: true}, false},
		{space.Jump{Stub: 0x1000, Runs: []space.Run{{}}}, true},
		{space.Jump{Stub: 0x1000, In: true}, true},
		{space.Jump{Stub: 0x2000, Runs: []space.Run{{}}, In: true}, true},
	} {
		s := stub{start: 0x1000, p: &space.Point{Jump: c.jump}}
		if s.stale() != c.want {
			t.Errorf("%+v is %v", c.jump, !c.want)
		}
	}
}

// host is a session without threads.
type host struct {
	Host
	watching, closing bool
}

func (h *host) Watching() bool              { return h.watching }
func (h *host) Closing() bool               { return h.closing }
func (h *host) ShadowStacks() bool          { return false }
func (h *host) After(time.Duration, func()) {}
func (h *host) Threads() iter.Seq[*Thread]  { return func(func(*Thread) bool) {} }
func (h *host) StoppedTid(*space.Space) int { return 0 }

// TestFits: places of other processors, where the session itself stops threads, and while debug registers watch instructions, get no jump;
// each says why.
func TestFits(t *testing.T) {
	h := &host{}
	var c Executor
	patcher := space.NewPatcher(nil, space.Settings{Jumps: &c})
	c.Init(h, patcher, Settings{Strategy: backend.Inline, Stats: &backend.Stats{}})
	here := &space.Space{ABI: &abi.AMD64}
	for _, k := range []struct {
		name     string
		p        *space.Point
		watching bool
		want     error
	}{
		{"another processor", &space.Point{Space: &space.Space{ABI: &abi.ABI{}}}, false, inline.ErrOtherArch},
		{"resolver", &space.Point{Space: here, Resolvers: []*space.IFunc{{}}}, false, errOwnUse},
		{"watched instructions", &space.Point{Space: here}, true, ErrWatched},
		{"dropped", &space.Point{Space: here, Jump: space.Jump{Dropped: errFaulted}}, false, errFaulted},
		{"ARM64", &space.Point{Space: &space.Space{ABI: &abi.ARM64}}, false, errNoFile},
		{"no file", &space.Point{Space: here}, false, errNoFile},
	} {
		if h.watching = k.watching; !errors.Is(c.Fits(k.p), k.want) {
			t.Errorf("%s: %v", k.name, c.Fits(k.p))
		}
	}
	h.watching, c.set.Strategy = false, backend.Mixed
	if err := c.mayFit(&space.Point{Space: &space.Space{ABI: &abi.ARM64}}); err != nil {
		t.Errorf("ARM64 with auto: %v", err)
	}
	c.set.Strategy = backend.Inline
	refused := &space.Space{ABI: &abi.AMD64}
	codeIn(refused).jumps.refused = errLocks
	if err := c.Fits(&space.Point{Space: refused}); !errors.Is(err, errLocks) {
		t.Errorf("an address space without jumps: %v", err)
	}
}

// TestCallsOfThreads: native code finds a thread's stack under its base of fs, unless several threads have that base.
func TestCallsOfThreads(t *testing.T) {
	testenv.Require(t, testenv.AMD64)
	a, err := arena.New(arena.Options{})
	if err != nil {
		t.Fatal(err)
	}
	owners, err := calls.NewOwners(a)
	if err != nil {
		t.Fatal(err)
	}
	n := spaceCalls{owners: owners, owns: ownership{threads: map[uint64]*Thread{}}}
	x, y := &Thread{}, &Thread{}
	n.owns.threads[0x1000], n.owns.threads[0x2000] = x, y
	n.vacate(0x1000, y)
	if n.owns.threads[0x1000] != x {
		t.Error("the thread of another was forgotten")
	}
	if n.vacate(0x1000, x); n.owns.threads[0x1000] != nil {
		t.Error("the thread is still known")
	}
	if n.share(0x2000); n.owns.threads[0x2000] != nil || !n.owns.shared[0x2000] {
		t.Error("a base of several threads leads to one of them")
	}
	p := &space.Point{}
	f := n.number(p, nil)
	if g := n.number(p, nil); f != 1 || g != 1 {
		t.Errorf("a function has the numbers %d and %d", f, g)
	}
	if _, ok := n.function(1); ok {
		t.Error("a function whose calls are not watched")
	}
	if _, ok := n.function(2); ok {
		t.Error("a function that does not exist")
	}
}
