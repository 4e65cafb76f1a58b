package compile

import (
	"math/rand/v2"
	"testing"

	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	rtvalue "gotap/runtime/value"
)

// generator writes random programs that are mostly right: it knows what is on the stack as it goes.
type generator struct {
	*Builder
	r       *rand.Rand
	kinds   []byte // of the words on the stack: 'w' or 's'
	temps   map[uint32]byte
	objects []int
	format  uint32
	budget  int
	depth   int
}

// generate is a random program that uses the objects.
func generate(r *rand.Rand, objects []int) *Program {
	b := NewBuilder("random")
	b.SetUnsafe(true)
	b.UseThis(64 + arena.TextCell)
	g := &generator{Builder: b, r: r, temps: map[uint32]byte{}, objects: objects, budget: 10 + r.IntN(150)}
	if r.IntN(3) == 0 {
		b.Format(record.Format{Kind: record.ItemTrace, Fields: []record.Field{{Kind: rtvalue.KindText}}})
		b.SetExceptions(runtime.MaskSet|uint32(r.IntN(0x10000)), r.IntN(2)*r.IntN(runtime.MaxTrace), r.IntN(2) == 0)
	}
	g.format = b.Format(record.Format{Fields: []record.Field{{Kind: rtvalue.KindInt}, {Kind: rtvalue.KindText, IsLiteral: true, Literal: "is"}, {Kind: rtvalue.KindText}}})
	g.block()
	b.Exit([]outcome.ExitKind{outcome.ExitPlain, outcome.ExitEvent, outcome.ExitDump}[r.IntN(3)])
	p, err := b.Program()
	if err != nil {
		panic(err)
	}
	return p
}

// block writes a few statements that leave the stack as it was, or higher.
func (g *generator) block() {
	g.depth++
	defer func() { g.depth-- }()
	for range 1 + g.r.IntN(12) {
		if g.budget--; g.budget < 0 {
			return
		}
		switch n := g.r.IntN(20); {
		case n == 0 && g.depth < 5:
			g.branch()
		case n == 1 && g.depth < 5:
			g.counted()
		case n == 2 && g.depth < 5:
			g.counter()
		case n == 3:
			g.item()
		case n == 4:
			g.object()
		case n == 5:
			g.temp()
		case n == 6 && g.depth == 1:
			g.handled()
		case n == 7:
			g.framed()
		default:
			g.plain()
		}
	}
}

// want makes the top of the stack be of some kinds, the last on top.
func (g *generator) want(kinds string) {
	have := string(g.kinds)
	if len(have) >= len(kinds) && have[len(have)-len(kinds):] == kinds && g.r.IntN(3) > 0 {
		return
	}
	for _, k := range kinds {
		if k == 's' {
			g.PushText(randomText(g.r))
		} else {
			g.word()
		}
		g.kinds = append(g.kinds, byte(k))
	}
}

// word pushes a number.
func (g *generator) word() {
	switch g.r.IntN(6) {
	case 0:
		g.A(opcode.Field, uint32(g.r.IntN(int(runtime.NumFields))))
	case 1:
		g.A(opcode.Arg, uint32(g.r.IntN(8)))
	case 2:
		g.PushReg("rax")
	default:
		g.Push(randomWord(g.r))
	}
}

// level drops or pushes words until the stack has the kinds given.
func (g *generator) level(kinds string) {
	same := 0
	for same < min(len(kinds), len(g.kinds)) && kinds[same] == g.kinds[same] {
		same++
	}
	if n := len(g.kinds) - same; n > 0 {
		g.A(opcode.Drop, uint32(n))
	}
	g.kinds = g.kinds[:same]
	for _, k := range kinds[same:] {
		if k == 's' {
			g.PushText("")
		} else {
			g.word()
		}
	}
	g.kinds = []byte(kinds)
}

