package arm

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"gotap/arch"
)

// TestHarness executes one addition with the emulator and the processor.
func TestHarness(t *testing.T) {
	s := newState(false, binary.LittleEndian.AppendUint32(nil, 0xe0810002))
	s.regs[1], s.regs[2] = 40, 2
	if executed, _, _ := checkStates(t, []state{s}); executed != 1 {
		t.Errorf("executed %d of 1", executed)
	}
}

// table is an index as the tests use it: the rows of one instruction set.
type table struct {
	name  string
	thumb bool
	bits  int // of an instruction
	rows  []*row
}

// coreTables returns the rows of everything but the vector unit.
func coreTables() []table {
	return []table{
		{"A32", false, 32, rowsIn(a32())}, {"A32 unconditional", false, 32, rowsIn(a32Always())},
		{"Thumb 16", true, 16, rowsIn(thumb16())}, {"Thumb 32", true, 32, rowsIn(thumb32())},
	}
}

// rowsIn returns each row of an index once.
func rowsIn(x *index) (out []*row) {
	seen := map[*row]bool{}
	for _, bucket := range x.buckets {
		for _, r := range bucket {
			if !seen[r] {
				seen[r] = true
				out = append(out, r)
			}
		}
	}
	return out
}

// generator makes random states.
type generator struct{ *rand.Rand }

// edges are values at which arithmetic changes its behaviour.
var edges = []uint32{0, 1, 2, 3, 31, 32, 33, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0x80000001,
	0xfffffffe, 0xffffffff, 0x00010000, 0xffff8000, 0x80008000, 0x7fff7fff, 0x01ff, 0x80ff7f00}

// value returns a register value: an edge, an address in the arena, an address of code, or any number.
func (g generator) value() uint32 {
	switch g.IntN(8) {
	case 0, 1:
		return edges[g.IntN(len(edges))]
	case 2, 3:
		return arena + 0x1000 + g.Uint32N(0x2000)
	case 4:
		return arena + 0x1000 + g.Uint32N(0x2000)&^7
	case 5:
		if g.IntN(2) == 0 {
			return codeA32 + 0x1800 + g.Uint32N(0x400)&^3
		}
		return codeT32 + 0x1800 + g.Uint32N(0x400) | 1
	}
	return g.Uint32()
}

// word returns an encoding of a row, mostly one that is not unpredictable.
func (g generator) word(r *row, bits int) (w uint32) {
	for range 20 {
		if w = g.anyWord(r, bits); r.unpredictableReason(w) == "" {
			break
		}
	}
	return w
}

// anyWord returns any encoding of a row, in which most fixed bits are right.
func (g generator) anyWord(r *row, bits int) uint32 {
	w := g.Uint32()
	if g.IntN(16) != 0 {
		w = w&^r.shouldMask | r.shouldBe
	}
	w = w&^r.mask | r.value
	if bits == 16 {
		w &= 0xffff
	}
	return w
}

// conditional gives most A32 instructions the condition "always".
func (g generator) conditional(w uint32, r *row) uint32 {
	if r.mask>>28 == 15 {
		return w
	}
	cond := uint32(14)
	if g.IntN(4) == 0 {
		cond = g.Uint32N(15)
	}
	return w&^(15<<28) | cond<<28
}

// encode returns the bytes of an instruction in memory.
func encode(w uint32, thumb bool, bits int) []byte {
	switch {
	case bits == 16:
		return binary.LittleEndian.AppendUint16(nil, uint16(w))
	case thumb:
		return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, uint16(w>>16)), uint16(w))
	}
	return binary.LittleEndian.AppendUint32(nil, w)
}

// randomIT returns an ITSTATE, mostly that of the last instruction of a block, with a condition that a block may
// have.
func (g generator) randomIT() uint32 {
	cond := g.Uint32N(15)
	if g.IntN(2) == 0 || cond == 14 {
		return cond<<4 | 8
	}
	return cond<<4 | (g.Uint32N(15) + 1)
}

// state returns a random state for an instruction.
func (g generator) state(code []byte, thumb bool) state {
	s := newState(thumb, code)
	for i := range 15 {
		s.regs[i] = uint64(g.value())
	}
	s.regs[regCPSR] |= uint64(g.Uint32() & (0xf8000000 | maskGE))
	if thumb && g.IntN(3) == 0 {
		s.regs[regCPSR] = uint64(withIT(uint32(s.regs[regCPSR]), g.randomIT()))
	}
	return s
}

