package arm

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	command "os/exec" // exec is a type of this package
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gotap/arch"
	"gotap/engine/testenv"
)

// The memory of the harness (testdata/harness.c).
const (
	codeA32   = 0x10000000
	codeT32   = 0x10010000
	codeSize  = 0x4000
	insnAt    = 0x1000
	arena     = 0x20000000
	arenaSize = 0x4000
	fillA32   = 0xe7ffdeff
	fillT32   = 0xbeffbeff
)

// state is one instruction with its initial state: registers (newState sets pc), vectors, and bytes in the arena.
type state struct {
	code    []byte
	thumb   bool
	regs    arch.Regs
	v       arch.Vectors
	windows []window
}

// window is memory with given bytes.
type window struct {
	addr uint32
	data []byte
}

// newState returns a state for an instruction: two or four bytes in the order of memory.
func newState(thumb bool, code []byte) state {
	s := state{code: code, thumb: thumb}
	s.regs[regPC], s.regs[regCPSR] = codeA32+insnAt, 0x10
	if thumb {
		s.regs[regPC], s.regs[regCPSR] = codeT32+insnAt, 0x30
	}
	return s
}

// isa returns the instruction set of a state.
func (s *state) isa() arch.Arch {
	if s.thumb {
		return Thumb
	}
	return A32
}

// answer is the processor's result for a state.
type answer struct {
	signal uint32
	addr   uint32
	regs   arch.Regs
	v      arch.Vectors
	diffs  map[uint32]uint32 // words of the arena that have changed
}

// completed reports that the instruction ran: the trap is not that of the instruction itself.
func (a *answer) completed(s *state) bool {
	return uint32(a.regs[regPC]) != uint32(s.regs[regPC])
}

// built has programs that several tests use.
var built string

// buildOnce returns a function that builds a program with the cross compiler at its first call.
func buildOnce(name, source string, options ...string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		exe := filepath.Join(built, name)
		cmd := command.Command("arm-linux-gnueabihf-gcc", slices.Concat(options, []string{"-static", "-o", exe, "-x", "c", "-"})...)
		cmd.Stdin = strings.NewReader(source)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("cannot build %s: %w\n%s", name, err, out)
		}
		return exe, nil
	})
}

//go:embed testdata/harness.c
var harnessSource string

var harness = buildOnce("harness", harnessSource, "-O1")

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gotap-arm-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// runStates has a processor execute states, in order, and returns the results.
func runStates(t testing.TB, states []state) []answer {
	t.Helper()
	testenv.Require(t, testenv.GCCARM, testenv.QEMUARM)
	exe, err := harness()
	if err != nil {
		t.Fatal(err)
	}
	var in, stderr bytes.Buffer
	for i := range states {
		states[i].encode(&in)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := command.CommandContext(ctx, "qemu-arm", "-cpu", "max", exe)
	cmd.Stdin, cmd.Stderr = &in, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("cannot run the harness: %v\n%s", err, stderr.Bytes())
	}
	r := bufio.NewReader(bytes.NewReader(out))
	answers := make([]answer, len(states))
	for i := range answers {
		if answers[i], err = decodeAnswer(r); err != nil {
			t.Fatalf("cannot read answer %d of %d: %v", i, len(states), err)
		}
	}
	return answers
}

// encode writes the record of a state.
func (s *state) encode(w *bytes.Buffer) {
	word := func(v uint64) { w.Write(binary.LittleEndian.AppendUint32(nil, uint32(v))) }
	var code [4]byte
	copy(code[:], s.code)
	word(uint64(ones(s.thumb)))
	word(uint64(len(s.code)))
	w.Write(code[:])
	word(uint64(len(s.windows)))
	for _, r := range s.regs[:17] {
		word(r)
	}
	word(s.v.Control)
	for n := range 32 {
		w.Write(binary.LittleEndian.AppendUint64(nil, s.v.V[n/2][n%2]))
	}
	for _, win := range s.windows {
		word(uint64(win.addr))
		word(uint64(len(win.data)))
		w.Write(win.data)
		w.Write(make([]byte, -len(win.data)&3))
	}
}

