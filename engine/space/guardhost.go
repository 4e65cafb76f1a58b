package space

import (
	"iter"
	"slices"

	"gotap/engine/abi"
	"gotap/engine/crashsafe"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry/retprobe"
)

// guardHost is an address space as package crashsafe sees it: it implements crashsafe.Memory.
type guardHost struct {
	c  *Patcher
	sp *Space
}

// Memory implements crashsafe.Memory.
func (h guardHost) Memory() *ptrace.Memory { return h.sp.Mem }

// ABI implements crashsafe.Memory.
func (h guardHost) ABI() *abi.ABI { return h.sp.ABI }

// Users implements crashsafe.Memory.
func (h guardHost) Users() int { return h.sp.Users }

// Modules implements crashsafe.Memory.
func (h guardHost) Modules() []module.Loaded { return h.sp.Modules }

// IsLinked implements crashsafe.Memory.
func (h guardHost) IsLinked() bool {
	return slices.ContainsFunc(h.sp.Modules, func(m module.Loaded) bool { return m.IsLoader() })
}

// PointAt implements crashsafe.Memory.
func (h guardHost) PointAt(addr uint64) *crashsafe.Point {
	if p := h.sp.ByAddr[addr]; p != nil {
		return &p.Guard
	}
	return nil
}

// Prepare implements crashsafe.Memory.
func (h guardHost) Prepare(m *module.Loaded, addr uint64) (d fallback.Displaced, ok bool) {
	p, err := h.c.PointAt(h.sp, addr, m)
	if err != nil {
		return d, false
	}
	return p.displaced(), true
}

// Planted implements crashsafe.Memory.
func (h guardHost) Planted() iter.Seq[fallback.Displaced] {
	return func(yield func(fallback.Displaced) bool) {
		for _, p := range h.sp.ByAddr {
			if p.Planted && !yield(p.displaced()) {
				return
			}
		}
	}
}

// StoppedTid implements crashsafe.Memory.
func (h guardHost) StoppedTid() int { return h.c.on.StoppedTid(h.sp) }

// Hook implements crashsafe.Memory.
func (h guardHost) Hook(m *module.Loaded, vaddr uint64, do crashsafe.Hook) {
	h.c.WatchInternally(h.sp, m, vaddr, func(by retprobe.Target, p *Point) bool {
		if do(h.c.on.Guard(by), &p.Guard) {
			p.Internal = nil
			h.c.Sync(p)
		}
		return false
	})
}
