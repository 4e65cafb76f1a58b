package watchpoint

import (
	"fmt"
	"slices"

	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/engine/linux/debugreg"
	"gotap/engine/locate"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/registry/hit"
	"gotap/runtime"
)

// Watch is one watchpoint of a process.
type Watch struct {
	Placement *registry.Placement
	Addr      uint64
	Spec      place.Spec
	half      bool // an instruction there may be half a word: Thumb code
}

// List is the watchpoints of a process. The index of one is that of its debug register.
type List []*Watch

// Process is what Add needs to know of a process.
type Process struct {
	Places *locate.Locator
	Mods   []module.Loaded // that it maps
	ISA    *isa.ISA
	Info   func(name string) registry.PlaceInfo // for programs at a place that is not code
	// Slots is the number of debug registers; 0: a stub decides what it can watch.
	Slots int
	// Check returns an error if the processor does not report what its debug registers watch. It is used where there
	// are such.
	Check func() error
}

// Add adds a probe at all addresses that a specification names in a process, except where it is already. A
// *place.NotFoundError means that there is none yet.
func (l *List) Add(pr *registry.Probe, spec place.Spec, p Process) error {
	found, err := p.find(pr, spec)
	if err != nil {
		return err
	}
	for _, at := range found {
		if slices.ContainsFunc(*l, func(w *Watch) bool { return w.Placement.Probe == pr && w.Addr == at.addr }) {
			continue
		}
		if err := l.fits(spec, at.addr, p.Slots); err != nil {
			return err
		}
		w, err := p.compile(pr, spec, at)
		if err == nil && p.Slots > 0 {
			err = p.Check()
		}
		if err != nil {
			return err
		}
		*l = append(*l, w)
	}
	return nil
}

// fits returns an error if the processor cannot watch an address besides those that it watches.
func (l List) fits(spec place.Spec, addr uint64, slots int) error {
	switch {
	case slots == 0:
	case spec.Access != place.OnExecute && addr%uint64(spec.Len) != 0:
		return fmt.Errorf("%#x is not a multiple of %d, which the processor asks of a watchpoint", addr, spec.Len)
	case len(l) == slots:
		return fmt.Errorf("all %d debug registers are in use", slots)
	}
	return nil
}

// address is where a target is in a process.
type address struct {
	addr   uint64
	target place.Target
}

// find returns the addresses that a specification names and that the probe does not leave out.
func (p *Process) find(pr *registry.Probe, spec place.Spec) (found []address, err error) {
	if spec.Absolute() {
		return []address{{spec.Addr, place.Target{Name: spec.String()}}}, nil
	}
	targets, err := p.Places.Of(pr, spec, p.Mods)
	for _, t := range targets {
		for i := range p.Mods {
			if m := &p.Mods[i]; m.File == t.File && m.Err == nil && m.Covers(t.Vaddr) {
				found = append(found, address{m.Addr(t.Vaddr), t})
			}
		}
	}
	return found, err
}

// compile compiles a probe for an address.
func (p *Process) compile(pr *registry.Probe, spec place.Spec, at address) (*Watch, error) {
	code, err := pr.Spec.Compile(p.Info(spec.String()))
	if err == nil {
		err = code.Fits(spec)
	}
	if err != nil {
		return nil, err
	}
	pl := &registry.Placement{Probe: pr, Target: at.target, Code: code, Func: at.target.Symbol, Data: spec.Access != place.OnExecute}
	if f := at.target.File; f != nil {
		pl.Module = f.Path
	}
	set := p.ISA.SetAt(module.Find(p.Mods, at.addr), at.addr)
	return &Watch{pl, at.addr, spec, set != nil && set.Name() == "thumb"}, nil
}

// Drop removes the watchpoints of a probe, and returns them.
func (l *List) Drop(pr *registry.Probe) (dropped []*Watch) {
	*l = slices.DeleteFunc(*l, func(w *Watch) bool {
		if w.Placement.Probe == pr {
			dropped = append(dropped, w)
		}
		return w.Placement.Probe == pr
	})
	return dropped
}

// Count returns the number of a probe's watchpoints.
func (l List) Count(pr *registry.Probe) (n int) {
	for _, w := range l {
		if w.Placement.Probe == pr {
			n++
		}
	}
	return n
}

// Of returns the watchpoints for one kind of access: bit i is watch i. The debug unit of ARM reports the address of an
// access but not its kind, and watchpoints of another kind may watch the same data.
func (l List) Of(kind place.Access) (set uint64) {
	for i, w := range l {
		if w.Spec.Access == kind {
			set |= 1 << i
		}
	}
	return set
}

// Touched returns the watchpoints on data that an access to n bytes at an address hits: bit i is watch i.
func (l List) Touched(addr uint64, n int, write bool) (set uint64) {
	for i, w := range l {
		kind := w.Spec.Access == place.OnReadWrite || write && w.Spec.Access == place.OnWrite
		if kind && w.overlaps(addr, n) {
			set |= 1 << i
		}
	}
	return set
}

// overlaps reports whether n bytes at an address have bytes in common with those watched.
func (w *Watch) overlaps(addr uint64, n int) bool {
	return addr < w.Addr+uint64(w.Spec.Len) && w.Addr < addr+uint64(n)
}

// longest is the most bytes that one instruction is taken to access.
const longest = 8

// Reaches reports whether an access that is known by its address alone may hit the watchpoint.
func (w *Watch) Reaches(addr uint64) bool { return w.overlaps(addr, longest) }

// Run runs the programs of the watchpoints in a bit set, in which bit i is watch i, as part of the present hit.
func (l List) Run(h *hit.Hit, met uint64) {
	for i, w := range l {
		if met>>i&1 == 1 {
			w.run(h)
		}
	}
}

// run runs the programs of a watchpoint whose access has been made: nothing comes after it, so both programs run now.
func (w *Watch) run(h *hit.Hit) {
	pl := w.Placement
	if !pl.Probe.Armed() || !h.Wanted(pl) || !h.Admit(pl.Probe) {
		return
	}
	this := h.Alloc(pl)
	for _, code := range []*runtime.Code{pl.Code.Enter, pl.Code.Post} {
		if code == nil {
			continue
		}
		owned := code == pl.Code.Post || pl.Code.Post == nil // the last run frees the storage
		h.Start(pl, code, this, 0, owned).Leave = true       // no programs run after it
	}
}

// slot returns the watchpoint in the form for the debug registers.
func (w *Watch) slot() debugreg.Watch {
	return debugreg.Watch{Addr: w.Addr, Len: w.Spec.Len, Access: w.Spec.Access, Half: w.half}
}
