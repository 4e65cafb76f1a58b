package semaphore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"

	"gotap/engine/backend"
	"gotap/engine/registry/retprobe"
)

// Memory is the memory in which semaphores are.
type Memory interface {
	ReadMemory(addr uint64, p []byte) error
	WriteMemory(addr uint64, p []byte) error
}

// Counts is how far a session has raised the semaphores of one address space. The zero value is: not at all.
type Counts struct{ raised map[uint64]int }

// Clone returns the counts of a memory that is a copy.
func (c *Counts) Clone() Counts { return Counts{maps.Clone(c.raised)} }

// Sync makes the semaphores count the armed probes on their marks. points are those of the address space; without any,
// what was added is taken back. Memory that no longer exists is not an error.
func (c *Counts) Sync(m Memory, points iter.Seq[*retprobe.Point]) (all error) {
	want := wanted(points)
	for addr := range c.raised {
		want[addr] += 0 // those that no probe needs any more
	}
	for addr, n := range want {
		all = errors.Join(all, c.set(m, addr, n))
	}
	return all
}

// Clear takes back what was added.
func (c *Counts) Clear(m Memory) error { return c.Sync(m, func(func(*retprobe.Point) bool) {}) }

// wanted counts the armed probes on marks, by the address of the semaphore.
func wanted(points iter.Seq[*retprobe.Point]) map[uint64]int {
	want := map[uint64]int{}
	for p := range points {
		for _, pl := range p.Enters {
			if m := pl.Target.Mark; m != nil && m.Semaphore != 0 && pl.Probe.Armed() {
				want[p.At.Address()-m.PC+m.Semaphore]++
			}
		}
	}
	return want
}

// set makes this session's part of a semaphore n.
func (c *Counts) set(m Memory, addr uint64, n int) error {
	d := n - c.raised[addr]
	if d == 0 {
		return nil
	}
	err := add(m, addr, d)
	if errors.Is(err, backend.ErrGone) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot change the semaphore at %#x: %w", addr, err)
	}
	if c.raised == nil {
		c.raised = map[uint64]int{}
	}
	c.raised[addr] = n
	return nil
}

// add adds to a semaphore.
func add(m Memory, addr uint64, d int) error {
	var v [2]byte
	if m.ReadMemory(addr, v[:]) != nil {
		return backend.ErrGone
	}
	binary.LittleEndian.PutUint16(v[:], binary.LittleEndian.Uint16(v[:])+uint16(d))
	err := m.WriteMemory(addr, v[:])
	if err != nil && m.ReadMemory(addr, v[:]) != nil { // its process was killed in between
		return backend.ErrGone
	}
	return err
}
