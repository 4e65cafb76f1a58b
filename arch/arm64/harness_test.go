package arm64

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	command "os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"gotap/arch"
	"gotap/engine/testenv"
)

// The reference of differential tests: testdata/harness.c, run by qemu-aarch64, executes single instructions from
// given states. The constants are those of the C program.
const (
	codeBase  = 0x10000000
	codeSize  = 0x4000
	codePC    = codeBase + 0x1000
	codeFill  = 0xd4200020
	arenaBase = 0x20000000
	arenaSize = 0x4000
)

// Signals that end a state. An instruction that completes continues into the region around it and ends with
// sigTrap.
const (
	sigIll  = 4
	sigTrap = 5
	sigBus  = 7
	sigSegv = 11
)

// window holds bytes to write over the arena's pattern before the instruction runs.
type window struct {
	addr  uint64
	bytes []byte
}

// state is one instruction and its initial state. The pc in regs is ignored: it is codePC.
type state struct {
	word    uint32
	regs    arch.Regs
	vec     arch.Vectors
	windows []window
}

// outcome is the result of an instruction: the signal that ended it, and the words of the arena that changed.
type outcome struct {
	signal int
	fault  uint64
	regs   arch.Regs
	vec    arch.Vectors
	diffs  map[uint64]uint64
}

var (
	harnessOnce sync.Once
	harnessDir  string
	harnessErr  error
)

func TestMain(m *testing.M) {
	code := m.Run()
	if harnessDir != "" {
		os.RemoveAll(harnessDir)
	}
	os.Exit(code)
}

// harness returns the built C program.
func harness(t testing.TB) string {
	t.Helper()
	testenv.Require(t, testenv.GCCARM64, testenv.QEMUARM64)
	harnessOnce.Do(func() {
		if harnessDir, harnessErr = os.MkdirTemp("", "gotap-arm64-"); harnessErr != nil {
			return
		}
		cmd := command.Command(string(testenv.GCCARM64), "-O2", "-static", "-o", filepath.Join(harnessDir, "harness"), "testdata/harness.c")
		var out []byte
		if out, harnessErr = cmd.CombinedOutput(); harnessErr != nil {
			harnessErr = fmt.Errorf("%w: %s", harnessErr, out)
		}
	})
	if harnessErr != nil {
		t.Fatal(harnessErr)
	}
	return filepath.Join(harnessDir, "harness")
}

// native runs the states on QEMU's processor. SVE is off: QEMU would restore the vector registers from the SVE part
// of a signal frame, which the harness does not fill.
func native(t testing.TB, states []state) []outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := command.CommandContext(ctx, string(testenv.QEMUARM64), "-cpu", "max,sve=off,sme=off", harness(t))
	cmd.Stdin = bytes.NewReader(encodeStates(states))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the harness failed: %v", err)
	}
	return decodeOutcomes(t, out, len(states))
}

func encodeStates(states []state) []byte {
	var b []byte
	le := binary.LittleEndian
	for i := range states {
		s := &states[i]
		b = le.AppendUint32(b, s.word)
		b = le.AppendUint32(b, uint32(len(s.windows)))
		for n := 0; n <= regPState; n++ {
			b = le.AppendUint64(b, s.regs[n])
		}
		for _, v := range s.vec.V {
			b = le.AppendUint64(le.AppendUint64(b, v[0]), v[1])
		}
		b = le.AppendUint64(le.AppendUint64(b, s.vec.Control), s.vec.Status)
		for _, w := range s.windows {
			b = le.AppendUint64(le.AppendUint64(b, w.addr), uint64(len(w.bytes)))
			b = append(b, w.bytes...)
			b = append(b, make([]byte, -len(w.bytes)&7)...)
		}
	}
	return b
}

func decodeOutcomes(t testing.TB, out []byte, n int) []outcome {
	t.Helper()
	le := binary.LittleEndian
	all := make([]outcome, n)
	for i := range all {
		if len(out) < 16 {
			t.Fatalf("the harness answered %d of %d states", i, n)
		}
		o := &all[i]
		o.signal = int(le.Uint32(out))
		diffs := int(le.Uint32(out[4:]))
		o.fault = le.Uint64(out[8:])
		out = out[16:]
		word := func() (v uint64) { v, out = le.Uint64(out), out[8:]; return v }
		for r := 0; r <= regPState; r++ {
			o.regs[r] = word()
		}
		for v := range o.vec.V {
			o.vec.V[v] = [2]uint64{word(), word()}
		}
		o.vec.Control, o.vec.Status = word(), word()
		for range diffs {
			if o.diffs == nil {
				o.diffs = map[uint64]uint64{}
			}
			addr := word()
			o.diffs[addr] = word()
		}
	}
	return all
}

// arena is the harness's memory, for the emulator.
type arena struct {
	word  uint32 // the instruction at codePC
	bytes [arenaSize]byte
	dirty map[uint64]bool // addresses of words written
}

var arenaPattern = makePattern()

func makePattern() (p [arenaSize]byte) {
	for i := range uint64(arenaSize / 8) {
		z := (i + 1) * 0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		binary.LittleEndian.PutUint64(p[8*i:], z^z>>27)
	}
	return p
}

