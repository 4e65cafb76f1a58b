package emulate

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"gotap/arch"
	"gotap/arch/arm64"
)

// memory is what an instruction finds besides registers of the usual kinds. It implements arch.Memory, arm64.System and arm.ThreadPointer.
type memory struct {
	windows
	system []systemValue
}

// systemValue is a system register that was given.
type systemValue struct {
	name  string
	value uint64
}

// systemNames are the registers of ARM that a process reads by MRS or MRC and that only the system knows; they have to be given.
var systemNames = map[string][]string{
	"arm":   {"tpidruro"},
	"thumb": {"tpidruro"},
	"arm64": {"tpidr_el0", "tpidrro_el0", "tpidr2_el0", "ctr_el0", "dczid_el0", "cntfrq_el0", "cntvct_el0", "cntpct_el0"},
}

// value finds a system register; nil when it was not given.
func (m *memory) value(name string) *uint64 {
	for i := range m.system {
		if m.system[i].name == name {
			return &m.system[i].value
		}
	}
	return nil
}

// ReadSystem is part of arm64.System.
func (m *memory) ReadSystem(r arm64.Register) (uint64, error) {
	if v := m.value(r.String()); v != nil {
		return *v, nil
	}
	return 0, &arm64.SystemError{Register: r}
}

// WriteSystem is part of arm64.System.
func (m *memory) WriteSystem(r arm64.Register, v uint64) error {
	p := m.value(r.String())
	if p == nil {
		return &arm64.SystemError{Register: r}
	}
	*p = v
	return nil
}

// MaintainCache has nothing to do: there is no cache.
func (m *memory) MaintainCache(arm64.Operation, uint64) error { return nil }

// ThreadPointer is part of arm.ThreadPointer.
func (m *memory) ThreadPointer() (uint32, error) {
	if v := m.value("tpidruro"); v != nil {
		return uint32(*v), nil
	}
	return 0, errors.New("the value of tpidruro is not known")
}

// lay lays the windows of a line. The instruction lies over them: what the memory at pc holds is the instruction.
func (m *memory) lay(pc uint64, code []byte, texts []memoryText) error {
	m.windows = append(m.windows, window{addr: pc, bytes: code, code: true})
	for _, t := range texts {
		w, err := windowOf(uint64(t.addr), t.hex, uint64(t.len))
		if err != nil {
			return err
		}
		for i := range code {
			if b := w.byteAt(pc + uint64(i)); b != nil {
				*b = code[i]
			}
		}
		w.before = slices.Clone(w.bytes)
		m.windows = append(m.windows, w)
	}
	return nil
}

// window is a piece of memory that an instruction may use.
type window struct {
	addr   uint64
	bytes  []byte
	before []byte
	code   bool // the instruction's own bytes, which can only be read
}

// byteAt finds a byte; nil when it is not in the window.
func (w *window) byteAt(addr uint64) *byte {
	if i := addr - w.addr; i < uint64(len(w.bytes)) {
		return &w.bytes[i]
	}
	return nil
}

// windows are the memory of an emulated instruction: later ones lie over earlier ones. They implement arch.Memory.
type windows []window

// find finds the topmost byte at an address.
func (w windows) find(addr uint64, write bool) *byte {
	for i := len(w) - 1; i >= 0; i-- {
		if b := w[i].byteAt(addr); b != nil && !(write && w[i].code) {
			return b
		}
	}
	return nil
}

// ChecksStack: whether an unaligned stack pointer faults on a 64-bit ARM is a setting of the system, and a state that is described does
// not have it: nothing but memory that is not there faults.
func (w windows) ChecksStack() bool { return false }

func (w windows) ReadMemory(addr uint64, p []byte) error {
	for i := range p {
		b := w.find(addr+uint64(i), false)
		if b == nil {
			return &arch.FaultError{Addr: addr + uint64(i)}
		}
		p[i] = *b
	}
	return nil
}

func (w windows) WriteMemory(addr uint64, p []byte) error {
	for i := range p {
		if w.find(addr+uint64(i), true) == nil {
			return &arch.FaultError{Addr: addr + uint64(i), Write: true}
		}
	}
	for i := range p {
		*w.find(addr+uint64(i), true) = p[i]
	}
	return nil
}

// change is one byte that an instruction changed.
type change struct {
	addr  uint64
	value byte
}

// changes lists the bytes that changed, by address.
func (w windows) changes() (all []change) {
	for i := range w {
		for k, b := range w[i].bytes {
			if !w[i].code && b != w[i].before[k] {
				all = append(all, change{w[i].addr + uint64(k), b})
			}
		}
	}
	slices.SortFunc(all, func(a, b change) int {
		if a.addr < b.addr {
			return -1
		}
		return 1
	})
	return all
}

// appendChanges writes the changed bytes as the member "mem" shows them: a run of neighbours is one entry.
func (w windows) appendChanges(out []byte) []byte {
	all := w.changes()
	out = append(out, '[')
	for i := 0; i < len(all); {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"addr":`...)
		out = strconv.AppendUint(out, all[i].addr, 10)
		out = append(out, `,"hex":"`...)
		n := i
		for ; n < len(all) && all[n].addr == all[i].addr+uint64(n-i); n++ {
			out = hex.AppendEncode(out, []byte{all[n].value})
		}
		out = append(out, `"}`...)
		i = n
	}
	return append(out, ']')
}

// maxWindow is the size of the largest window of zeroes, in bytes.
const maxWindow = 1 << 20

// windowOf makes a window of what a line says of it.
func windowOf(addr uint64, text string, size uint64) (window, error) {
	if size > maxWindow {
		return window{}, fmt.Errorf("a window of %d bytes: at most %d", size, maxWindow)
	}
	b, err := hex.DecodeString(text)
	if err != nil {
		return window{}, fmt.Errorf("memory %q: %w", text, err)
	}
	if text == "" {
		b = make([]byte, size)
	}
	return window{addr: addr, bytes: b}, nil
}
