package inject

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	"gotap/engine/image/module"
	"gotap/engine/linux/procfs"
)

// Near reports whether two addresses are closer to each other than reach.
func Near(a, b, reach uint64) bool { return distance(a, b) < reach }

// NoRoomError reports that no memory can be mapped near an address.
type NoRoomError struct {
	Addr  uint64
	Cause error // the kernel's refusal; nil if no gap is large enough
}

// Error implements error.
func (e NoRoomError) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("nothing near %#x: %v", e.Addr, e.Cause)
	}
	return fmt.Sprintf("cannot map memory near %#x", e.Addr)
}

// Unwrap returns the kernel's refusal.
func (e NoRoomError) Unwrap() error { return e.Cause }

// MapNear maps memory in the gap of the address space nearest to an address. Its start is closer to the address than
// reach. The error is a NoRoomError if the process has no such memory, and wraps ErrNotNow if the thread cannot map any
// at this moment.
func (j *Caller) MapNear(addr, size, reach uint64) (uint64, error) {
	if err := j.ready(); err != nil {
		return 0, err
	}
	maps, err := module.Maps(j.t.Tid)
	if err != nil {
		return 0, notNow(err)
	}
	brk := procfs.HeapStart(j.t.Of.Pid())
	var last error
	for tries := 0; tries < 4; tries++ {
		at := gapNear(maps, brk, addr, size, reach)
		if at == 0 {
			break
		}
		got, err := j.Map(at, size)
		if err == nil && Near(got, addr, reach) {
			return got, nil
		}
		if err != nil && !refused(err) {
			return 0, notNow(err)
		}
		last = err
		maps = append(maps, module.Mapping{Start: at, End: at + size}) // the kernel refuses this range
		slices.SortFunc(maps, func(a, b module.Mapping) int { return cmp.Compare(a.Start, b.Start) })
	}
	return 0, NoRoomError{addr, last}
}

// refused reports whether an error of a call is what the kernel returned to the thread.
func refused(err error) bool {
	var e syscall.Errno
	return errors.As(err, &e) && e != syscall.ESRCH
}

// notNow wraps ErrNotNow around the error of a thread that has ended: another one of its address space may map memory.
func notNow(err error) error {
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrNotNow, err)
	}
	return err
}

// apart is how far memory in a gap stays from the mapping below it, which may grow, and aboveHeap how far it stays from
// the heap: where the heap cannot grow, brk fails, and programs notice.
const (
	apart     = 1 << 20
	aboveHeap = 1 << 29
)

// gapNear returns the address of the nearest gap to addr between mappings, which are sorted by address; 0 if there
// is none within reach. The first pages of the address space are not used, nor is the room below the stack, which
// grows. The room above the heap, which begins at brk, is the last choice.
func gapNear(maps []module.Mapping, brk, addr, size, reach uint64) uint64 {
	const lowest = 1 << 20
	best, last, from := uint64(0), uint64(0), uint64(lowest)
	consider := func(at uint64) {
		if Near(at, addr, reach) && (best == 0 || distance(at, addr) < distance(best, addr)) {
			best = at
		}
	}
	within := func(from, to uint64) {
		if to > from && to-from >= size {
			consider(to - size)
			if from > lowest && to-from > apart+size {
				consider(from + apart)
			}
		}
	}
	above := func(heap, to uint64) {
		if to > heap && to-heap >= aboveHeap+size { // at the other end, where libraries are loaded
			consider(to - size)
		}
		for _, far := range []uint64{aboveHeap, apart} {
			if at := heap + far; last == 0 && to > at && to-at >= size && Near(at, addr, reach) {
				last = at
			}
		}
	}
	isHeap := false
	for _, m := range maps {
		to := m.Start
		if m.Path == "[stack]" {
			to -= min(to, 1<<30)
		}
		switch {
		case isHeap:
			above(from, to)
		case brk >= from && brk < to: // it has none yet
			within(from, brk)
			above(brk, to)
		default:
			within(from, to)
		}
		from, isHeap = max(from, m.End), m.Path == "[heap]"
	}
	return cmp.Or(best, last)
}

func distance(a, b uint64) uint64 {
	if a > b {
		return a - b
	}
	return b - a
}
