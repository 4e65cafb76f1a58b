package definition

import (
	"reflect"
	"strings"
	"testing"

	"gotap/compile/diag"
	"gotap/compile/dpdf"
	"gotap/runtime/arena"
	"gotap/runtime/facility"
	"gotap/runtime/record"
	"gotap/runtime/value"
	"gotap/script/output"
)

// logged is a record with one item of each kind.
func logged(comm string, flags uint16) *Record {
	item := func(kind record.ItemKind, text, field string, v value.Value) record.Item {
		return record.Item{Format: &record.Format{Kind: kind, Text: text, Fields: []record.Field{{Name: field, Kind: v.Kind}}},
			Values: []value.Value{v}}
	}
	rec := record.Record{Header: record.Header{Pid: 7, Tid: 8, Flags: flags}}
	copy(rec.Comm[:], comm)
	word := func(n int64) value.Value { return value.Value{Kind: value.KindUint, Int: n} }
	rec.Items = []record.Item{
		item(record.ItemString, "", "", value.Value{Kind: value.KindText, Text: "a\n\"b", Cut: true}),
		item(record.ItemWords, "minor", "", word(9)),
		item(record.ItemWords, "", "", word(-1)),
		item(record.ItemWords, "", "lv[3]", word(16)),
		item(record.ItemRange, "", "", value.Value{Kind: value.KindBytes, Text: "0123456789abcdef\x00\xff"}),
	}
	return NewRecord(&rec, &Probe{Probe: &dpdf.Probe{Major: 1, Minor: 2}, Name: "say:f"})
}

func TestRecordText(t *testing.T) {
	want := `dprobes(1,9) pid=7 tid=8 comm=say: "a\n\"b".. 0xffffffffffffffff lv[3]=0x10 18 bytes
  00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  |0123456789abcdef|
  00000010  00 ff                                             |..|
`
	if got := logged("say", 0).Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for comm, start := range map[string]string{
		"a b":  `dprobes(1,9) pid=7 tid=8 comm="a b" fault: `,
		"x\ny": `dprobes(1,9) pid=7 tid=8 comm="x\ny" fault: `,
	} {
		if got := logged(comm, record.FlagFault).Text(); !strings.HasPrefix(got, start) {
			t.Errorf("%q, not %q", got, start)
		}
	}
}

func TestRecordEvent(t *testing.T) {
	e := logged("say", record.FlagFault).Event()
	want := []output.Field{{Name: "major", Value: uint64(1)}, {Name: "minor", Value: uint64(9)},
		{Name: "log", Value: []string{"a\n\"b..", "0xffffffffffffffff", "lv[3]=0x10", "3031323334353637383961626364656600ff"}},
		{Name: "fault", Value: true}}
	if e.Probe != "say:f" || e.Comm != "say" || !reflect.DeepEqual(e.Fields, want) {
		t.Errorf("%+v", e)
	}
}

func TestSelection(t *testing.T) {
	o := Options{Groups: []int{1, 32}, Types: []int{3}}
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
func loadText(t *testing.T, text string, v Variables) *File {
	t.Helper()
	d, list := Load("a.dpdf", text, Options{}, v, 5)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDefinitionVariables: local ones stay in a new version of as many, global ones are everybody's.
func TestDefinitionVariables(t *testing.T) {
	arena, err := arena.New(arena.Options{Size: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer arena.Close()
	v := Variables{Arena: arena, Shared: &Shared{}}
	text := func(vars string) string {
		return "name = a\nglobals = 2\nvars = " + vars + "\noffset = f\ninc lv,0\ninc gv,1\nexit\n"
	}
	first, other := loadText(t, text("2"), v), loadText(t, text("2"), v)
	if first.Locals == other.Locals || first.GlobalVars != other.GlobalVars {
		t.Errorf("%+v and %+v", first.File, other.File)
	}
	v.Before = first
	same, more := loadText(t, text("2"), v), loadText(t, text("3"), v)
	if same.Locals != first.Locals || more.Locals == first.Locals {
		t.Errorf("%d and %d after %d", same.Locals, more.Locals, first.Locals)
	}
	if !same.Probes[0].Same(first.Probes[0]) || more.Probes[0].Same(first.Probes[0]) || other.Probes[0].Same(first.Probes[0]) {
		t.Error("probes that are the same, and are not, are not told apart")
	}
}

func TestFacilities(t *testing.T) {
	_, list := Load("a.dpdf", "name = a\noffset = f\nexit 77\n", Options{Served: facility.NewTable().Served},
		Variables{}, 1)
	if len(list) != 1 || list[0].Severity != diag.Error || !strings.Contains(list[0].Text, "facility 77") {
		t.Errorf("%v", list)
	}
}

func TestSet(t *testing.T) {
	var s Set
	first := &File{Probes: []*Probe{{ID: s.Next()}, {ID: s.Next() + 1}}}
	s.Add(first, nil)
	if s.Next() != First+2 || s.Probe(First+1) != first.Probes[1] || s.Probe(First+2) != nil {
		t.Errorf("next is %d", s.Next())
	}
	second := &File{Probes: []*Probe{{ID: s.Next()}}}
	s.Add(second, first)
	if files := s.Files(); len(files) != 1 || files[0] != second || s.Probe(First) == nil {
		t.Errorf("%d files; the old one's probe is %v", len(files), s.Probe(First))
	}
	s.Drop(second)
	if len(s.Files()) != 0 || s.Probe(First+2) == nil {
		t.Error("a dropped file is listed, or its probe is not found")
	}
}