// plain writes one command with a fixed picture.
func (g *generator) plain() {
	row := &opcode.Table[g.r.IntN(len(opcode.Table))]
	switch {
	case row.Does.Has(opcode.Moves) || labels(row.Op()) || ends(row.Op()) || row.Operand.IsObject() || row.Operand == opcode.FormatOperand:
		g.shuffle()
		return
	case row.Does&(opcode.BuildsKey|opcode.UsesKey|opcode.BeginsItem|opcode.LogsField|opcode.EndsItem|opcode.LogsItem|opcode.OutsideItem) != 0 || row.Needs&opcode.NeedHeap != 0:
		return
	}
	for range len(row.In) {
		if len(g.kinds) > 24 {
			g.level("")
		}
	}
	g.want(row.In)
	c := randomCommand(g.r, &g.p)
	for c.Op != row.Op() {
		least, most := operandRange(&g.p, row)
		if most < least {
			return
		}
		c = Command{Op: row.Op(), A: uint32(least + g.r.IntN(most-least+1)), V: 0}
		if row.Operand == opcode.WordOperand {
			c.V = randomWord(g.r)
		}
	}
	g.Emit(c.Op, c.A, c.V, g.pos)
	g.kinds = append(g.kinds[:len(g.kinds)-len(row.In)], row.Out...)
}

// shuffle moves words about.
func (g *generator) shuffle() {
	if len(g.kinds) < 2 || len(g.kinds) > 20 {
		return
	}
	n := len(g.kinds)
	switch at := g.r.IntN(n); g.r.IntN(6) {
	case 0:
		g.Op(opcode.Dup)
		g.kinds = append(g.kinds, g.kinds[n-1])
	case 1:
		g.A(opcode.DupN, uint32(at%3))
		for range at % 3 {
			g.kinds = append(g.kinds, g.kinds[n-1])
		}
	case 2:
		g.Op(opcode.Xchg)
		g.kinds[n-1], g.kinds[n-2] = g.kinds[n-2], g.kinds[n-1]
	case 3:
		g.A(opcode.Pick, uint32(at))
		g.kinds = append(g.kinds, g.kinds[n-1-at])
	case 4:
		g.A(opcode.Poke, uint32(at))
		g.kinds[n-1-at] = g.kinds[n-1]
		g.kinds = g.kinds[:n-1]
	case 5:
		g.Op(opcode.Over)
		g.kinds = append(g.kinds, g.kinds[n-2])
	}
}

// branch writes an if, with an else at times.
func (g *generator) branch() {
	g.want("w")
	op := []opcode.Op{opcode.Jz, opcode.Jnz, opcode.Jlt, opcode.Jle, opcode.Jgt, opcode.Jge}[g.r.IntN(6)]
	other, done := g.NewLabel(), g.NewLabel()
	g.Jump(op, other)
	g.kinds = g.kinds[:len(g.kinds)-1]
	before, temps := string(g.kinds), g.keepTemps()
	g.block()
	if g.r.IntN(6) == 0 {
		g.Exit(outcome.ExitPlain)
	} else {
		g.level(before)
		g.Jump(opcode.Jmp, done)
	}
	g.Place(other)
	g.kinds, g.temps = []byte(before), temps
	if g.r.IntN(2) == 0 {
		g.block()
	}
	g.level(before)
	g.temps = temps
	g.Place(done)
}

// keepTemps copies what is assigned.
func (g *generator) keepTemps() map[uint32]byte {
	kept := map[uint32]byte{}
	for t, k := range g.temps {
		kept[t] = k
	}
	return kept
}

// counted writes a loop over a scratch word, now and then a little wrong.
func (g *generator) counted() {
	from, to, by := int64(g.r.IntN(5)), int64(g.r.IntN(9)), int64(1+g.r.IntN(3))
	op := []opcode.Op{opcode.Lt, opcode.Le, opcode.Ult, opcode.Gt, opcode.Ne}[g.r.IntN(5)]
	if g.r.IntN(4) == 0 {
		from, by = to+3, -by
	}
	before, temps := string(g.kinds), g.keepTemps()
	countingLoop(g.Builder, from, op, to, by, func(i uint32) {
		if g.r.IntN(2) == 0 {
			g.temps[i] = 'w'
		}
		g.block()
		g.level(before)
	})
	g.kinds, g.temps = []byte(before), temps
}

