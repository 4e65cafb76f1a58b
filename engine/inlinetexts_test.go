package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	rtoutcome "gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// placeText pushes a text of the place.
func placeText(f runtime.TextField) runtime.Inst { return runtime.Inst{Op: opcode.Text, A: uint32(f)} }

// countsBy is a program that counts by a text of the place and a constant one.
func (w *world) countsBy(counts uint64, f runtime.TextField, how string) *runtime.Code {
	key := runtime.Inst{Op: opcode.KeyText, A: uint32(value.KindText)}
	c := w.code(placeText(f), key, runtime.Inst{Op: opcode.PushS}, key, runtime.Inst{Op: opcode.PushD, V: 1}, runtime.Inst{Op: opcode.Agg, V: counts})
	c.Texts = []string{how}
	return c
}

// logsTexts is a program that logs all texts of the place and a constant one, if the place has a certain name.
func (w *world) logsTexts(only string) *runtime.Code {
	text := record.Field{Kind: value.KindText}
	c := &runtime.Code{Stack: 16, Texts: []string{only, "a constant"}, LogMax: 1024, Insts: []runtime.Inst{
		placeText(runtime.TextFunc), {Op: opcode.PushS}, {Op: opcode.Seq}, {Op: opcode.Jz, A: 14}, {Op: opcode.Item},
		placeText(runtime.TextFunc), {Op: opcode.LogText}, placeText(runtime.TextModule), {Op: opcode.LogText}, placeText(runtime.TextProbe), {Op: opcode.LogText},
		{Op: opcode.PushS, A: 1}, {Op: opcode.LogText}, {Op: opcode.EndItem}, {Op: opcode.Exit, A: uint32(rtoutcome.ExitPlain)}}}
	c.ID = w.arena.Register(record.Program{Name: "texts", Formats: []record.Format{{Kind: record.ItemLog, Fields: []record.Field{text, text, text, text}}}})
	return c
}

// TestInlineTexts: native code has the texts of its place, at entries and at returns, as the interpreter has them.
func TestInlineTexts(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	for _, line := range []string{"work 300", "fork 30", "threads 200 4", "fact 12"} {
		t.Run(line, func(t *testing.T) {
			var seen [2][]string
			var stops [2]uint64
			for i, engine := range []Engine{Step, Inline} {
				w := newWorld(t, Config{Engine: engine, Follow: FollowChildren})
				tg := w.launch(program(t, "target.c"), strings.Fields(line)...)
				id, err := w.arena.Declare(object.Object{Name: "counts", Kind: object.KindCount, Keys: 2})
				if err == nil {
					err = w.arena.Refine(id, []value.Kind{value.KindText, value.KindText}, value.KindInt)
				}
				if err != nil {
					t.Fatal(err)
				}
				_, counts := w.arena.Lookup(id)
				named := func(name string) func(*ProbeSpec) { return func(p *ProbeSpec) { p.Name = name } }
				for _, f := range []string{"work", "fact", "run"} {
					w.probe("target*:"+f, Handlers{Enter: w.countsBy(counts, runtime.TextFunc, "enter"), Leave: w.countsBy(counts, runtime.TextFunc, "leave")})
					w.probe("target*:"+f, Handlers{Enter: w.countsBy(counts, runtime.TextProbe, "probe")}, named("the probe of "+f))
				}
				w.probe("target*:{work,fact}", Handlers{Enter: w.logsTexts("work")}, named("logs"))
				records := map[string]int{}
				w.records(func(r record.Record) { records[fmt.Sprint(r.Items[0].Values)]++ })
				for k, n := range records {
					seen[i] = append(seen[i], fmt.Sprint(k, " ", n))
				}
				for _, e := range w.arena.Handle(id).Entries().Entries {
					seen[i] = append(seen[i], fmt.Sprint(e))
				}
				slices.Sort(seen[i])
				stops[i] = w.Stats().Hits
				if !strings.HasSuffix(tg.output(), " bad=0\n") || len(w.arena.Lost()) > 0 {
					t.Errorf("output %q, lost %v", tg.output(), w.arena.Lost())
				}
			}
			if !slices.Equal(seen[0], seen[1]) || len(seen[0]) < 3 {
				t.Errorf("stepped %q,\ninline  %q", seen[0], seen[1])
			}
			if stops[0] > 500 && stops[1] > stops[0]/2 { // the first hit of each place, and each new key
				t.Errorf("%d stops, and %d when every hit stops", stops[1], stops[0])
			}
		})
	}
}

// keepsText is a program that keeps the text at the first argument in the storage of the call, "none" if there is none,
// and the caller behind it.
func (w *world) keepsText() *runtime.Code {
	c := w.code(runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.PushD, V: 1}, runtime.Inst{Op: opcode.Readable}, runtime.Inst{Op: opcode.Jz, A: 8},
		runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.PushD, V: value.DefaultText}, runtime.Inst{Op: opcode.Str}, runtime.Inst{Op: opcode.Jmp, A: 9},
		runtime.Inst{Op: opcode.PushS}, runtime.Inst{Op: opcode.PopThisS}, runtime.Inst{Op: opcode.Field, A: uint32(runtime.FieldCaller)},
		runtime.Inst{Op: opcode.PopThis, A: arena.TextCell / 8})
	c.Texts = []string{"none"}
	return c
}

