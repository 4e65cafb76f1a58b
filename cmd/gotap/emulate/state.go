package emulate

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gotap/arch"
)

// emulation is one instruction with its state.
type emulation struct {
	code    []byte
	pc      uint64
	regs    arch.Regs
	vectors arch.Vectors
	before  arch.Vectors
	given   bool     // vector registers were given
	outer   bool     // the status register is to be printed as "cpsr"
	others  []string // names of registers that were given and are not among those of instructionSet
	mem     memory
}

// read takes a state from a line.
func (e *emulation) read(set *instructionSet, line []byte) error {
	l, err := readLine(line)
	if err != nil {
		return err
	}
	code, err := hex.DecodeString(l.hex)
	if err != nil {
		return fmt.Errorf("hex: %w", err)
	}
	*e = emulation{code: code, regs: set.start, outer: set.outer || l.cpsr != nil, mem: memory{windows: e.mem.windows}}
	e.setStatus(set, l.cpsr)
	for _, r := range l.regs {
		if err := e.set(set, r.name, r.value); err != nil {
			return err
		}
	}
	if set.outer {
		e.setStatus(set, l.cpsr)
	}
	if l.pc != nil {
		e.regs[set.PC()] = uint64(*l.pc)
	}
	if e.pc, err = set.instructionAddress(e.regs[set.PC()]); err != nil {
		return err
	}
	e.regs[set.PC()], e.before = e.pc, e.vectors
	return e.mem.lay(e.pc, e.code, l.mem)
}

// instructionAddress is where the instruction of a program counter lies: a pointer to Thumb code may have its lowest
// bit set.
func (s *instructionSet) instructionAddress(pc uint64) (uint64, error) {
	pc = s.address(pc)
	if s.set == thumbState {
		pc &^= 1
	}
	if s.align != 0 && pc%s.align != 0 {
		return 0, fmt.Errorf("pc: %d is not a multiple of %d", pc, s.align)
	}
	return pc, nil
}

// address returns an address as wide as the machine has them: what lies beyond the last begins at 0.
func (s *instructionSet) address(a uint64) uint64 { return a & (^uint64(0) >> (64 - 8*s.WordSize())) }

// setStatus sets the status register, with the bits for the instruction set that `--arch` names.
func (e *emulation) setStatus(set *instructionSet, v *number) {
	i, mask, shift, _ := set.register(set.status)
	if v != nil {
		e.regs[i] = uint64(*v) & mask << shift
	}
	e.regs[i] = e.regs[i]&^set.clear | set.set
}

// set sets one register.
func (e *emulation) set(set *instructionSet, name, text string) error {
	if isVector, err := e.setVector(set, name, text); isVector || err != nil {
		return err
	}
	var v number
	if err := v.parse(text); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if slices.Contains(systemNames[set.Name()], name) {
		e.mem.system = append(e.mem.system, systemValue{name, uint64(v)})
		return nil
	}
	i, mask, shift, ok := set.register(name)
	if !ok {
		return fmt.Errorf("%s has no register %q", set.Name(), name)
	}
	e.regs[i] = e.regs[i]&^(mask<<shift) | uint64(v)&mask<<shift
	if !slices.Contains(set.names, name) {
		e.others = append(e.others, name)
	}
	return nil
}

// register finds a register: index, bits of it, and where they are. The flags of arm64 stay where the processor shows
// them, unless the lines have them as numbers of four bits.
func (s *instructionSet) register(name string) (index int, mask uint64, shift int, ok bool) {
	index, bits, shift, ok := s.RegIndex(name)
	if mask = ^uint64(0) >> (64 - bits); name == "nzcv" && s.flags != fourBits {
		mask, shift = mask<<shift, 0
	}
	return index, mask, shift, ok
}

// controls are the control registers of the vector units.
var controls = map[string]func(*arch.Vectors) *uint64{
	"fpscr": func(v *arch.Vectors) *uint64 { return &v.Control },
	"fpcr":  func(v *arch.Vectors) *uint64 { return &v.Control },
	"fpsr":  func(v *arch.Vectors) *uint64 { return &v.Status },
}

