package scripttest

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"gotap/compile"
	"gotap/compile/js"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/script"
	"gotap/script/output"
)

// Rig is a loaded script with a real arena. The programs of its probes run when a test calls Enter or Call.
type Rig struct {
	t       testing.TB
	Script  *script.Script
	Arena   *arena.Arena
	Tracer  *Tracer
	Thread  *Thread
	Data    Buffer      // standard output
	Errors  Buffer      // standard error
	Output  output.Sink // writes Data and Errors, unless a setting replaced it
	Machine *runtime.Machine
	Hit     record.Log
	code    map[uint32]map[js.HandlerKind]*runtime.Code
	Holds   uint32 // the last ticket that a held thread got
}

// Buffer is a writer that a test may read while the host writes.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Tracer is a script.Tracer that records the calls of a script and traces nothing. Its counts and symbols are fixed
// values.
type Tracer struct {
	Mu       sync.Mutex
	Calls    []string
	Inlined  bool // Stack reports an inlined function within every function
	Released []uint32
	Status   chan int
}

func (f *Tracer) note(verb string, p *script.Probe) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Calls = append(f.Calls, verb+" "+p.Name)
	return nil
}

func (f *Tracer) Add(p *script.Probe) error     { return f.note("add", p) }
func (f *Tracer) Enable(p *script.Probe) error  { return f.note("enable", p) }
func (f *Tracer) Disable(p *script.Probe) error { return f.note("disable", p) }
func (f *Tracer) Remove(p *script.Probe) error  { return f.note("remove", p) }
func (f *Tracer) Hits(*script.Probe) uint64     { return 42 }
func (f *Tracer) Missed(*script.Probe) uint64   { return 1 << 60 }
func (f *Tracer) Places(*script.Probe) uint64   { return 3 }
func (f *Tracer) Stop(status int) {
	select {
	case f.Status <- status:
	default:
	}
}

func (f *Tracer) Release(ticket uint32) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Released = append(f.Released, ticket)
}

func (f *Tracer) Symbol(_ int, addr uint64) script.Symbol {
	return script.Symbol{Addr: addr, Func: "func", Offset: addr & 0xff, Module: "/usr/lib/libx.so"}
}

func (f *Tracer) Stack(pid int, pcs []uint64) []script.Symbol {
	var all []script.Symbol
	for _, pc := range pcs {
		if f.Inlined {
			all = append(all, script.Symbol{Addr: pc, Func: "small", Inlined: true})
		}
		all = append(all, f.Symbol(pid, pc))
	}
	return all
}

func (f *Tracer) ReadMemory(int, uint64, []byte) int { return 0 }

// Thread is a runtime.Thread without a process: a test sets its arguments and result. It has a few bytes of memory at
// 0x1000.
type Thread struct {
	Args   []uint64
	Ret    uint64
	Memory []byte
	PCs    []uint64
}

func (f *Thread) ReadMemory(addr uint64, p []byte) int {
	if addr < 0x1000 || addr-0x1000 > uint64(len(f.Memory)) {
		return 0
	}
	return copy(p, f.Memory[addr-0x1000:])
}

func (f *Thread) WriteMemory(uint64, []byte) bool { return false }
func (f *Thread) Arg(n int) (uint64, bool) {
	if n >= len(f.Args) {
		return 0, true
	}
	return f.Args[n], true
}
func (f *Thread) FloatWord(int) (uint64, bool) { return 0, false }
func (f *Thread) ArgFloat(int) (float64, bool) { return 1.5, true }
func (f *Thread) Return() uint64               { return f.Ret }
func (f *Thread) SetReturn(v uint64)           { f.Ret = v }
func (f *Thread) Field(n runtime.Field) uint64 { return 100 + uint64(n) }
func (f *Thread) Text(_ runtime.TextField, p []byte) int {
	const text = "comm"
	copy(p, text)
	return len(text)
}
func (f *Thread) Stack(pcs []uint64) int       { return copy(pcs, f.PCs) }
func (f *Thread) Writable(uint64, uint64) bool { return false }

// Setting changes the options of a rig.
type Setting func(*script.Options)

// New loads a script with an arena of its own. A script that cannot be loaded fails the test.
func New(t testing.TB, text string, settings ...Setting) *Rig {
	t.Helper()
	arena, err := arena.New(arena.Options{Size: 64 << 20, Ring: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { arena.Close() })
	return NewOn(t, arena, text, settings...)
}

// NewOn is New with an arena that other scripts share.
func NewOn(t testing.TB, arena *arena.Arena, text string, settings ...Setting) *Rig {
	t.Helper()
	r := &Rig{t: t, Arena: arena, Machine: runtime.NewMachine(arena), Tracer: &Tracer{Status: make(chan int, 1)},
		code:   map[uint32]map[js.HandlerKind]*runtime.Code{},
		Thread: &Thread{Memory: append([]byte("hello\x00"), bytes.Repeat([]byte("x"), 400)...), PCs: []uint64{0x401136, 0x401200}}}
	o := script.Options{Name: "script.js", Text: text, Arena: arena, Std: Std, Dir: t.TempDir()}
	o.Output = output.NewText(&r.Data, &r.Errors)
	for _, set := range settings {
		set(&o)
	}
	s, list := script.Load(o)
	if s == nil {
		t.Fatalf("cannot load:\n%v", list)
	}
	t.Cleanup(s.Close)
	r.Script, r.Output = s, o.Output
	s.SetTracer(r.Tracer)
	return r
}

// Lower compiles a probe as a session does.
func (r *Rig) Lower(p *script.Probe) map[js.HandlerKind]*runtime.Code {
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
		code, err := compile.Lower(prg, compile.Env{Arena: r.Arena, WordSize: 8})
		if err != nil {
			r.t.Fatal(err)
		}
		all[kind] = code
	}
	r.code[p.ID] = all
	return all
}