// counter writes a loop over a counter on the stack.
func (g *generator) counter() {
	if len(g.kinds) > 20 {
		return
	}
	n := uint64(g.r.IntN(6))
	before, temps := string(g.kinds)+"w", g.keepTemps()
	g.Push(n)
	g.kinds = append(g.kinds, 'w')
	again := g.NewLabel()
	g.Place(again)
	g.block()
	for len(g.kinds) > len(before) {
		g.A(opcode.Drop, 1)
		g.kinds = g.kinds[:len(g.kinds)-1]
	}
	g.level(before)
	g.Jump(opcode.Loop, again)
	g.kinds, g.temps = g.kinds[:len(g.kinds)-1], temps
}

// handled writes commands with a handler: at the outermost, because nothing else is left when
// it is entered.
func (g *generator) handled() {
	before := string(g.kinds)
	handler, done := g.NewLabel(), g.NewLabel()
	if again := g.NewLabel(); g.r.IntN(4) == 0 && before == "" {
		g.Place(again) // now and then the handler sets itself again
		handler = again
		g.level("www")
		g.Op(opcode.PushX)
		g.A(opcode.Drop, 6)
		g.kinds = nil
	}
	g.Jump(opcode.SetX, handler)
	g.block()
	switch g.r.IntN(4) {
	case 0:
		g.want("www")
		g.Op(opcode.Raise)
	case 1:
		g.Op(opcode.UnsetX)
		fallthrough
	default:
		g.level(before)
		g.Jump(opcode.Jmp, done)
	}
	g.temps = map[uint32]byte{}
	if b := g.Builder; b.labels[handler] < 0 {
		g.Place(handler)
		g.kinds = []byte("www")
		g.block()
		g.level(before)
	}
	g.kinds = []byte(before)
	g.Place(done)
}

// framed saves the depth of the stack and goes back to it, or counts words from its base.
func (g *generator) framed() {
	n := len(g.kinds)
	if n == 0 || n > 16 {
		return
	}
	g.Op(opcode.SaveTSP)
	switch g.r.IntN(4) {
	case 0:
		g.A(opcode.PopTV, g.Temp())
		g.want("ws")
		g.A(opcode.Drop, uint32(len(g.kinds)-n))
	case 1:
		g.Op(opcode.RestoreSBP)
		g.A(opcode.PickBase, uint32(-1-int32(g.r.IntN(n))))
		g.Op(opcode.Nop)
		g.A(opcode.Drop, 1)
	case 2:
		g.want("www")
		g.A(opcode.Pick, uint32(len(g.kinds)-n))
		g.Op(opcode.RestoreTSP)
	case 3:
		g.Op(opcode.PopSTP)
		g.Op(opcode.LogTrace)
	}
	g.kinds = g.kinds[:n]
}

// item logs something.
func (g *generator) item() {
	g.A(opcode.Item, g.format)
	g.want("w")
	g.Op(opcode.LogInt)
	g.kinds = g.kinds[:len(g.kinds)-1]
	g.want("s")
	g.Op(opcode.LogText)
	g.kinds = g.kinds[:len(g.kinds)-1]
	g.Op(opcode.EndItem)
	if g.r.IntN(3) == 0 {
		g.Op([]opcode.Op{opcode.PushPLP, opcode.PushLP}[g.r.IntN(2)])
		g.Op(opcode.PopLP)
	}
}

// object uses a shared variable, a map or a histogram: the objects given, in this order.
func (g *generator) object() {
	g.want("w")
	switch g.r.IntN(4) {
	case 0:
		g.Object(opcode.AddGV, g.objects[0])
	case 1:
		g.Op(opcode.KeyInt)
		g.Object(opcode.MapDel, g.objects[1])
	case 2:
		g.Op(opcode.Dup)
		g.Op(opcode.KeyInt)
		g.Object(opcode.MapSet, g.objects[1])
	case 3:
		g.Object(opcode.Agg, g.objects[2])
	}
	g.kinds = g.kinds[:len(g.kinds)-1]
}