// setVector sets a register of the vector unit, if the name is one.
func (e *emulation) setVector(set *instructionSet, name, text string) (bool, error) {
	if c := controls[name]; c != nil && set.vectorLetter() != 0 {
		e.given = true
		return true, (*number)(c(&e.vectors)).parse(text)
	}
	n, ok := set.vectorNumber(name)
	if !ok {
		return false, nil
	}
	digits := strings.Trim(text, `"`)
	b, err := hex.DecodeString(digits)
	if size := set.vectorSize(); err != nil || len(b) != size {
		return true, fmt.Errorf("%s: %q is not the hexadecimal form of %d bytes", name, digits, size)
	}
	e.given = true
	if set.vectorLetter() == 'd' {
		e.vectors.V[n/2][n%2] = binary.LittleEndian.Uint64(b)
	} else {
		e.vectors.V[n] = [2]uint64{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
	}
	return true, nil
}

// vectorLetter returns the first letter of the names of the vector registers; 0 when there are none.
func (s *instructionSet) vectorLetter() byte {
	switch s.Name() {
	case "arm", "thumb":
		return 'd'
	case "arm64":
		return 'v'
	}
	return 0
}

func (s *instructionSet) vectorSize() int {
	if s.vectorLetter() == 'd' {
		return 8
	}
	return 16
}

// vectorNumber returns the number in the name of a vector register.
func (s *instructionSet) vectorNumber(name string) (int, bool) {
	if len(name) < 2 || name[0] != s.vectorLetter() {
		return 0, false
	}
	n, err := strconv.Atoi(name[1:])
	return n, err == nil && n >= 0 && n < 32
}

// state returns the line that describes a state.
func (e *emulation) state(set *instructionSet) []byte {
	out := append(make([]byte, 0, 512), `{"pc":`...)
	out = strconv.AppendUint(out, e.regs[set.PC()], 10)
	out = append(out, `,"regs":{`...)
	for i, name := range set.names {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendMember(out, name, e.value(set, name))
	}
	for _, name := range e.others {
		out = appendMember(append(out, ','), name, e.value(set, name))
	}
	if e.given || e.vectors != e.before {
		out = e.appendVectors(out, set)
	}
	for _, v := range e.mem.system {
		out = appendMember(append(out, ','), v.name, v.value)
	}
	out = append(out, '}')
	if e.outer {
		out = appendMember(append(out, ','), "cpsr", e.value(set, set.status))
	}
	out = append(out, `,"mem":`...)
	return append(e.mem.appendChanges(out), '}', '\n')
}

func (e *emulation) value(set *instructionSet, name string) uint64 {
	i, mask, shift, _ := set.register(name)
	return e.regs[i] >> shift & mask
}

func appendMember(out []byte, name string, v uint64) []byte {
	out = append(append(append(out, '"'), name...), `":`...)
	return strconv.AppendUint(out, v, 10)
}

// appendVectors writes the vector registers that are not zero, or were not.
func (e *emulation) appendVectors(out []byte, set *instructionSet) []byte {
	size := set.vectorSize()
	for n := range 32 {
		var b [16]byte
		now, was := e.vectors.V[n], e.before.V[n]
		if size == 8 {
			now, was = [2]uint64{e.vectors.V[n/2][n%2]}, [2]uint64{e.before.V[n/2][n%2]}
		}
		if now == ([2]uint64{}) && was == now {
			continue
		}
		binary.LittleEndian.PutUint64(b[:], now[0])
		binary.LittleEndian.PutUint64(b[8:], now[1])
		out = fmt.Appendf(out, `,"%c%d":"%x"`, set.vectorLetter(), n, b[:size])
	}
	for _, name := range slices.Sorted(maps.Keys(controls)) {
		if (name == "fpscr") == (set.vectorLetter() == 'd') {
			out = appendMember(append(out, ','), name, *controls[name](&e.vectors))
		}
	}
	return out
}
