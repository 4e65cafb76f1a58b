package sampling

import (
	"errors"
	"iter"
	"testing"
	"time"

	"gotap/arch"
	"gotap/engine/abi"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/syscallprobe"
)

// host is a session whose time passes when the test calls what it was asked to call later.
type host struct {
	later   []func()
	waits   []time.Duration
	resting bool
	ended   bool
	looked  int
}

func (h *host) Conventions() []syscallprobe.Convention {
	return []syscallprobe.Convention{{Regs: abi.Host()[0].Names}, {Regs: nil}, {Regs: abi.Host()[0].Names}}
}
func (h *host) Info(string, arch.Arch) registry.PlaceInfo { return nil }
func (h *host) Samples() bool                             { return !h.ended }
func (h *host) Resting() bool                             { return h.resting }
func (h *host) After(d time.Duration, fn func()) {
	h.waits, h.later = append(h.waits, d), append(h.later, fn)
}
func (h *host) Threads() iter.Seq[*Thread] {
	h.looked++
	return func(func(*Thread) bool) {}
}

// pass calls what is due.
func (h *host) pass() {
	due := h.later
	h.later = nil
	for _, fn := range due {
		fn()
	}
}

// sampler returns a sampler with the samples of one enabled probe, and how often its program was compiled.
func sampler(t *testing.T, h *host, compile error) (x *Sampler, pr *registry.Probe, compiled *int, err error) {
	t.Helper()
	compiled = new(int)
	pr = &registry.Probe{Enabled: true}
	pr.Spec.Compile = func(registry.PlaceInfo) (registry.Handlers, error) {
		*compiled++
		return registry.Handlers{}, compile
	}
	x = &Sampler{}
	x.Init(h)
	return x, pr, compiled, x.Add(pr, place.Spec{Kind: place.Sample, Period: 10 * time.Millisecond, Wall: true})
}

// TestSamplerLooks: threads are looked at once in a period while the probe is enabled, and not while probes rest; those
// looks are counted.
func TestSamplerLooks(t *testing.T) {
	h := &host{}
	x, pr, compiled, err := sampler(t, h, nil)
	if err != nil || *compiled != 2 || x.Count(pr) != 1 { // once for each set of registers
		t.Fatalf("compiled %d times: %v", *compiled, err)
	}
	x.Sync()
	x.Sync() // it waits already
	if len(h.later) != 1 || h.waits[0] <= 0 || h.waits[0] > 10*time.Millisecond {
		t.Fatalf("waits %v", h.waits)
	}
	h.pass()
	if h.looked != 1 || len(h.later) != 1 {
		t.Errorf("%d looks, %d to come", h.looked, len(h.later))
	}
	skipped := pr.Samples.Skipped
	h.resting = true
	if h.pass(); h.looked != 1 || pr.Samples.Skipped <= skipped {
		t.Errorf("%d looks while probes rest, %d skipped", h.looked, pr.Samples.Skipped)
	}
	h.resting, h.ended = false, true
	if h.pass(); h.looked != 1 || len(h.later) != 0 {
		t.Errorf("%d looks at the end, %d to come", h.looked, len(h.later))
	}
	if x.Drop(pr); x.Count(pr) != 0 {
		t.Error("the samples are still there")
	}
}

// TestSamplerRefuses: a program that cannot be compiled is not sampled.
func TestSamplerRefuses(t *testing.T) {
	fails := errors.New("cannot compile")
	if x, pr, _, err := sampler(t, &host{}, fails); !errors.Is(err, fails) || x.Count(pr) != 0 {
		t.Errorf("%v, %d samples", err, x.Count(pr))
	}
}