func (a *arena) load(s *state) {
	a.word, a.bytes, a.dirty = s.word, arenaPattern, map[uint64]bool{}
	for _, w := range s.windows {
		copy(a.bytes[w.addr-arenaBase:], w.bytes)
	}
}

func (a *arena) ReadMemory(addr uint64, p []byte) error {
	for i := range p {
		at := addr + uint64(i)
		switch {
		case at-arenaBase < arenaSize:
			p[i] = a.bytes[at-arenaBase]
		case at-codeBase < codeSize:
			word := uint32(codeFill)
			if at&^3 == codePC {
				word = a.word
			}
			p[i] = byte(word >> (at & 3 * 8))
		default:
			return &arch.FaultError{Addr: at}
		}
	}
	return nil
}

func (a *arena) WriteMemory(addr uint64, p []byte) error {
	for i := range p {
		if at := addr + uint64(i); at-arenaBase >= arenaSize {
			return &arch.FaultError{Addr: at, Write: true}
		}
	}
	for i := range p {
		at := addr + uint64(i)
		a.bytes[at-arenaBase] = p[i]
		a.dirty[at&^7] = true
	}
	return nil
}

// emulated returns the outcome of the emulator. ok is false if it refuses.
func emulated(t testing.TB, s *state, mem *arena) (o outcome, ok bool) {
	t.Helper()
	var code [4]byte
	binary.LittleEndian.PutUint32(code[:], s.word)
	mem.load(s)
	o.regs, o.vec = s.regs, s.vec
	o.regs[regPC] = codePC
	in, err := A64.Decode(code[:], codePC)
	if errors.Is(err, arch.ErrUnsupported) {
		o.signal = sigIll
		return o, true
	}
	err = Exec(in, &o.regs, &o.vec, mem)
	var fault *arch.FaultError
	var align *AlignmentError
	switch {
	case err == nil:
		o.signal = sigTrap
		if o.regs[regPC]-codeBase >= codeSize {
			o.signal = sigSegv
		}
	case errors.As(err, &align):
		o.signal = sigBus
	case errors.As(err, &fault):
		o.signal, o.fault = sigSegv, fault.Addr
	default:
		return o, false
	}
	for at := range mem.dirty {
		if o.diffs == nil {
			o.diffs = map[uint64]uint64{}
		}
		o.diffs[at] = binary.LittleEndian.Uint64(mem.bytes[at-arenaBase:])
	}
	return o, true
}

// differs describes how two outcomes of a state differ, or returns "". It compares the addresses of faults if QEMU
// reports them: it does not for addresses beyond its own processor's range.
func differs(s *state, want, got *outcome) string {
	if want.signal != got.signal || want.signal == sigSegv && got.fault != 0 && want.fault != 0 && want.fault != got.fault {
		return fmt.Sprintf("signal %d at %#x, want %d at %#x", got.signal, got.fault, want.signal, want.fault)
	}
	for n := range regPState {
		if want.regs[n] != got.regs[n] {
			return fmt.Sprintf("register %d is %#x, want %#x (was %#x)", n, got.regs[n], want.regs[n], s.regs[n])
		}
	}
	if (want.regs[regPState]^got.regs[regPState])&comparedPState != 0 {
		return fmt.Sprintf("pstate is %#x, want %#x (was %#x)", got.regs[regPState], want.regs[regPState], s.regs[regPState])
	}
	for n := range want.vec.V {
		if want.vec.V[n] != got.vec.V[n] {
			return fmt.Sprintf("v%d is %x, want %x (was %x)", n, got.vec.V[n], want.vec.V[n], s.vec.V[n])
		}
	}
	if want.vec.Control != got.vec.Control || want.vec.Status != got.vec.Status {
		return fmt.Sprintf("fpcr %#x fpsr %#x, want %#x %#x", got.vec.Control, got.vec.Status, want.vec.Control, want.vec.Status)
	}
	if want.signal == sigSegv && want.regs[regPC] == codePC {
		return "" // a store that faults in its middle may leave the first part behind
	}
	return differsMemory(s, want, got)
}

// comparedPState returns the flags and BTYPE. QEMU clears BTYPE in the frame of a signal.
const comparedPState = flagsNZCV

func differsMemory(s *state, want, got *outcome) string {
	var mem arena
	mem.load(s)
	for at, v := range want.diffs {
		if got.diffs[at] != v {
			return fmt.Sprintf("memory at %#x is %#x, want %#x", at, got.diffs[at], v)
		}
	}
	for at, v := range got.diffs {
		old := binary.LittleEndian.Uint64(mem.bytes[at-arenaBase:])
		if w, ok := want.diffs[at]; !ok && v != old || ok && w != v {
			return fmt.Sprintf("memory at %#x is %#x, want %#x", at, v, old)
		}
	}
	return ""
}

// inProgram reports addresses at which the harness, a static program, may have memory of its own. Accesses there
// give no valid result and may damage the harness.
func inProgram(addr uint64) bool { return addr >= 0x10000 && addr < codeBase }

