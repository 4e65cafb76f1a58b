package main

import (
	"reflect"
	"strings"
	"testing"

	"gotap/compile/diag"
	"gotap/compile/dpdf"
	"gotap/runtime"
	"gotap/runtime/facility"
	"gotap/script/output"
)

// logged is a record with one item of each kind.
func logged(comm string, flags uint16) *definitionRecord {
	item := func(kind runtime.ItemKind, text, field string, v runtime.Value) runtime.Item {
		return runtime.Item{Format: &runtime.Format{Kind: kind, Text: text, Fields: []runtime.RecordField{{Name: field, Kind: v.Kind}}},
			Values: []runtime.Value{v}}
	}
	rec := runtime.Record{Header: runtime.Header{Pid: 7, Tid: 8, Flags: flags}}
	copy(rec.Comm[:], comm)
	word := func(n int64) runtime.Value { return runtime.Value{Kind: runtime.ValueUint, Int: n} }
	rec.Items = []runtime.Item{
		item(runtime.ItemString, "", "", runtime.Value{Kind: runtime.ValueText, Text: "a\n\"b", Cut: true}),
		item(runtime.ItemWords, "minor", "", word(9)),
		item(runtime.ItemWords, "", "", word(-1)),
		item(runtime.ItemWords, "", "lv[3]", word(16)),
		item(runtime.ItemRange, "", "", runtime.Value{Kind: runtime.ValueBytes, Text: "0123456789abcdef\x00\xff"}),
	}
	return newDefinitionRecord(&rec, &definedProbe{Probe: &dpdf.Probe{Major: 1, Minor: 2}})
}

func TestRecordText(t *testing.T) {
	want := `dprobes(1,9) pid=7 tid=8 comm=say: "a\n\"b".. 0xffffffffffffffff lv[3]=0x10 18 bytes
  00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  |0123456789abcdef|
  00000010  00 ff                                             |..|
`
	if got := logged("say", 0).text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for comm, start := range map[string]string{
		"a b":  `dprobes(1,9) pid=7 tid=8 comm="a b" fault: `,
		"x\ny": `dprobes(1,9) pid=7 tid=8 comm="x\ny" fault: `,
	} {
		if got := logged(comm, runtime.RecordFault).text(); !strings.HasPrefix(got, start) {
			t.Errorf("%q, not %q", got, start)
		}
	}
}

func TestRecordEvent(t *testing.T) {
	e := logged("say", runtime.RecordFault).event("say:f")
	want := []output.Field{{Name: "major", Value: uint64(1)}, {Name: "minor", Value: uint64(9)},
		{Name: "log", Value: []string{"a\n\"b..", "0xffffffffffffffff", "lv[3]=0x10", "3031323334353637383961626364656600ff"}},
		{Name: "fault", Value: true}}
	if e.Probe != "say:f" || e.Comm != "say" || !reflect.DeepEqual(e.Fields, want) {
		t.Errorf("%+v", e)
	}
}

func TestDefinitionFlags(t *testing.T) {
	f := definitionFlags{defs: []string{"A=0x10", "B", "C="}, groups: "1, 0x20", types: "3"}
	o, err := f.options(true)
	if err != nil || !reflect.DeepEqual(o, definitionOptions{defs: map[string]string{"A": "0x10", "B": "1", "C": ""},
		groups: []int{1, 32}, types: []int{3}, unsafe: true}) {
		t.Errorf("%+v, %v", o, err)
	}
	for _, bad := range []definitionFlags{{defs: []string{"=1"}}, {groups: "1,"}, {types: "70000"}, {groups: "-1"}} {
		if _, err := bad.options(false); err == nil || hintOf(err) == "" {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	for _, p := range []struct {
		group, typ int
		want       bool
	}{{1, 3, true}, {32, 3, true}, {2, 3, false}, {1, 4, false}} {
		if got := o.selects(&dpdf.Probe{Group: p.group, Type: p.typ}); got != p.want {
			t.Errorf("group %d, type %d: %v", p.group, p.typ, got)
		}
	}
}

// loadText loads a definition with variables in an arena.
func loadText(t *testing.T, text string, v definitionVariables) *definition {
	t.Helper()
	d, list := loadDefinition(scriptText{name: "a.dpdf", text: text}, definitionOptions{}, v, 5)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDefinitionVariables: local ones stay in a new version of as many, global ones are everybody's.
func TestDefinitionVariables(t *testing.T) {
	arena, err := runtime.NewArena(runtime.ArenaOptions{Size: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer arena.Close()
	v := definitionVariables{arena: arena, shared: &sharedVariables{}}
	text := func(vars string) string {
		return "name = a\nglobals = 2\nvars = " + vars + "\noffset = f\ninc lv,0\ninc gv,1\nexit\n"
	}
	first, other := loadText(t, text("2"), v), loadText(t, text("2"), v)
	if first.file.Locals == other.file.Locals || first.file.GlobalVars != other.file.GlobalVars {
		t.Errorf("%+v and %+v", first.file, other.file)
	}
	v.before = first
	same, more := loadText(t, text("2"), v), loadText(t, text("3"), v)
	if same.file.Locals != first.file.Locals || more.file.Locals == first.file.Locals {
		t.Errorf("%d and %d after %d", same.file.Locals, more.file.Locals, first.file.Locals)
	}
	if !same.probes[0].same(first.probes[0]) || more.probes[0].same(first.probes[0]) || other.probes[0].same(first.probes[0]) {
		t.Error("probes that are the same, and are not, are not told apart")
	}
}

func TestFacilities(t *testing.T) {
	_, list := loadDefinition(scriptText{name: "a.dpdf", text: "name = a\noffset = f\nexit 77\n"}, definitionOptions{served: facility.NewTable().Served},
		definitionVariables{}, 1)
	if len(list) != 1 || list[0].Severity != diag.Error || !strings.Contains(list[0].Text, "facility 77") {
		t.Errorf("%v", list)
	}
}
