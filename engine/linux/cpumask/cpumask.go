package cpumask

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"gotap/engine/linux/procfs"
)

// Mask is a set of CPUs: bit i of word j is CPU 64*j+i. All masks of a machine have the same length.
type Mask []uint64

// Of returns the CPUs that a thread may run on; ok is false if the thread does not exist.
func Of(tid int) (m Mask, ok bool) { return Parse(procfs.Status(tid, "Cpus_allowed")) }

// Parse parses a mask as the kernel prints it: words of 32 bits in hexadecimal, the highest first.
func Parse(text string) (m Mask, ok bool) {
	words := strings.Split(text, ",")
	m = make(Mask, (len(words)+1)/2)
	for i, word := range words {
		v, err := strconv.ParseUint(word, 16, 32)
		if err != nil {
			return nil, false
		}
		at := len(words) - 1 - i
		m[at/2] |= v << (32 * (at % 2))
	}
	return m, true
}

// FromBytes returns the mask whose Bytes are p.
func FromBytes(p []byte) Mask {
	m := make(Mask, len(p)/8)
	for i := range m {
		m[i] = binary.LittleEndian.Uint64(p[8*i:])
	}
	return m
}

// Bytes returns the mask as system calls take it.
func (m Mask) Bytes() []byte {
	p := make([]byte, 0, 8*len(m))
	for _, word := range m {
		p = binary.LittleEndian.AppendUint64(p, word)
	}
	return p
}

// Only returns a mask of the same length with a single CPU.
func (m Mask) Only(cpu int) Mask {
	one := make(Mask, len(m))
	if cpu >= 0 && cpu/64 < len(one) {
		one[cpu/64] = 1 << (cpu % 64)
	}
	return one
}

// all returns a mask of the same length with all CPUs.
func (m Mask) all() Mask {
	all := make(Mask, len(m))
	for i := range all {
		all[i] = ^uint64(0)
	}
	return all
}

// Has reports whether a CPU is in the mask.
func (m Mask) Has(cpu int) bool { return cpu >= 0 && cpu/64 < len(m) && m[cpu/64]>>(cpu%64)&1 != 0 }

// Count returns the number of CPUs.
func (m Mask) Count() (n int) {
	for _, word := range m {
		n += bits.OnesCount64(word)
	}
	return n
}

// Equal reports whether two masks are the same.
func (m Mask) Equal(other Mask) bool { return slices.Equal(m, other) }

// String returns the mask as a list of CPUs: "0-3,8".
func (m Mask) String() string {
	var list []string
	for cpu := 0; cpu < 64*len(m); cpu++ {
		if !m.Has(cpu) {
			continue
		}
		first := cpu
		for m.Has(cpu + 1) {
			cpu++
		}
		if cpu == first {
			list = append(list, strconv.Itoa(cpu))
		} else {
			list = append(list, fmt.Sprintf("%d-%d", first, cpu))
		}
	}
	return strings.Join(list, ",")
}

// Neutral returns the mask that has to be set to bring a thread back to its present state: all CPUs if the thread may
// run on all CPUs of its cpuset, otherwise its present mask. It sets the mask that it returns.
func Neutral(tid int, now Mask) (Mask, error) {
	if err := Set(tid, now.all()); err != nil {
		return nil, err
	}
	if after, ok := Of(tid); ok && after.Equal(now) {
		return now.all(), nil
	}
	return now, Set(tid, now)
}

// Replace sets the mask to for every thread of a process that has the mask from. It returns the number of these
// threads.
func Replace(pid int, from, to Mask) (n int, err error) {
	for _, tid := range procfs.Threads(pid) {
		now, ok := Of(tid)
		if !ok || !now.Equal(from) {
			continue
		}
		if e := Set(tid, to); e != nil && err == nil {
			err = e
			continue
		}
		n++
	}
	return n, err
}