// fit omits the states in which an instruction accesses the harness.
func fit(t *testing.T, states []state) []state {
	t.Helper()
	var mem arena
	out := make([]state, 0, len(states))
	for i := range states {
		got, ok := emulated(t, &states[i], &mem)
		if ok && (inProgram(got.fault) || inProgram(got.regs[regPC])) {
			continue
		}
		out = append(out, states[i])
	}
	return out
}

// differential runs states both ways and reports the differences. Refused states count in the result.
func differential(t *testing.T, states []state) (refused int) {
	t.Helper()
	var mem arena
	bad, states := 0, fit(t, states)
	for i, want := range native(t, states) {
		s := &states[i]
		got, ok := emulated(t, s, &mem)
		if !ok {
			refused++
			continue
		}
		if diff := differs(s, &want, &got); diff != "" {
			if bad++; bad <= 40 {
				var code [4]byte
				binary.LittleEndian.PutUint32(code[:], s.word)
				t.Errorf("%#08x %s: %s", s.word, A64.Text(code[:], codePC), diff)
			}
		}
	}
	if bad > 40 {
		t.Errorf("%d of %d states differ", bad, len(states))
	}
	return refused
}

// edges are values at which arithmetic changes its behaviour.
var edges = []uint64{
	0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
	0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0xfffffffffffffffe, 0xffffffff80000000, 63, 64, 31, 32,
}

// newRand returns a generator with a fixed seed, so that results depend on the change under test and not on luck,
// or with GOTAP_SEED. The long suite uses a new seed each time. Every test has its own stream.
func newRand(t testing.TB, stream uint64) *rand.Rand {
	seed := uint64(20260101)
	if longRun() {
		seed = rand.Uint64()
	}
	if v := os.Getenv("GOTAP_SEED"); v != "" {
		seed, _ = strconv.ParseUint(v, 10, 64)
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, stream))
}

// randomValue returns an edge, a small number, anything, or an address in the arena.
func randomValue(r *rand.Rand) uint64 {
	switch r.IntN(4) {
	case 0:
		return edges[r.IntN(len(edges))]
	case 1:
		return uint64(r.IntN(256)) - 128
	case 2:
		return arenaBase + arenaSize/2 + uint64(r.IntN(1024))*8
	}
	return r.Uint64()
}

// randomState returns an instruction in a random state. Half the registers that could serve as bases point into the
// arena.
func randomState(r *rand.Rand, word uint32) state {
	s := state{word: word}
	for n := range 31 {
		s.regs[n] = randomValue(r)
	}
	if r.IntN(3) > 0 {
		s.regs[rn(word)] = arenaBase + arenaSize/2 + uint64(r.IntN(512))*8
	}
	if r.IntN(8) == 0 {
		s.regs[rn(word)] += uint64(r.IntN(16)) // unaligned
	}
	if r.IntN(16) == 0 {
		s.regs[rn(word)] = arenaBase + uint64(r.IntN(2))*arenaSize + uint64(r.IntN(32)) - 16 // at the edge of memory
	}
	s.regs[regSP] = arenaBase + arenaSize/2 + uint64(r.IntN(256))*16
	if r.IntN(8) == 0 {
		s.regs[regSP] += uint64(r.IntN(16))
	}
	s.regs[regPC] = codePC
	s.regs[regPState] = uint64(r.IntN(16)) << 28
	for n := range s.vec.V {
		s.vec.V[n] = [2]uint64{randomValue(r), randomValue(r)}
	}
	return s
}

// operands are the positions of register fields.
var operands = []int{0, 5, 10, 16}

// statesFor returns n states of instructions that match a row, with random other bits. In the first ones, each
// register field in turn is 31, the zero register or the stack pointer.
func statesFor(r *rand.Rand, mask, value uint32, n int) []state {
	out := make([]state, n)
	for i := range out {
		word := r.Uint32()&^mask | value
		if i < len(operands) {
			word = word&^(31<<operands[i]) | 31<<operands[i]&^mask | value&(31<<operands[i])
		}
		for !harmless(word) {
			word = r.Uint32()&^mask | value
		}
		out[i] = randomState(r, word)
	}
	return out
}

// harmless reports whether an instruction may be run in a random state: it makes no system call, does not branch to
// itself, and needs no keys.
func harmless(word uint32) bool {
	var code [4]byte
	binary.LittleEndian.PutUint32(code[:], word)
	in, err := A64.Decode(code[:], codePC)
	return err != nil || in.Control != arch.Syscall && in.Target != codePC && ClassOf(in) != PointerAuth
}

// ReadSystem provides the cache registers of QEMU's processor.
func (a *arena) ReadSystem(r Register) (uint64, error) {
	switch r {
	case DCZID:
		return 7, nil
	case CTR:
		return 0x80038003, nil
	}
	return 0, &SystemError{r}
}

func (a *arena) WriteSystem(r Register, _ uint64) error { return &SystemError{r} }

func (a *arena) MaintainCache(Operation, uint64) error { return nil }

// ChecksStack returns false: QEMU accepts any alignment of the stack pointer.
func (a *arena) ChecksStack() bool { return false }
