package script

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"gotap/compile"
	"gotap/compile/js"
	"gotap/runtime"
	"gotap/script/output"
)

// rig is a loaded script with a real arena and the real machine; only the process is made up. The probes' programs run when
// a test says so.
type rig struct {
	t      testing.TB
	s      *Script
	arena  *runtime.Arena
	tracer *fakeTracer
	thread *fakeThread
	data   buffer // standard output
	errors buffer // standard error
	m      *runtime.Machine
	hit    runtime.Hit
	code   map[uint32]map[js.HandlerKind]*runtime.Code
	holds  uint32
}

// buffer is a writer that a test may read while the host writes.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// fakeTracer notes what a script asks for.
type fakeTracer struct {
	mu       sync.Mutex
	calls    []string
	inlined  bool // into every function another one is
	released []uint32
	status   chan int
}

func (f *fakeTracer) note(verb string, p *Probe) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, verb+" "+p.Name)
	return nil
}

func (f *fakeTracer) Add(p *Probe) error     { return f.note("add", p) }
func (f *fakeTracer) Enable(p *Probe) error  { return f.note("enable", p) }
func (f *fakeTracer) Disable(p *Probe) error { return f.note("disable", p) }
func (f *fakeTracer) Remove(p *Probe) error  { return f.note("remove", p) }
func (f *fakeTracer) Hits(*Probe) uint64     { return 42 }
func (f *fakeTracer) Missed(*Probe) uint64   { return 1 << 60 }
func (f *fakeTracer) Places(*Probe) uint64   { return 3 }
func (f *fakeTracer) Stop(status int) {
	select {
	case f.status <- status:
	default:
	}
}

func (f *fakeTracer) Release(ticket uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.released = append(f.released, ticket)
}

func (f *fakeTracer) Symbol(_ int, addr uint64) Symbol {
	return Symbol{Addr: addr, Func: "func", Offset: addr & 0xff, Module: "/usr/lib/libx.so"}
}

func (f *fakeTracer) Stack(pid int, pcs []uint64) []Symbol {
	var all []Symbol
	for _, pc := range pcs {
		if f.inlined {
			all = append(all, Symbol{Addr: pc, Func: "inlined"})
		}
		all = append(all, f.Symbol(pid, pc))
	}
	return all
}

func (f *fakeTracer) ReadMemory(int, uint64, []byte) int { return 0 }

// fakeThread is a thread of a process with a few bytes of memory at 0x1000.
type fakeThread struct {
	args   []uint64
	ret    uint64
	memory []byte
	pcs    []uint64
}

func (f *fakeThread) ReadMemory(addr uint64, p []byte) int {
	if addr < 0x1000 || addr-0x1000 > uint64(len(f.memory)) {
		return 0
	}
	return copy(p, f.memory[addr-0x1000:])
}

func (f *fakeThread) WriteMemory(uint64, []byte) bool { return false }
func (f *fakeThread) Arg(n int) (uint64, bool) {
	if n >= len(f.args) {
		return 0, true
	}
	return f.args[n], true
}
func (f *fakeThread) FloatWord(int) (uint64, bool) { return 0, false }
func (f *fakeThread) ArgFloat(int) (float64, bool) { return 1.5, true }
func (f *fakeThread) Return() uint64               { return f.ret }
func (f *fakeThread) SetReturn(v uint64)           { f.ret = v }
func (f *fakeThread) Field(n runtime.Field) uint64 { return 100 + uint64(n) }
func (f *fakeThread) Text(_ runtime.TextField, p []byte) int {
	return copy(p, "comm")
}
func (f *fakeThread) Stack(pcs []uint64) int       { return copy(pcs, f.pcs) }
func (f *fakeThread) Writable(uint64, uint64) bool { return false }

// setting changes the options of a rig.
type setting func(*Options)