// temp assigns or reads a scratch word.
func (g *generator) temp() {
	for t, k := range g.temps {
		if g.r.IntN(2) == 0 && len(g.kinds) < 20 {
			g.A(opcode.PushTV, t)
			g.kinds = append(g.kinds, k)
			return
		}
	}
	if len(g.kinds) > 0 {
		t := g.Temp()
		g.A(opcode.PopTV, t)
		g.temps[t] = g.kinds[len(g.kinds)-1]
		g.kinds = g.kinds[:len(g.kinds)-1]
	}
}

// mutated changes a program a little, so that most of them are wrong in one place.
func mutated(r *rand.Rand, p *Program) *Program {
	q := *p
	q.Code = append([]Command(nil), p.Code...)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(q.Code))
		switch r.IntN(3) {
		case 0:
			q.Code[at] = randomCommand(r, &q)
		case 1:
			q.Code[at].V = randomWord(r)
			if opcode.RowOf(q.Code[at].Op).Operand != opcode.WordOperand {
				q.Code[at].V = 0
			}
		case 2:
			q.Code[at] = q.Code[r.IntN(len(q.Code))]
		}
	}
	return &q
}

// target is a thread for tests: memory that is readable here and there, and other things that
// depend on the seed alone, so that a program that asks for less gets the same.
type target struct{ seed uint64 }

// word is thing n of the target.
func (t target) word(n int) uint64 { return randomWord(rand.New(rand.NewPCG(t.seed, uint64(n)))) }

func (t target) ReadMemory(addr uint64, p []byte) int {
	if addr%3 == 0 {
		return 0
	}
	for i := range p {
		p[i] = byte(addr) + byte(i)
	}
	return len(p)
}
func (t target) WriteMemory(addr uint64, p []byte) bool { return addr%3 != 0 }
func (t target) Arg(n int) (uint64, bool)               { return t.word(n), n < 6 }
func (t target) FloatWord(n int) (uint64, bool)         { return t.word(n), n < 8 }
func (t target) ArgFloat(n int) (float64, bool)         { return float64(t.word(n)), n < 6 }
func (t target) Return() uint64                         { return t.word(100) }
func (t target) SetReturn(v uint64)                     {}
func (t target) Field(f runtime.Field) uint64           { return t.word(200+int(f)) % 9 }
func (t target) Text(f runtime.TextField, p []byte) int { copy(p, "text"); return len("text") }
func (t target) Stack(pcs []uint64) int                 { return copy(pcs, []uint64{1, 2, 3}) }

// bench is a machine with an arena and a few objects.
type bench struct {
	arena   *arena.Arena
	machine *runtime.Machine
	objects []int
	hit     record.Log
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := openBench(t)
	t.Cleanup(func() { b.arena.Close() })
	return b
}