// steer turns registers that an instruction uses as bases into addresses, because most states would fault
// otherwise.
func (g generator) steer(s *state, w uint32, bits int) {
	if g.IntN(10) == 0 {
		return
	}
	base, offset := field(w, 16, 4), w&15
	if bits == 16 {
		base, offset = low3(w, 3), low3(w, 6)
		if w>>14 == 3 {
			base = low3(w, 8)
		}
	}
	if s.in().row.class == Ordinary && !memoryRow(s.in().row) {
		return
	}
	if offset != 15 && g.IntN(4) != 0 {
		s.regs[offset] = uint64(g.Uint32N(64))
	}
	addr := arena + 0x1400 + g.Uint32N(0x1000)
	if g.IntN(4) != 0 {
		addr &^= 7
	}
	if g.IntN(16) == 0 { // addresses behind the arena
		addr = arena + arenaSize - g.Uint32N(64)
	}
	if base != 15 {
		s.regs[base] = uint64(addr)
	}
	s.regs[regSP] = arena + 0x1400 + uint64(g.Uint32N(0x1000)&^3)
	s.windows = append(s.windows, g.targets(uint32(s.regs[base])))
}

// targets returns memory around an address with addresses to branch to, for instructions that load r15.
func (g generator) targets(addr uint32) window {
	data := make([]byte, 256)
	for i := 0; i < len(data); i += 4 {
		binary.LittleEndian.PutUint32(data[i:], g.value())
	}
	return window{min(max(addr&^3, arena+0x400), arena+arenaSize-0x400) - 128, data}
}

// in returns the decoded instruction of a state.
func (s *state) in() *inst {
	in, err := s.isa().Decode(s.code, s.regs[regPC])
	if err != nil {
		return &inst{row: &row{}}
	}
	return in.Op.(*inst)
}

// memoryRow guesses from its name whether a row accesses memory.
func memoryRow(r *row) bool {
	for _, prefix := range []string{"LD", "ST", "SW", "PO", "PU", "TB"} {
		if len(r.name) > 2 && r.name[:2] == prefix {
			return true
		}
	}
	return false
}

// unfit reports states for which the harness gives no valid result: the instruction branches to itself, or into
// code of the other instruction set, where the harness has no traps, or it accesses memory that the harness may use
// itself.
func (g generator) unfit(s *state, m *sandbox) bool {
	a, err := m.emulate(s)
	var fault *arch.FaultError
	if errors.As(err, &fault) {
		return m.strays(s)
	}
	for addr := range a.diffs {
		if addr < arena {
			return true
		}
	}
	if err != nil {
		return true // refused: the processor may do anything, even damage the harness
	}
	pc, thumb := uint32(a.regs[regPC]), a.regs[regCPSR]&flagT != 0
	switch {
	case inHarness(uint32(a.regs[regSP])): // the next frame would overwrite data in its signal stack
		return true
	case pc == uint32(s.regs[regPC]), pc >= 0xffff0000, pc < 0x10000, pc >= 0x3f000000 && pc < 0x50000000:
		return true
	case pc >= codeA32 && pc < codeA32+codeSize:
		return thumb && pc&3 != 0
	case pc >= codeT32 && pc < codeT32+codeSize:
		return !thumb
	}
	return inHarness(pc)
}

// strays reports a fault at an address at which the harness or its processor may have memory of its own.
func (m *sandbox) strays(s *state) bool {
	_, err := m.emulate(s)
	var fault *arch.FaultError
	return errors.As(err, &fault) && (fault.Addr < arena || fault.Addr >= arena+0x1000_0000)
}

// inHarness reports whether the program of the harness may be there.
func inHarness(addr uint32) bool { return addr >= 0x8000 && addr < 0x200000 }

// randomStates returns n states of every row of a table.
func (g generator) randomStates(tab table, n int) (out []state) {
	m := newSandbox()
	for _, r := range tab.rows {
		if r.exec == nil || r.class == SystemCall || r.class == SystemRegister {
			continue
		}
		for range n {
			w := g.word(r, tab.bits)
			if !tab.thumb {
				w = g.conditional(w, r)
			}
			s := g.state(encode(w, tab.thumb, tab.bits), tab.thumb)
			g.steer(&s, w, tab.bits)
			if !g.unfit(&s, m) {
				out = append(out, s)
			}
		}
	}
	return out
}