// newRig loads a script that has no errors.
func newRig(t testing.TB, text string, settings ...setting) *rig {
	t.Helper()
	arena, err := runtime.NewArena(runtime.ArenaOptions{Size: 64 << 20, Ring: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { arena.Close() })
	return newRigOn(t, arena, text, settings...)
}

func newRigOn(t testing.TB, arena *runtime.Arena, text string, settings ...setting) *rig {
	t.Helper()
	r := &rig{t: t, arena: arena, m: runtime.NewMachine(arena), tracer: &fakeTracer{status: make(chan int, 1)},
		code:   map[uint32]map[js.HandlerKind]*runtime.Code{},
		thread: &fakeThread{memory: append([]byte("hello\x00"), bytes.Repeat([]byte("x"), 400)...), pcs: []uint64{0x401136, 0x401200}}}
	o := Options{Name: "script.js", Text: text, Arena: arena, Std: testStd, Dir: t.TempDir()}
	o.Output = output.NewText(&r.data, &r.errors)
	for _, set := range settings {
		set(&o)
	}
	s, list := Load(o)
	if s == nil {
		t.Fatalf("cannot load:\n%v", list)
	}
	t.Cleanup(s.Close)
	r.s = s
	s.SetTracer(r.tracer)
	return r
}

// lower compiles a probe as the engine's owner does.
func (r *rig) lower(p *Probe) map[js.HandlerKind]*runtime.Code {
	r.t.Helper()
	if code := r.code[p.ID]; code != nil {
		return code
	}
	result, list := p.Compile(nil)
	if list.HasErrors() {
		r.t.Fatal(list)
	}
	all := map[js.HandlerKind]*runtime.Code{}
	for kind, prg := range result.Programs {
		if list := compile.Verify(prg); list.HasErrors() {
			r.t.Fatal(list)
		}
		code, err := compile.Lower(prg, compile.Env{Arena: r.arena, WordSize: 8})
		if err != nil {
			r.t.Fatal(err)
		}
		all[kind] = code
	}
	r.code[p.ID] = all
	return all
}

// run runs one handler of a probe and commits what it logged.
func (r *rig) run(p *Probe, kind js.HandlerKind, ctx *runtime.Context) runtime.Outcome {
	code := r.lower(p)[kind]
	if code == nil {
		return runtime.Outcome{}
	}
	r.hit.Reset()
	out := r.m.Run(code, ctx, &r.hit)
	hdr := runtime.Header{Kind: out.Kind, Program: code.ID, Probe: p.ID, Pid: 100, Tid: 101, Time: 12345}
	copy(hdr.Comm[:], "prog")
	if out.Kind == runtime.ExitHold {
		r.holds++
		hdr.Hold = r.holds
	}
	r.arena.Commit(hdr, &r.hit)
	return out
}

func (r *rig) context() *runtime.Context {
	return &runtime.Context{Thread: r.thread, Regs: make([]uint64, 32), Word: 8, Tid: 101}
}

// wanted asks the predicate of a probe, as the engine does.
func (r *rig) wanted(p *Probe, ctx *runtime.Context) bool {
	code := r.lower(p)[js.When]
	if code == nil {
		return true
	}
	r.hit.Reset()
	out := r.m.Run(code, ctx, &r.hit)
	return out.Trap == runtime.NoTrap && !out.Abort
}

// enter runs the enter handler of probe n with these arguments.
func (r *rig) enter(n int, args ...uint64) runtime.Outcome {
	r.t.Helper()
	r.thread.args = args
	p := r.s.Probes()[n]
	if !r.wanted(p, r.context()) {
		return runtime.Outcome{}
	}
	return r.run(p, js.Enter, r.context())
}

// call runs enter and leave of probe n.
func (r *rig) call(n int, ret uint64, args ...uint64) {
	r.t.Helper()
	p := r.s.Probes()[n]
	result, _ := p.Compile(nil)
	ctx := r.context()
	ctx.This = r.arena.AllocThis(max(8, result.ThisBytes))
	r.thread.args, r.thread.ret = args, ret
	if result.AtReturn || r.wanted(p, ctx) {
		r.run(p, js.Enter, ctx)
		if !result.AtReturn || r.wanted(p, ctx) {
			r.run(p, js.Leave, ctx)
		}
	}
	r.arena.FreeThis(ctx.This, max(8, result.ThisBytes))
}

// start runs begin and the host.
func (r *rig) start() {
	r.s.Begin()
	r.s.Start()
}

// finish ends the run and gives the data.
func (r *rig) finish() string {
	r.s.End()
	return r.data.String()
}

// once is a whole run: begin, what f does, end.
func (r *rig) once(f func()) string {
	r.start()
	f()
	return r.finish()
}

// wantData compares the lines of the data.
func wantLines(t testing.TB, got string, want ...string) {
	t.Helper()
	if text := strings.Join(want, "\n") + "\n"; got != text {
		t.Errorf("data is\n%swant\n%s", got, text)
	}
}

// patience is how long tests wait for what takes a moment when nothing else is to be done: only what hangs takes as long.
const patience = 5 * time.Minute

// eventually waits for something that another goroutine does.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("never came: %s", what)
}
