package engine

import (
	"gotap/engine/emulation"
	"gotap/engine/space"
	"gotap/engine/stepping"
)

// traced are the threads and processes that a session traces.
type traced struct {
	threads map[int]*thread
	procs   map[int]*process
	tickets map[uint32]*thread // held threads
}

// probed returns the processes that have probes, in no order.
func (t *traced) probed() (all []*process) {
	for _, p := range t.procs {
		if !p.unprobed {
			all = append(all, p)
		}
	}
	return all
}

// spaces returns the set of address spaces that exist.
func (t *traced) spaces() map[*space.Space]bool {
	all := map[*space.Space]bool{}
	for _, p := range t.procs {
		all[p.space] = true
	}
	return all
}

// processor is what the processor of this machine gives threads besides registers.
type processor struct {
	keys    *emulation.Keys // nil: it has no protection keys
	shadows stepping.Shadows
}
