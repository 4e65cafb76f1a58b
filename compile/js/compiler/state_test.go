package compiler

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gotap/compile"
	"gotap/compile/js"
	"gotap/compile/shape"
	"gotap/runtime"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// declare makes objects and the names they have.
func (r *rig) declare(objects map[string]object.Object) names {
	r.t.Helper()
	scope := names{}
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		o := objects[name]
		o.Name = name
		id, err := r.arena.Declare(o)
		if err != nil {
			r.t.Fatal(err)
		}
		kind := js.BindAgg
		switch o.Kind {
		case object.KindInt:
			kind = js.BindShared
		case object.KindText:
			kind = js.BindSharedText
		case object.KindMap:
			kind = js.BindMap
		case object.KindPerThread:
			kind = js.BindPerThread
		}
		scope[name] = js.Binding{Kind: kind, Object: id}
	}
	return scope
}

// dump is what an object holds, one "key=data" for each entry.
func (r *rig) dump(scope names, name string) string {
	var all []string
	for _, e := range r.arena.Handle(scope[name].Object).Entries().Entries {
		var keys []string
		for _, k := range e.Key {
			keys = append(keys, k.Format(nil))
		}
		all = append(all, fmt.Sprintf("%s=%d/%d/%d%s", strings.Join(keys, ","), e.Data.Count, e.Data.Sum, e.Data.Int, e.Data.Text))
	}
	return strings.Join(all, " ")
}