// newGenerator returns a generator with a fixed seed, so that results depend on the change under test and not on
// luck, or with GOTAP_SEED. The long suite uses a new seed each time.
func newGenerator(t *testing.T) generator {
	seed := uint64(20260101)
	if os.Getenv("GOTAP_LONG") != "" {
		seed = rand.Uint64()
	}
	if v := os.Getenv("GOTAP_SEED"); v != "" {
		seed, _ = strconv.ParseUint(v, 10, 64)
	}
	t.Logf("seed %d", seed)
	return generator{rand.New(rand.NewPCG(seed, 1))}
}

// TestReservedITState checks that a condition in ITSTATE without remaining instructions has no effect, and stays.
func TestReservedITState(t *testing.T) {
	var states []state
	for it := uint32(0x10); it < 0x100; it += 0x10 {
		for _, code := range []string{"\x08\x46", "\x08\x44", "\x40\x1c", "\x00\xbf", "\x4f\xea\x01\x00"} { // mov, add, adds, nop, mov.w
			for _, flags := range []uint32{0, flagN | flagZ | flagC | flagV} {
				s := newState(true, []byte(code))
				s.regs[regCPSR] = uint64(withIT(0x30|flags, it))
				states = append(states, s)
			}
		}
	}
	if executed, _, _ := checkStates(t, states); executed != len(states) {
		t.Errorf("%d of %d were executed", executed, len(states))
	}
}

// TestRandom compares the emulator with a processor on random states of every row.
func TestRandom(t *testing.T) {
	rounds, each := 1, 42
	switch {
	case os.Getenv("GOTAP_LONG") != "":
		rounds = 50
	case testing.Short():
		each = 14
	}
	g := newGenerator(t)
	for _, tab := range coreTables() {
		t.Run(tab.name, func(t *testing.T) {
			var executed, faulted int
			reached := map[*row]bool{}
			for range rounds {
				states := g.randomStates(tab, each)
				for i := range states {
					reached[states[i].in().row] = true
				}
				ok, _, bad := checkStates(t, states)
				executed, faulted = executed+ok, faulted+bad
			}
			for _, r := range tab.rows {
				if !reached[r] && reasons[min(r.class, Beyond)] == "" && r.exec != nil && r.class != SystemCall && r.class != SystemRegister {
					t.Errorf("no state for %s", r.name)
				}
			}
			t.Logf("%d rows: %d states executed, %d faulted", len(tab.rows), executed, faulted)
		})
	}
}

// TestExecDoesNotAllocate checks that Exec does not allocate, because the engine calls it at every hit.
func TestExecDoesNotAllocate(t *testing.T) {
	m := newSandbox()
	s := newState(false, encode(0xe8bd000f, false, 32)) // pop {r0-r3}
	s.regs[regSP] = arena
	in, err := A32.Decode(s.code, s.regs[regPC])
	if err != nil {
		t.Fatal(err)
	}
	flat := &arenaOnly{m.arena[:]}
	if n := testing.AllocsPerRun(100, func() {
		regs := s.regs
		err = errors.Join(err, Exec(in, &regs, nil, flat))
	}); n > 0 || err != nil {
		t.Errorf("%v allocations, error %v", n, err)
	}
}

// arenaOnly is the arena without the bookkeeping of sandbox.
type arenaOnly struct{ b []byte }

func (m *arenaOnly) ReadMemory(addr uint64, p []byte) error {
	if addr < arena || addr-arena+uint64(len(p)) > uint64(len(m.b)) {
		return &arch.FaultError{Addr: addr}
	}
	copy(p, m.b[addr-arena:])
	return nil
}

func (m *arenaOnly) WriteMemory(addr uint64, p []byte) error {
	if addr < arena || addr-arena+uint64(len(p)) > uint64(len(m.b)) {
		return &arch.FaultError{Addr: addr, Write: true}
	}
	copy(m.b[addr-arena:], p)
	return nil
}

// BenchmarkDecodeExec decodes and executes one instruction.
func BenchmarkDecodeExec(b *testing.B) {
	flat := &arenaOnly{make([]byte, arenaSize)}
	s := newState(true, encode(0xf8501b04, true, 32)) // ldr r1, [r0], #4
	b.ReportAllocs()
	for b.Loop() {
		regs := s.regs
		regs[0] = arena
		in, err := Thumb.Decode(s.code, s.regs[regPC])
		if err == nil {
			err = Exec(in, &regs, nil, flat)
		}
		if err == nil {
			continue
		}
		b.Fatal(err)
	}
}