// Run runs one handler of a probe and commits the record of what it logged. It does nothing without such a handler.
func (r *Rig) Run(p *script.Probe, kind js.HandlerKind, ctx *runtime.Context) outcome.Outcome {
	code := r.Lower(p)[kind]
	if code == nil {
		return outcome.Outcome{}
	}
	r.Hit.Reset()
	out := r.Machine.Run(code, ctx, &r.Hit)
	hdr := record.Header{Kind: out.Kind, Program: code.ID, Probe: p.ID, Pid: 100, Tid: 101, Time: 12345}
	copy(hdr.Comm[:], "prog")
	if out.Kind == outcome.ExitHold {
		r.Holds++
		hdr.Hold = r.Holds
	}
	r.Arena.Commit(hdr, &r.Hit)
	return out
}

// Context returns the context of a hit of r.Thread.
func (r *Rig) Context() *runtime.Context {
	return &runtime.Context{Thread: r.Thread, Regs: make([]uint64, 32), Word: 8, Tid: 101}
}

// Wanted runs the predicate of a probe (when) and reports whether the hit counts.
func (r *Rig) Wanted(p *script.Probe, ctx *runtime.Context) bool {
	code := r.Lower(p)[js.When]
	if code == nil {
		return true
	}
	r.Hit.Reset()
	out := r.Machine.Run(code, ctx, &r.Hit)
	return out.Trap == outcome.NoTrap && !out.Abort
}

// Enter runs the enter handler of probe n, counted from 0, for a call with these arguments.
func (r *Rig) Enter(n int, args ...uint64) outcome.Outcome {
	r.t.Helper()
	r.Thread.Args = args
	p := r.Script.Probes()[n]
	if !r.Wanted(p, r.Context()) {
		return outcome.Outcome{}
	}
	return r.Run(p, js.Enter, r.Context())
}

// Call runs enter and leave of probe n, counted from 0, for a call with these arguments that returns ret.
func (r *Rig) Call(n int, ret uint64, args ...uint64) {
	r.t.Helper()
	p := r.Script.Probes()[n]
	result, _ := p.Compile(nil)
	ctx := r.Context()
	ctx.This = r.Arena.AllocThis(max(8, result.ThisBytes))
	r.Thread.Args, r.Thread.Ret = args, ret
	if result.AtReturn || r.Wanted(p, ctx) {
		r.Run(p, js.Enter, ctx)
		if !result.AtReturn || r.Wanted(p, ctx) {
			r.Run(p, js.Leave, ctx)
		}
	}
	r.Arena.FreeThis(ctx.This, max(8, result.ThisBytes))
}

// Start runs the begin callbacks and starts the host.
func (r *Rig) Start() {
	r.Script.Begin()
	r.Script.Start()
}

// Finish ends the run and returns what it wrote to standard output.
func (r *Rig) Finish() string {
	r.Script.End()
	return r.Data.String()
}

// Once makes a whole run: Start, f, Finish. It returns what Finish returns.
func (r *Rig) Once(f func()) string {
	r.Start()
	f()
	return r.Finish()
}

// WantLines compares what a run wrote to standard output with these lines.
func WantLines(t testing.TB, got string, want ...string) {
	t.Helper()
	if text := strings.Join(want, "\n") + "\n"; got != text {
		t.Errorf("data is\n%swant\n%s", got, text)
	}
}

// Patience is how long Eventually waits. It is far longer than anything takes, also on a busy machine.
const Patience = 5 * time.Minute

// Eventually waits until ok reports true, which another goroutine brings about.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("never came: %s", what)
}

// Impatient is a Setting that gives callbacks little time and memory.
func Impatient(o *script.Options) { o.Deadline, o.HeapLimit = 400*time.Millisecond, 64<<20 }

// WantErrors checks that standard error has a match for each pattern, in this order.
func (r *Rig) WantErrors(patterns ...string) {
	r.t.Helper()
	rest := r.Errors.String()
	for _, p := range patterns {
		at := regexp.MustCompile(p).FindStringIndex(rest)
		if at == nil {
			r.t.Errorf("errors lack %q:\n%s", p, r.Errors.String())
			return
		}
		rest = rest[at[1]:]
	}
}

// Write writes files into a temporary directory and returns the directory.
func Write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Std is a small standard library: the modules gotap/test, gotap/common and gotap/throws.
var Std = fstest.MapFS{
	"test.js":   {Data: []byte("export function twice(x) { return x * 2; }\nexport const LIMIT = 4096;\n")},
	"common.js": {Data: []byte("exports.twice = x => x * 2;\nexports.NAME = 'common';\n")},
	"throws.js": {Data: []byte("exports.a = 1;\n\nnull.x = 1;\n")},
}
