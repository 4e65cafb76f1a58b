package semaphore

import (
	"errors"
	"slices"
	"testing"

	"gotap/engine/image/module"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
)

// memory is two semaphores, at 100 and 102.
type memory struct {
	data [4]byte
	gone bool
	fail error // of writing
}

var errUnmapped = errors.New("not mapped")

func (m *memory) ReadMemory(addr uint64, p []byte) error {
	if m.gone {
		return errUnmapped
	}
	copy(p, m.data[addr-100:])
	return nil
}

func (m *memory) WriteMemory(addr uint64, p []byte) error {
	if m.fail != nil {
		return m.fail
	}
	copy(m.data[addr-100:], p)
	return nil
}

type at uint64

func (a at) Address() uint64 { return uint64(a) }
func (at) Sync() error       { return nil }
func (at) Recount(int)       {}
func (at) Strategy() string  { return "" }

// marks are armed probes on marks at address 16, with a semaphore each.
func marks(t *testing.T, semaphores ...uint64) *retprobe.Point {
	t.Helper()
	p := &retprobe.Point{At: at(16)}
	for _, s := range semaphores {
		pr, err := registry.New(registry.Spec{Specs: []place.Spec{{}}, Compile: func(registry.PlaceInfo) (h registry.Handlers, err error) { return h, nil }}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Enters = append(p.Enters, &registry.Placement{Probe: pr, Target: place.Target{Mark: &module.Mark{PC: 6, Semaphore: s}}})
	}
	return p
}

// TestCounts: a semaphore counts armed probes on top of what others added, at the address that the file's mark has in
// memory.
func TestCounts(t *testing.T) {
	m := &memory{data: [4]byte{5, 0, 0xff, 0}}
	var c Counts
	p := marks(t, 90, 90, 92, 0)
	check := func(want ...byte) {
		t.Helper()
		if !slices.Equal(m.data[:], want) {
			t.Errorf("memory %v, not %v", m.data, want)
		}
	}
	points := slices.Values([]*retprobe.Point{p})
	if err := c.Sync(m, points); err != nil {
		t.Fatal(err)
	}
	check(7, 0, 0, 1)
	c.Sync(m, points)
	check(7, 0, 0, 1)
	child := c.Clone()
	p.Enters[0].Probe.Enabled = false
	c.Sync(m, points)
	check(6, 0, 0, 1)
	c.Clear(m)
	check(5, 0, 0xff, 0)
	if child.Clear(m); m.data[0] != 3 {
		t.Errorf("the copy took back %d", 5-m.data[0])
	}
}

// TestFailures: a memory that cannot be written is an error, which may pass; one that no longer exists is not.
func TestFailures(t *testing.T) {
	m := &memory{fail: errUnmapped}
	var c Counts
	points := slices.Values([]*retprobe.Point{marks(t, 90)})
	if err := c.Sync(m, points); !errors.Is(err, errUnmapped) {
		t.Errorf("%v", err)
	}
	m.fail = nil
	if err := c.Sync(m, points); err != nil || m.data[0] != 1 {
		t.Errorf("%v; %d", err, m.data[0])
	}
	m.gone = true
	if err := c.Clear(m); err != nil {
		t.Errorf("memory that no longer exists: %v", err)
	}
}