// decodeAnswer reads one answer.
func decodeAnswer(r io.Reader) (answer, error) {
	var a answer
	var head [3]uint32
	var regs [18]uint32
	var d [32]uint64
	for _, part := range []any{&head, &regs, &d} {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return a, err
		}
	}
	a.signal, a.addr = head[0], head[1]
	for i, v := range regs[:17] {
		a.regs[i] = uint64(v)
	}
	a.v.Control = uint64(regs[17])
	for n, v := range d {
		a.v.V[n/2][n%2] = v
	}
	a.diffs = map[uint32]uint32{}
	for range head[2] {
		var d [2]uint32
		if err := binary.Read(r, binary.LittleEndian, &d); err != nil {
			return a, err
		}
		a.diffs[d[0]] = d[1]
	}
	return a, nil
}

// sandbox is the harness's memory, for the emulator. It remembers the first value of each word that it writes.
type sandbox struct {
	arena [arenaSize]byte
	code  [2][codeSize]byte
	dirty map[uint32]uint32
}

// pattern returns the initial value of word i of the arena.
func pattern(i uint32) uint32 {
	z := (i + 1) * 0x9e3779b9
	z = (z ^ z>>16) * 0x85ebca6b
	return z ^ z>>13
}

func newSandbox() *sandbox {
	m := &sandbox{dirty: map[uint32]uint32{}}
	for i := 0; i < arenaSize; i += 4 {
		binary.LittleEndian.PutUint32(m.arena[i:], pattern(uint32(i/4)))
	}
	for i := 0; i < codeSize; i += 4 {
		binary.LittleEndian.PutUint32(m.code[0][i:], fillA32)
		binary.LittleEndian.PutUint32(m.code[1][i:], fillT32)
	}
	return m
}

// region returns n bytes at addr, or nil.
func (m *sandbox) region(addr uint64, n int) []byte {
	for base, b := range map[uint64][]byte{arena: m.arena[:], codeA32: m.code[0][:], codeT32: m.code[1][:]} {
		if addr >= base && addr+uint64(n) <= base+uint64(len(b)) {
			return b[addr-base:][:n]
		}
	}
	return nil
}

// missing returns the first of n bytes that is not mapped.
func (m *sandbox) missing(addr uint64, n int) uint64 {
	for range n {
		if m.region(addr, 1) == nil {
			break
		}
		addr++
	}
	return addr
}

func (m *sandbox) ReadMemory(addr uint64, p []byte) error {
	b := m.region(addr, len(p))
	if b == nil {
		return &arch.FaultError{Addr: m.missing(addr, len(p))}
	}
	copy(p, b)
	return nil
}

func (m *sandbox) WriteMemory(addr uint64, p []byte) error {
	b := m.region(addr, len(p))
	if b == nil {
		return &arch.FaultError{Addr: m.missing(addr, len(p)), Write: true}
	}
	for word := uint32(addr) &^ 3; word < uint32(addr)+uint32(len(p)); word += 4 {
		if _, ok := m.dirty[word]; !ok {
			m.dirty[word] = m.word(word)
		}
	}
	copy(b, p)
	return nil
}

func (m *sandbox) word(addr uint32) uint32 {
	return binary.LittleEndian.Uint32(m.region(uint64(addr), 4))
}

// prepare writes the memory of a state.
func (m *sandbox) prepare(s *state) {
	which := ones(s.thumb)
	fill := [2]uint32{fillA32, fillT32}[which]
	binary.LittleEndian.PutUint32(m.code[which][insnAt:], fill)
	copy(m.code[which][insnAt:], s.code)
	for _, w := range s.windows {
		m.WriteMemory(uint64(w.addr), w.data)
	}
}

