package main

import (
	"fmt"
	"sort"
	"sync"

	"gotap/engine"
	"gotap/runtime"
)

// What programs do to their targets, with --unsafe, is told: each time, up to a number for each place of a script unless -v is
// given, and then how often it was.

// toldChanges is how many changes by one place of a script are told one by one.
const toldChanges = 10

// deeds counts what programs have done, by the operation that did it.
type deeds struct {
	mu    sync.Mutex // guards count: the engine's thread adds, the run's end reads
	count map[doer]uint64
}

// doer is an operation of a program.
type doer struct{ program, pc uint32 }

// add counts a change; it returns how many there were by the same operation, this one included.
func (d *deeds) add(by doer) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.count == nil {
		d.count = map[doer]uint64{}
	}
	d.count[by]++
	return d.count[by]
}

// changed is called by the engine, on its thread, for every change of a target.
func (r *run) changed(c engine.Change) {
	if n := r.deeds.add(doer{c.Program, c.PC}); n <= toldChanges || r.plan.verbose {
		r.notices.post(func() { r.note("%s: %s (thread %d)", r.placeOf(c.Program, c.PC), changeText(c), c.Tid) })
	}
}

// changeText is a change in words.
func changeText(c engine.Change) string {
	switch c.Op {
	case runtime.OpPopR:
		return fmt.Sprintf("register set to %#x", c.Value)
	case runtime.OpSetRet:
		return fmt.Sprintf("result set to %#x", c.Value)
	case runtime.OpSkip:
		return fmt.Sprintf("function skipped, with result %#x", c.Value)
	case runtime.OpSignal:
		return fmt.Sprintf("signal %d sent", c.Value)
	}
	return fmt.Sprintf("%s written at %#x", bytesText(c.Size), c.Addr)
}

func bytesText(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// tellChanges tells how many changes were not told one by one.
func (r *run) tellChanges() {
	if r.plan.verbose {
		return
	}
	r.deeds.mu.Lock()
	defer r.deeds.mu.Unlock()
	var list []string
	for by, n := range r.deeds.count {
		if n > toldChanges {
			list = append(list, fmt.Sprintf("%s: changed its target %d times more", r.placeOf(by.program, by.pc), n-toldChanges))
		}
	}
	sort.Slice(list, func(i, j int) bool { return natural(list[i], list[j]) })
	for _, text := range list {
		r.note("%s", text)
	}
}

// placeOf is where an operation of a program stands: in its text, where that is known.
func (r *run) placeOf(program, pc uint32) string {
	info, _ := r.arena.Program(program)
	if info.Where != nil {
		return info.Where(pc)
	}
	return info.Name
}