// openBench makes a bench whose arena the caller closes.
func openBench(t testing.TB) *bench {
	t.Helper()
	a, err := arena.New(arena.Options{Size: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{arena: a, machine: runtime.NewMachine(a)}
	for _, o := range []object.Object{{Name: "n"}, {Name: "m", Kind: object.KindMap, Keys: 1, Max: 64}, {Name: "h", Kind: object.KindHist}} {
		id, err := a.Declare(o)
		if err != nil {
			t.Fatal(err)
		}
		b.objects = append(b.objects, id)
	}
	if err := a.Refine(b.objects[1], []rtvalue.Kind{rtvalue.KindInt}, rtvalue.KindInt); err != nil {
		t.Fatal(err)
	}
	return b
}

// lower binds a program to the bench.
func (b *bench) lower(p *Program) (*runtime.Code, error) {
	return Lower(p, Env{Arena: b.arena, WordSize: 8, Register: func(name string) (int, int, int, bool) { return 10, 64, 0, name == "rax" }})
}

// run runs a program once.
func (b *bench) run(c *runtime.Code, seed uint64) outcome.Outcome {
	b.hit.Reset()
	ctx := runtime.Context{Thread: target{seed}, Regs: make([]uint64, 40), Word: 8, This: b.arena.AllocThis(64 + arena.TextCell)}
	defer b.arena.FreeThis(ctx.This, 64+arena.TextCell)
	return b.machine.Run(c, &ctx, &b.hit)
}

// check runs a verified program and compares what it does with what was proved.
func (b *bench) check(t *testing.T, p *Program, seed uint64) {
	t.Helper()
	c, err := b.lower(p)
	if err != nil {
		return // an object used with keys or values it does not have
	}
	out := b.run(c, seed)
	bad := ""
	switch {
	case out.Trap == outcome.TrapStack || out.Trap == outcome.TrapOp:
		bad = "a trap that cannot be"
	case out.Trap == outcome.TrapCalls && (!p.Wrap || p.Bound.Proved):
		bad = "too many calls without recursion" // which a circular stack allows
	case p.Bound.Proved && uint64(out.Steps) > p.Bound.Steps:
		bad = "more steps than proved"
	case p.Bound.Proved && p.Bound.Steps <= uint64(p.fuel()) && out.Trap == outcome.TrapFuel:
		bad = "out of fuel"
	case b.hit.Len() > p.Bound.LogBytes:
		bad = "more bytes logged than proved"
	}
	if bad != "" {
		t.Fatalf("%s: %+v, %d bytes logged, proved %v\n%s", bad, out, b.hit.Len(), p.Bound, listed(t, p))
	}
}

// TestMarkOfCutText: a text that was cut keeps its mark when another is set behind it, which makes the two longer than
// both.
func TestMarkOfCutText(t *testing.T) {
	b := newBench(t)
	p := assembled(t, ".format log | text 0\n.text \"seven c\"\nitem,0\npush d,4097\npush d,1\nstr\npush s,0\nscat\nlog s\nend item\nexit")
	if err := Verify(p).Err(); err != nil {
		t.Fatal(err)
	}
	b.check(t, p, 1)
	if b.hit.Len() != 8+8+16 {
		t.Errorf("%d bytes logged", b.hit.Len())
	}
}

func TestVerifiedProgramsStayInBounds(t *testing.T) {
	b := newBench(t)
	accepted, proved, changed := 0, 0, 0
	rounds := 4000
	if testing.Short() {
		rounds = 2000
	}
	for seed := range uint64(rounds) {
		if seed%1000 == 999 {
			b = newBench(t) // an arena remembers every program
		}
		r := rand.New(rand.NewPCG(seed, 1))
		p := generate(r, b.objects)
		if diags := Verify(p); diags.HasErrors() {
			continue
		}
		accepted++
		if p.Bound.Proved {
			proved++
		}
		b.check(t, p, seed)
		if q := mutated(r, p); !Verify(q).HasErrors() {
			changed++
			b.check(t, q, seed)
		}
	}
	t.Logf("%d accepted, of them %d with a bound; %d accepted after a change", accepted, proved, changed)
	if accepted < rounds/4 || proved < accepted/4 || changed < rounds/20 {
		t.Errorf("too few programs were accepted to show anything: %d, %d, %d", accepted, proved, changed)
	}
}

// FuzzVerified runs random programs for as long as it is let; TestVerifiedProgramsStayInBounds
// is the short form.
func FuzzVerified(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	b := openBench(f)
	runs := 0
	f.Fuzz(func(t *testing.T, seed, change uint64) {
		if runs++; runs%1000 == 0 { // an arena remembers every program
			b.arena.Close()
			b = openBench(t)
		}
		p := generate(rand.New(rand.NewPCG(seed, 1)), b.objects)
		if change != 0 {
			p = mutated(rand.New(rand.NewPCG(change, 3)), p)
		}
		if !Verify(p).HasErrors() {
			b.check(t, p, seed)
		}
	})
}