// takeDiffs returns the words that have changed, and restores them.
func (m *sandbox) takeDiffs(before map[uint32]uint32) map[uint32]uint32 {
	out := map[uint32]uint32{}
	for addr, first := range m.dirty {
		was, ok := before[addr]
		if !ok {
			was = first
		}
		if now := m.word(addr); now != was {
			out[addr] = now
		}
		binary.LittleEndian.PutUint32(m.region(uint64(addr), 4), first)
	}
	clear(m.dirty)
	return out
}

// emulate executes a state with Exec. regs and v of the answer are those of the state if there is an error.
func (m *sandbox) emulate(s *state) (answer, error) {
	m.prepare(s)
	before := map[uint32]uint32{}
	for addr := range m.dirty {
		before[addr] = m.word(addr)
	}
	a := answer{regs: s.regs, v: s.v}
	in, err := s.isa().Decode(s.code, s.regs[regPC])
	if err == nil {
		err = Exec(in, &a.regs, &a.v, m)
	}
	a.diffs = m.takeDiffs(before)
	return a, err
}

// compare describes how the emulator and the processor differ for a state, or returns "". A refusal is not a
// difference.
func compare(s *state, got answer, err error, want answer) string {
	var fault *arch.FaultError
	switch {
	case errors.As(err, &fault):
		if want.completed(s) || want.signal != 11 && want.signal != 7 {
			return fmt.Sprintf("faulted (%v), the processor did not: signal %d", err, want.signal)
		}
		if uint32(fault.Addr) != want.addr {
			return fmt.Sprintf("faulted (%v), the processor did at %#x", err, want.addr)
		}
	case err != nil:
	case !want.completed(s):
		return fmt.Sprintf("executed, the processor did not: signal %d, address %#x", want.signal, want.addr)
	default:
		return differences(&got, &want)
	}
	return ""
}

// differences compares two results.
func differences(got, want *answer) string {
	out := ""
	for i := range 17 {
		if got.regs[i] != want.regs[i] {
			out += fmt.Sprintf(" r%d=%#x, want %#x;", i, got.regs[i], want.regs[i])
		}
	}
	for n := range 32 {
		if g, w := got.v.V[n/2][n%2], want.v.V[n/2][n%2]; g != w {
			out += fmt.Sprintf(" d%d=%#x, want %#x;", n, g, w)
		}
	}
	if got.v.Control != want.v.Control {
		out += fmt.Sprintf(" fpscr=%#x, want %#x;", got.v.Control, want.v.Control)
	}
	for addr, w := range want.diffs {
		if g, ok := got.diffs[addr]; !ok || g != w {
			out += fmt.Sprintf(" [%#x]=%#x (%v), want %#x;", addr, g, ok, w)
		}
	}
	for addr, g := range got.diffs {
		if _, ok := want.diffs[addr]; !ok {
			out += fmt.Sprintf(" [%#x]=%#x, want no change;", addr, g)
		}
	}
	return out
}

// checkStates executes states both ways and reports each difference. It returns how many states the emulator
// executed, refused and let fault.
func checkStates(t *testing.T, states []state) (executed, refused, faulted int) {
	t.Helper()
	return checkAnswers(t, states, runStates(t, states))
}

// checkAnswers is checkStates with what the processor made of the states.
func checkAnswers(t *testing.T, states []state, answers []answer) (executed, refused, faulted int) {
	t.Helper()
	m := newSandbox()
	shown := 0
	for i := range states {
		s := &states[i]
		got, err := m.emulate(s)
		var fault *arch.FaultError
		switch {
		case err == nil:
			executed++
		case errors.As(err, &fault):
			faulted++
		default:
			refused++
		}
		if diff := compare(s, got, err, answers[i]); diff != "" {
			if shown++; shown > 40 {
				continue
			}
			t.Errorf("%s % x %s\n\tregs %x cpsr %#x fpscr %#x:%s", s.isa().Name(), s.code, s.isa().Text(s.code, s.regs[regPC]), s.regs[:16], s.regs[16], s.v.Control, diff)
		}
	}
	if shown > 40 {
		t.Errorf("%d differences in all", shown)
	}
	return executed, refused, faulted
}