func TestShared(t *testing.T) {
	r := newRig(t)
	scope := r.declare(map[string]object.Object{"n": {Kind: object.KindInt, Init: 5}, "s": {Kind: object.KindText, Text: "a"}})
	got := r.logged(`c => {
		n++; n += 2; n -= c.arg0; log(n, n++, ++n, n--, --n, n);
		log(n += 10, n -= c.arg0 + 1); n = 3; n *= 4; log(n);
		n += n++; log(n); n -= (n *= 2) + 1; log(n); n = n++ + 3; log(n); n = 12;
		s += "b"; log(s, s.length); s = "c"; s ||= "d"; log(s);
	}`, scope, 7)
	if want := "1 1 3 3 1 1|11 3|12|24|-25|-22|ab 2|c"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAggregations(t *testing.T) {
	r := newRig(t)
	scope := r.declare(map[string]object.Object{"n": {Kind: object.KindCount, Keys: -1}, "s": {Kind: object.KindSum, Keys: 2}, "h": {Kind: object.KindHist, Keys: 0}})
	r.logged(`c => {
		n.inc(); n.inc(); h.add(c.arg0);
		s.at("x" + c.arg0, 3).add(c.arg0); s.at("x7", c.arg0 - 4).inc(); s.at("y", 0).add(-1);
		const k = s.at("y", 0); k.add(-1);
	}`, scope, 7)
	if got := r.dump(scope, "s"); !strings.Contains(got, "x7,3=2/8/") {
		t.Errorf("s: %q", got)
	}
	if got := r.arena.Handle(scope["n"].Object); got.Len() > 1 {
		t.Errorf("n has %d entries", got.Len())
	}
}

func TestMaps(t *testing.T) {
	r := newRig(t)
	scope := r.declare(map[string]object.Object{"m": {Kind: object.KindMap, Keys: 1}, "t": {Kind: object.KindMap, Keys: -1}, "d": {Kind: object.KindMap, Keys: 2}})
	got := r.logged(`c => {
		log(m.get(1) ?? -1, m.has(1), m.get(1) === undefined);
		m.set(1, 5); m.inc(1); log(m.get(1) ?? -1, m.has(1), m.inc(1, 10), m.get(1) !== undefined);
		m.set(m.get(1), m.get(1) + m.get(16)); log(m.get(16));
		m.delete(1); log(m.get(1));
		d.set(c.arg0, m.get(16), 9); log(d.get(7, m.get(16)), d.inc(7, 16), d.inc(7, 16, 5));
		if (t.get("k") === "x") log("no"); t.set("k", "x" + c.arg0); log(t.get("k"), t.get("q") ?? "none");
	}`, scope, 7)
	if want := "-1 false true|6 true 16 true|16|0|9 10 15|x7 none"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestStraightKeys: no jump and no assignment stands between the first part of a key and its use, and parts have the
// values that they have where they are written.
func TestStraightKeys(t *testing.T) {
	for text, want := range map[string]string{
		"d.set(c.arg0, c.arg0 > 5 ? 2 : 3, c.arg0 > 6 && c.arg0 < 9 ? 4 : 5); log(d.get(7, 2))":              "4",
		"let i = 1; d.set(i, i++, ++i); log(d.get(1, 1), i)":                                                 "3 3",
		"let i = 1; d.set(c.arg0, i = 5, i + 1); log(d.get(7, 5), i)":                                        "6 5",
		"m.set(c.func, 1); d.set(m.get(c.func), c.arg0 === 7 ? 8 : 9, m.get('f') + 1); log(d.get(1, 8) > 0)": "true",
	} {
		r := newRig(t)
		scope := r.declare(map[string]object.Object{"m": {Kind: object.KindMap, Keys: -1}, "d": {Kind: object.KindMap, Keys: 2}})
		if got := r.logged("c => { "+text+"; }", scope, 7); strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		building := false
		for _, c := range compiled(t, parse(t, "c => { "+text+"; }", scope)).Programs[js.Enter].Code {
			switch row := opcode.RowOf(c.Op); {
			case c.Op.Has(opcode.BuildsKey):
				building = true
			case c.Op.Has(opcode.UsesKey):
				building = false
			case building && (row.Does.Has(opcode.Jumps) || c.Op == opcode.PopTV):
				t.Errorf("%s: %s stands while a key is built", text, row.Name)
			}
		}
	}
}

// TestGuessed: a unit that reads a map before another stores text in it is compiled again.
func TestGuessed(t *testing.T) {
	r := newRig(t)
	scope := r.declare(map[string]object.Object{"m": {Kind: object.KindMap, Keys: 1}})
	if got := compiled(t, parse(t, "c => { if (m.get(1) === 'y') log('no'); log(m.get(1) ?? 'none'); }", scope)); len(got.Guessed) != 0 {
		t.Errorf("what is compared with text is text, yet guessed %v", got.Guessed)
	}
	reader, writer := parse(t, "c => log(m.get(1))", scope), parse(t, "c => m.set(1, 'x')", scope)
	reader.Arena, writer.Arena = r.arena, r.arena
	first := compiled(t, reader)
	if len(first.Guessed) != 1 || first.Guessed[0] != scope["m"].Object {
		t.Errorf("guessed %v", first.Guessed)
	}
	if got := compiled(t, writer); len(got.Guessed) != 0 {
		t.Errorf("guessed %v", got.Guessed)
	} else {
		r.run(got.Programs[js.Enter])
	}
	if o, _ := r.arena.Lookup(scope["m"].Object); o.Value != value.KindText {
		t.Error("the arena does not know that the map holds text")
	}
	if got := r.run(compiled(t, reader).Programs[js.Enter]).lines; len(got) != 1 || got[0] != "x" {
		t.Errorf("got %q", got)
	}
}

func TestPerThread(t *testing.T) {
	r := newRig(t)
	scope := r.declare(map[string]object.Object{"mine": {Kind: object.KindPerThread, Init: 100}})
	got := r.logged("c => { log(mine.value); mine.value++; mine.value += 2; log(mine.value, mine.value++, ++mine.value); mine.value = 3; log(mine.value); mine.value += mine.value++; log(mine.value); }", scope)
	if want := "100|103 103 105|3|6"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestThis(t *testing.T) {
	r := newRig(t)
	u := parse(t, `({
		enter(c) { if (!this.n) this.n = c.arg0; this.name = "x" + c.arg0; this.f = 1.5; this.big = c.arg0 > 3; this.n++; this.f += 1; },
		leave(c) { log(this.n, this.name, this.f, this.big, c.ret, c.elapsed); },
	})`, nil)
	u.Arena = r.arena
	res := compiled(t, u)
	r.this = r.arena.AllocThis(res.ThisBytes)
	r.th.args[0], r.th.ret = 7, ^uint64(4)
	r.th.fields = map[runtime.Field]uint64{runtime.FieldElapsed: 99}
	r.run(res.Programs[js.Enter])
	if got := r.run(res.Programs[js.Leave]).lines; len(got) != 1 || got[0] != "8 x7 2.5 true -5 99" {
		t.Errorf("got %q", got)
	}
	if !res.UsesRet {
		t.Error("c.ret may have a type at its place")
	}
}

// TestThisReadFirst: a field is read in the text before anything is assigned to it.
func TestThisReadFirst(t *testing.T) {
	r := newRig(t)
	r.this = r.arena.AllocThis(1024)
	u := parse(t, `({ enter(c) { if (this.name === "") this.name = "new"; log(this.name); } })`, nil)
	if got := r.run(compiled(t, u).Programs[js.Enter]).lines; len(got) != 1 || got[0] != "new" {
		t.Errorf("got %q", got)
	}
}

// fields prints the values of an event.
func fields(h hit) string {
	var all []string
	for _, it := range h.items {
		if it.Format.Kind != record.ItemEvent {
			continue
		}
		for i, f := range it.Format.Fields {
			all = append(all, f.Name+"="+it.Values[i].Format(nil))
		}
	}
	return strings.Join(all, " ")
}

func TestExit(t *testing.T) {
	tests := []struct {
		text, fields string
		kind         outcome.ExitKind
	}{
		{`c => exit({ name: "a" + c.arg0, twice: c.arg0 * 2, "q r": true, in: { x: 1.5, y: { z: 2 } } })`, "name=a7 twice=14 q r=true in.x=1.5 in.y.z=2", outcome.ExitEvent},
		{`({ enter({ arg0 }) { exit.hold({ arg0 }); } })`, "arg0=7", outcome.ExitHold},
		{`c => exit()`, "", outcome.ExitEvent}, {`c => exit({})`, "", outcome.ExitEvent},
		{`c => { if (c.arg0) exit.dump({ s: "const" }); log("no"); }`, "s=const", outcome.ExitDump},
		{`c => exit.stop()`, "", outcome.ExitStop}, {`c => {}`, "", outcome.ExitPlain},
	}
	for _, test := range tests {
		r := newRig(t)
		r.th.args[0] = 7
		h := r.run(compiled(t, parse(t, test.text, nil)).Programs[js.Enter])
		if h.out.Kind != test.kind || fields(h) != test.fields || len(h.lines) > 0 {
			t.Errorf("%s: %v %q %q", test.text, h.out.Kind, fields(h), h.lines)
		}
		if events := len(h.items); (test.kind != outcome.ExitPlain) != (events == 1) {
			t.Errorf("%s: %d items", test.text, events)
		}
	}
}

func TestEnds(t *testing.T) {
	r := newRig(t)
	if h := r.run(compiled(t, parse(t, `c => { log("x"); abort(); }`, nil)).Programs[js.Enter]); !h.out.Abort || len(h.lines) > 0 {
		t.Errorf("abort: %+v", h.out)
	}
	if h := r.run(compiled(t, parse(t, `c => { log("x"); remove(); }`, nil)).Programs[js.Enter]); !h.out.Remove || len(h.lines) != 1 {
		t.Errorf("remove: %+v", h.out)
	}
}

func TestLog(t *testing.T) {
	r := newRig(t)
	r.th.memory[0x1000] = "hello\x00world"
	r.th.texts = map[runtime.TextField]string{runtime.TextComm: "proc", runtime.TextFunc: "malloc"}
	r.th.fields = map[runtime.Field]uint64{runtime.FieldPid: 12, runtime.FieldPC: 1 << 63}
	got := r.logged("c => {"+
		"log(`a ${c.arg1} b`, c.arg1, 'x' + c.arg1, `${'k'}${str(c.arg0)}`);"+
		"log(); log({ a: c.arg1, s: 'q', n: { z: str(c.arg0, 2) }, e: {} });"+
		"print(c.comm, c.func, c.pid, c.pc); console.log(`[${`in ${c.arg1}`}]`);"+
		"printf('%d %x %5d|%-5d|%s %c%%\\n', c.arg1, c.arg1, c.arg1, c.arg1, 'text', 65);"+
		"log(u8(c.arg0), bytes(c.arg0, 2), readable(c.arg0), readable(1, 8), ptr(c.arg0) === u64(c.arg0));"+
		"}", nil, 0x1000, 255)
	want := []string{"a 255 b 255 x255 khello", "", "{ a: 255, s: 'q', n: { z: 'he' }, e: {} }"}
	for i, w := range want {
		if len(got) < len(want) || got[i] != w && !strings.HasPrefix(got[i], "{ a: 255, s: 'q', n: { z: 'he") {
			t.Fatalf("line %d: got %q", i, got)
		}
	}
	if got[3] != "proc malloc 12 9223372036854775808" || got[4] != "[in 255]" || got[5] != "255 ff   255|255  |text A%" {
		t.Errorf("got %q", got[3:])
	}
	if !strings.HasPrefix(got[6], "104 ") || !strings.HasSuffix(got[6], " true false true") {
		t.Errorf("got %q", got[6])
	}
}

func TestUnsafe(t *testing.T) {
	r := newRig(t)
	r.th.memory[0x1000] = "hello"
	u := parse(t, `({ enter(c) { write.u8(c.arg0 + 1, 65); c.regs.rdi = 60; c.regs.rax += 1; skip(c.regs.rdi + 1); signal(10); }, leave(c) { c.ret = 99; c.ret += 1; } })`, nil)
	u.Unsafe = true
	r.th.args[0] = 0x1000
	res := compiled(t, u)
	h := r.run(res.Programs[js.Enter])
	if r.th.memory[0x1000] != "hAllo" || h.regs[5] != 60 || h.regs[0] != 78 || !h.out.Skip || h.out.SkipRet != 61 || h.out.Signal != 10 {
		t.Errorf("%q %v %+v", r.th.memory[0x1000], h.regs, h.out)
	}
	if r.run(res.Programs[js.Leave]); r.th.ret != 100 {
		t.Errorf("ret %d", r.th.ret)
	}
}

// TestRegistersBeforeTheirChange reads registers to the left of what changes them, where the value is used only behind
// that.
func TestRegistersBeforeTheirChange(t *testing.T) {
	for text, want := range map[string]string{
		"c => { const f = (a, b) => log(a, b); f(c.regs.rax, (c.regs.rax = 5)); }":                                  "77 5",
		"c => { switch (c.regs.rax) { case (c.regs.rax = 5): log('changed'); break; case 77: log('as it was'); } }": "as it was",
		"c => { log(max(c.regs.xmm1, (c.regs.rax = 5) * 1.0)); }":                                                   "5",
		"c => { log(c.regs.rax > (c.regs.rax = 5) * 1.0); }":                                                        "true",
	} {
		r := newRig(t)
		r.th.floats[1] = 2
		u := parse(t, text, nil)
		u.Unsafe, u.Arena = true, r.arena
		if got := r.run(compiled(t, u).Programs[js.Enter]).lines; len(got) != 1 || got[0] != want {
			t.Errorf("%s\nlogs %q, want %q", text, got, want)
		}
	}
}

// Every reader of memory has its writer, and reads back what that wrote.
func TestWriters(t *testing.T) {
	r := newRig(t)
	r.th.memory[0x1000] = strings.Repeat("\xff", 64)
	r.th.args[0] = 0x1000
	u := parse(t, `c => { const p = c.arg0;
		write.i8(p, -2); write.u16(p + 2, 65534); write.i32(p + 4, -7); write.u64(p + 8, 1 << 63); write.f32(p + 16, 0.1);
		write.f64(p + 24, 0.1); write.ptr(p + 32, p); write.str(p + 40, "text"); write.f32(p + 48, 3);
		log(i8(p), u8(p + 1), u16(p + 2), i32(p + 4), u64(p + 8), f32(p + 16), f64(p + 24), ptr(p + 32) === p, str(p + 40), u8(p + 45), f32(p + 48)); }`, nil)
	u.Unsafe = true
	u.Arena = r.arena
	got := r.run(compiled(t, u).Programs[js.Enter]).lines
	want := "-2 255 65534 -7 9223372036854775808 0.10000000149011612 0.1 true text 255 3"
	if len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A signal there is not would be a trap of every hit: a constant one is refused.
func TestSignalsThatAre(t *testing.T) {
	for call, ok := range map[string]bool{"signal(1)": true, "signal(64)": true, "signal(c.arg0)": true, "signal(0)": false, "signal(65)": false, "signal(-1)": false} {
		u := parse(t, "c => { "+call+"; }", nil)
		u.Unsafe = true
		if _, list := Compile(u); list.HasErrors() == ok || !ok && list[0].Hint == "" {
			t.Errorf("%s: %v", call, list)
		}
	}
}

// The probed instruction sets the program counter behind enter and leave: an assignment would be lost in silence.
func TestProgramCounterIsNotLost(t *testing.T) {
	for text, ok := range map[string]bool{
		"c => { c.regs.rip = c.arg0; }": false, "c => { c.regs.pc += 2; }": false, "({ leave(c) { c.regs.eip = 1; } })": false,
		"({ post(c) { c.regs.rip += 2; } })": true, "({ fault(c) { c.regs.rip += 7; } })": true, "c => { c.regs.rsp = c.regs.rip; }": true,
	} {
		u := parse(t, text, nil)
		u.Unsafe = true
		if _, list := Compile(u); list.HasErrors() == ok || !ok && list[0].Hint == "" {
			t.Errorf("%s: %v", text, list)
		}
	}
}

// fakePlace is debug information that a test makes up.
type fakePlace struct{ access map[string]compile.Access }

func (p fakePlace) Name() string         { return "test" }
func (p fakePlace) Addr() (uint64, bool) { return 0x2000, true }

func (p fakePlace) File() string { return "/bin/fake" }
func (p fakePlace) Access(path []string) (compile.Access, error) {
	a, ok := p.access[strings.Join(path, ".")]
	if !ok {
		return a, errors.New("no argument " + strings.Join(path, "."))
	}
	return a, nil
}
func (p fakePlace) ReturnType() (compile.Access, bool, error) {
	a, ok := p.access["ret"]
	return a, ok && a.Shape == nil, nil
}
func (p fakePlace) ResultMember(path []string) (compile.Access, error) {
	return p.Access(append([]string{"ret"}, path...))
}
func (p fakePlace) Arg(n int) (compile.Access, bool, error) {
	a, ok := p.access[fmt.Sprint("arg", n)]
	if a.Reg == "half" {
		return a, ok, errors.New("only half of it is in a register")
	}
	return a, ok, nil
}

// smallPlace is a place of a 32-bit target.
type smallPlace struct{ fakePlace }

func (smallPlace) WordSize() int { return 4 }

// parse32 is a unit that reads what lies in the frame, at the place of another.
func parse32(t *testing.T, of js.Unit) js.Unit {
	u := parse(t, "c => log(c.args.fr)", nil)
	u.Place = of.Place
	return u
}

// TestResultMembers reads members of results by name, and operands of marks. An operand that cannot be read is an
// error, never the register that passes arguments elsewhere.
func TestResultMembers(t *testing.T) {
	p := fakePlace{map[string]compile.Access{
		"ret":     {Base: compile.BaseReg, Reg: "rsi"},
		"ret.x":   {Base: compile.BaseReg, Reg: "rsi", Steps: []compile.AccessStep{{Op: compile.OpLoad, Size: 1}}},
		"ret.v.2": {Base: compile.BaseReg, Reg: "rdi"},
		"arg1":    {Base: compile.BaseReg, Reg: "half"},
	}}
	r := newRig(t)
	r.th.memory[0] = "!"
	u := parse(t, "({ leave(c) { const r = c.ret, { v } = r; let m = c.ret; log(r.x, c.ret.x, v[2], r, m); } })", nil)
	u.Place = p
	if got := r.run(compiled(t, u).Programs[js.Leave]).lines; len(got) != 1 || got[0] != "33 33 55 0 0" {
		t.Errorf("got %q", got)
	}
	for text, say := range map[string]string{"({ leave(c) { log(c.ret.y); } })": "no argument ret.y", "c => log(c.arg0, c.arg1)": "arg1: only half of it is in a register"} {
		u := parse(t, text, nil)
		u.Place = p
		if _, diags := Compile(u); len(diags) != 1 || diags[0].Text != say {
			t.Errorf("%s: got %v", text, diags)
		}
	}
}

// TestIntegerOfResults: integer(c.ret) serves functions of all types. What has no integer is the other value, and no
// error.
func TestIntegerOfResults(t *testing.T) {
	const program = "({ leave(c) { log(integer(c.ret, 7), integer(c.ret), integer(c.arg0), integer(1.5, c.arg0)); } })"
	for _, c := range []struct {
		name string
		ret  *compile.Access
		want string
	}{
		{"no debug information", nil, "0 0 42 42"},
		{"integer", &compile.Access{Base: compile.BaseConst, Value: 3}, "3 3 42 42"},
		{"bool", &compile.Access{Base: compile.BaseConst, Value: 1, Type: compile.TypeBool}, "true true 42 42"},
		{"float", &compile.Access{Base: compile.BaseConst, Value: 3, Type: compile.TypeF64}, "7 0 42 42"},
		{"nothing", &compile.Access{Type: compile.TypeVoid}, "7 0 42 42"},
		{"struct", &compile.Access{Shape: &shape.Shape{}}, "7 0 42 42"},
	} {
		p := fakePlace{map[string]compile.Access{}}
		if c.ret != nil {
			p.access["ret"] = *c.ret
		}
		r, u := newRig(t), parse(t, program, nil)
		u.Place = p
		r.th.args[0] = 42
		if got := r.run(compiled(t, u).Programs[js.Leave]).lines; len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: got %q, want %s", c.name, got, c.want)
		}
	}
}

func TestAccess(t *testing.T) {
	steps := func(s ...compile.AccessStep) []compile.AccessStep { return s }
	p := fakePlace{map[string]compile.Access{
		"n":    {Base: compile.BaseReg, Reg: "rdi", Steps: steps(compile.AccessStep{Op: compile.OpTruncate, Size: 1, Signed: true})},
		"p":    {Base: compile.BaseReg, Reg: "rsi", Steps: steps(compile.AccessStep{Op: compile.OpTruncate, Size: 8})},
		"p.x":  {Base: compile.BaseRegOffset, Reg: "rsi", Value: 4, Steps: steps(compile.AccessStep{Op: compile.OpLoad, Size: 2, Signed: true})},
		"p.b":  {Base: compile.BaseReg, Reg: "rsi", Steps: steps(compile.AccessStep{Op: compile.OpOffset, Offset: 4}, compile.AccessStep{Op: compile.OpLoad, Size: 1}, compile.AccessStep{Op: compile.OpBits, Offset: 4, Size: 3})},
		"yes":  {Base: compile.BaseConst, Value: 1, Type: compile.TypeBool},
		"fr":   {Base: compile.BaseFrame, Value: 8, Steps: steps(compile.AccessStep{Op: compile.OpLoad, Size: 1})},
		"v.2":  {Base: compile.BaseAddr, Value: 0x1ff0, Steps: steps(compile.AccessStep{Op: compile.OpIndex, Reg: "rax", Size: 4}, compile.AccessStep{Op: compile.OpLoad, Size: 1})},
		"d":    {Base: compile.BaseReg, Reg: "xmm1", Type: compile.TypeF64},
		"k":    {Base: compile.BaseConst, Value: -0x3ffe000000000000, Steps: steps(compile.AccessStep{Op: compile.OpTruncate, Size: 8, Float: true}), Type: compile.TypeF64},
		"k4":   {Base: compile.BaseConst, Value: 0x3fc00000, Steps: steps(compile.AccessStep{Op: compile.OpTruncate, Size: 4, Float: true}), Type: compile.TypeF64},
		"note": {Base: compile.BaseConst, Value: -3, Type: compile.TypeF64},
		"arg1": {Base: compile.BaseConst, Value: -3},
		"p.f":  {Base: compile.BaseReg, Reg: "rsi", Steps: steps(compile.AccessStep{Op: compile.OpLoad, Size: 4, Float: true}), Type: compile.TypeF64},
	}}
	r := newRig(t)
	r.th.memory[55] = "\x00"
	r.th.memory[0] = "\x00\x00\x80\x3f\xfe\xff......................................................"
	u := parse(t, `({ enter(c) {
		const { args: { n, p, yes: flag } } = c, { x } = p;
		log(n, x, p.x, c.args.p.b, flag, c.arg1, c.args.p.f, c.arg0);
		const q = c.args.p; log(q.x, c.args.v[2], c.args.d);
		log(c.args.k, c.args.k4, c.args.note, c.args.k * 2); } })`, nil)
	r.th.fields = map[runtime.Field]uint64{runtime.FieldPC: 0x5000}
	r.th.memory[0x5000-16+77*4], r.th.floats[1] = "!", 2.5
	u.Place = p
	r.th.args[0] = 7
	res := compiled(t, u)
	if got := r.run(res.Programs[js.Enter]).lines; len(got) != 3 || got[0] != "55 -2 -2 7 true -3 1 7" || got[1] != "-2 33 2.5" || got[2] != "-2.25 1.5 -3 -4.5" {
		t.Errorf("got %q\n%s", got, listing(res.Programs[js.Enter]))
	}
	if !res.UsesPlace || !res.UsesArg {
		t.Error("the place matters")
	}
	u.Place = smallPlace{p}
	r.th.fields[runtime.FieldSP], r.th.memory[0x10c] = 0x100, "("
	if got := r.run(compiled(t, parse32(t, u)).Programs[js.Enter]).lines; len(got) != 1 || got[0] != "40" {
		t.Errorf("frame of a 32-bit target: got %q", got)
	}
	// Of text with a length a part may be optimised out: that is what is wrong, not that it lies in registers.
	p.access["s"] = compile.Access{Shape: &shape.Shape{Kind: shape.Struct, Text: &shape.SizedText{Address: "data.at", Len: "n"}}}
	p.access["s.n"] = compile.Access{Base: compile.BaseConst, Value: 4}
	u = parse(t, "c => log(str(c.args.s))", nil)
	u.Place = p
	if _, diags := Compile(u); len(diags) != 1 || diags[0].Text != "no argument s.data.at" {
		t.Errorf("text without its address: got %v", diags)
	}
	u = parse(t, "c => log(c.args.gone.x)", nil)
	u.Place = p
	if _, diags := Compile(u); len(diags) != 1 || diags[0].Text != "no argument gone.x" {
		t.Errorf("got %v", diags)
	}
}

// Divisions are warned of where the operands are known to be integers: without a place nothing is known of arguments
// and results.
func TestDivisionsAtPlaces(t *testing.T) {
	word := compile.Access{Base: compile.BaseReg, Reg: "rdi", Type: compile.TypeInt}
	double := compile.Access{Base: compile.BaseReg, Reg: "xmm0", Type: compile.TypeF64}
	for _, test := range []struct {
		Assignable fakePlace
		known      bool
		want       int
	}{
		{known: false, want: 0},
		{fakePlace{map[string]compile.Access{"x": word}}, true, 2},
		{fakePlace{map[string]compile.Access{"x": double}}, true, 0},
	} {
		u := parse(t, "c => { log(c.args.x / 3); log(c.args.x / 4 * 5); }", nil)
		if test.known {
			u.Place = test.Assignable
		}
		if _, list := Compile(u); len(list) != test.want {
			t.Errorf("%v: %v", test.Assignable, list)
		}
	}
}