// logsKept is a program that logs what keepsText has kept, and whether the caller is the same.
func (w *world) logsKept() *runtime.Code {
	c := &runtime.Code{Stack: 16, LogMax: 1024, Insts: []runtime.Inst{
		{Op: opcode.Item}, {Op: opcode.PushThisS}, {Op: opcode.LogText}, {Op: opcode.PushThis, A: arena.TextCell / 8},
		{Op: opcode.Field, A: uint32(runtime.FieldCaller)}, {Op: opcode.Eq}, {Op: opcode.LogInt}, {Op: opcode.EndItem}, {Op: opcode.Exit, A: uint32(rtoutcome.ExitPlain)}}}
	c.ID = w.arena.Register(record.Program{Name: "kept", Formats: []record.Format{{Kind: record.ItemLog, Fields: []record.Field{{Kind: value.KindText}, {Kind: value.KindInt}}}}})
	return c
}

// TestInlineMadeTexts: native code keeps and logs texts in all kinds of memory as the interpreter does, in calls that
// call themselves.
func TestInlineMadeTexts(t *testing.T) {
	path := program(t, "texts.c")
	var seen [2][]string
	var stops [2]uint64
	rounds := emulated(200, 500)
	for i, engine := range []Engine{Auto, Inline} {
		w := newWorld(t, Config{Engine: engine})
		w.launch(path, fmt.Sprint(rounds))
		w.probe("name", Handlers{Enter: w.keepsText(), Leave: w.logsKept()}, func(p *ProbeSpec) { p.ThisBytes = arena.TextCell + 8 })
		w.records(func(r record.Record) { seen[i] = append(seen[i], fmt.Sprint(r.Items[0].Values)) })
		stops[i] = w.Stats().Hits
		if len(w.arena.Lost()) > 0 {
			t.Errorf("lost %v", w.arena.Lost())
		}
	}
	if !slices.Equal(seen[0], seen[1]) || len(seen[0]) < 3*rounds {
		t.Errorf("%d records stepped, %d inline", len(seen[0]), len(seen[1]))
	}
	if stops[1] > stops[0]/2 {
		t.Errorf("%d stops, and %d when every hit stops", stops[1], stops[0])
	}
}

// logsJoined is a program that logs errno, the text at the first argument joined with its digits, and how that compares
// with a constant. If there is no text, it makes the digits alone.
func (w *world) logsJoined() *runtime.Code {
	errno := runtime.Inst{Op: opcode.Field, A: uint32(runtime.FieldErrno)}
	c := &runtime.Code{Stack: 16, Temps: 1, LogMax: 1024, Texts: []string{"on the stack0"}, Insts: []runtime.Inst{
		errno, {Op: opcode.Sdec}, {Op: opcode.PopTV}, {Op: opcode.Arg}, {Op: opcode.PushD, V: 1}, {Op: opcode.Readable}, {Op: opcode.Jz, A: 13},
		{Op: opcode.Arg}, {Op: opcode.PushD, V: 60}, {Op: opcode.Str}, {Op: opcode.PushTV}, {Op: opcode.Scat}, {Op: opcode.PopTV},
		{Op: opcode.Item}, errno, {Op: opcode.LogInt}, {Op: opcode.PushTV}, {Op: opcode.LogText}, {Op: opcode.PushTV}, {Op: opcode.PushS}, {Op: opcode.Scmp}, {Op: opcode.LogInt},
		{Op: opcode.EndItem}, {Op: opcode.Exit, A: uint32(rtoutcome.ExitPlain)}}}
	c.ID = w.arena.Register(record.Program{Name: "joined", Formats: []record.Format{{Kind: record.ItemLog, Fields: []record.Field{{Kind: value.KindInt}, {Kind: value.KindText}, {Kind: value.KindInt}}}}})
	return c
}

// TestInlineJoinedTexts: native code reads errno, and joins and compares texts, as the interpreter does.
func TestInlineJoinedTexts(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	var seen [2][]string
	var stops [2]uint64
	for i, engine := range []Engine{Step, Inline} {
		w := newWorld(t, Config{Engine: engine})
		w.launch(program(t, "texts.c"), "500")
		w.probe("name", Handlers{Enter: w.logsJoined()})
		w.records(func(r record.Record) { seen[i] = append(seen[i], fmt.Sprint(r.Items[0].Values)) })
		stops[i] = w.Stats().Hits
		if len(w.arena.Lost()) > 0 {
			t.Errorf("lost %v", w.arena.Lost())
		}
	}
	if !slices.Equal(seen[0], seen[1]) || !strings.Contains(fmt.Sprint(seen[0]), "on the stack-3") || !strings.Contains(fmt.Sprint(seen[0]), "on the stack3") {
		t.Errorf("%d records stepped, %d inline, the first ones\n%q\n%q", len(seen[0]), len(seen[1]), seen[0][:3], seen[1][:3])
	}
	if stops[1] > stops[0]/2 {
		t.Errorf("%d stops, and %d when every hit stops", stops[1], stops[0])
	}
}
