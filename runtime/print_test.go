package runtime

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	btStatement = regexp.MustCompile(`@x(?:\[(.*)\])? = (?:(\w+)\()?([^);]*)\)?;`)
	btPrint     = regexp.MustCompile(`print\(@x(?:, (\d+), (\d+))?\)`)
)

var kindsByName = map[string]ObjectKind{"count": KindCount, "sum": KindSum, "min": KindMin, "max": KindMax, "avg": KindAvg,
	"stats": KindStats, "hist": KindHist, "lhist": KindLhist, "": KindMap}

// TestTextOfBpftrace does what small bpftrace programs do and expects their output.
func TestTextOfBpftrace(t *testing.T) {
	files, _ := filepath.Glob("testdata/bpftrace/*.bt")
	if len(files) < 20 {
		t.Fatalf("%d programs", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			program, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(file, "bt") + "txt")
			if err != nil {
				t.Fatal(err)
			}
			if got := imitate(t, string(program)); got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// What bpftrace shows of a map by its options is in JSON, too.
func TestJSONByOptions(t *testing.T) {
	shown := regexp.MustCompile(`(?m)(?:: (?:count \d+, average )?|^[\[(].*?)(-?\d+)(?:$|, total| \|)`)
	tried := 0
	files, _ := filepath.Glob("testdata/bpftrace/*.bt")
	for _, file := range files {
		program, err := os.ReadFile(file)
		want, wantErr := os.ReadFile(strings.TrimSuffix(file, "bt") + "txt")
		if err != nil || wantErr != nil {
			t.Fatal(err, wantErr)
		}
		h, o := imitated(t, string(program))
		if o.Top == 0 {
			continue
		}
		tried++
		var numbers []string
		for _, m := range shown.FindAllStringSubmatch(string(want), -1) {
			numbers = append(numbers, m[1])
		}
		raw, err := json.Marshal(h.Entries().With(o).JSON())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range regexp.MustCompile(`"(?:value|count|average)":(-?\d+)[,}]`).FindAllSubmatch(raw, -1) {
			got = append(got, string(m[1]))
		}
		if len(numbers) == 0 || strings.Join(got, " ") != strings.Join(numbers, " ") {
			t.Errorf("%s: %s\nhas %v, bpftrace shows %v", file, raw, got, numbers)
		}
	}
	if tried < 2 {
		t.Errorf("only %d programs have options", tried)
	}
}

// imitate declares what a program uses as @x, adds what it adds, and prints it.
func imitate(t *testing.T, program string) string {
	h, o := imitated(t, program)
	var b strings.Builder
	h.Entries().Print(&b, o)
	return b.String()
}

func imitated(t *testing.T, program string) (*Handle, PrintOptions) {
	a := newArena(t)
	var h *Handle
	for _, m := range btStatement.FindAllStringSubmatch(program, -1) {
		args := strings.Split(m[3], ", ")
		if h == nil {
			h = declareLike(t, a, kindsByName[m[2]], args)
		}
		key := btKey(m[1])
		var err error
		if n, bad := strconv.ParseInt(args[0], 10, 64); bad == nil && m[2] == "" {
			err = h.Set(Int(n), key...)
		} else if m[2] == "" {
			err = h.Set(Text(strings.Trim(args[0], `"`)), key...)
		} else {
			err = h.Add(n, key...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	m := btPrint.FindStringSubmatch(program)
	var o PrintOptions
	o.Top, _ = strconv.Atoi(m[1])
	o.Div, _ = strconv.Atoi(m[2])
	return h, o
}

func declareLike(t *testing.T, a *Arena, kind ObjectKind, args []string) *Handle {
	o := Object{Name: "x", Kind: kind, Keys: -1}
	if kind == KindLhist {
		for i, p := range []*int64{&o.Lo, &o.Hi, &o.Step} {
			*p, _ = strconv.ParseInt(args[1+i], 10, 64)
		}
	}
	id, err := a.Declare(o)
	if err != nil {
		t.Fatal(err)
	}
	return a.Handle(id)
}

func btKey(text string) (key []Value) {
	for part := range strings.SplitSeq(text, ", ") {
		if n, err := strconv.ParseInt(part, 10, 64); err == nil {
			key = append(key, Int(n))
		} else if part != "" {
			key = append(key, Text(strings.Trim(part, `"`)))
		}
	}
	return key
}

// snap is a snapshot of an object after some additions.
func snap(t *testing.T, o Object, add ...int64) Snapshot {
	t.Helper()
	a := newArena(t)
	id, err := a.Declare(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range add {
		if err := a.Handle(id).Add(v); err != nil {
			t.Fatal(err)
		}
	}
	return a.Handle(id).Entries()
}

func text(s Snapshot, o PrintOptions) string {
	var b strings.Builder
	s.Print(&b, o)
	return b.String()
}

// TestLargeBuckets: values of 4 GiB and more are where they belong, to the end of the range.
func TestLargeBuckets(t *testing.T) {
	got := text(snap(t, Object{Name: "big", Kind: KindHist}, 1<<32, 1<<40, 1<<50, 1<<60, math.MaxInt64), PrintOptions{})
	for _, label := range []string{"@big: ", "[4G, 8G) ", "[1T, 2T) ", "[1P, 2P) ", "[1E, 2E) ", "[4E, 8E) "} {
		if !strings.Contains(got, "\n"+label) && !strings.HasPrefix(got, label) {
			t.Errorf("no %q in\n%s", label, got)
		}
	}
	if n := strings.Count(got, " 1 |@"); n != 5 {
		t.Errorf("%d buckets with a hit, want 5", n)
	}
}

func TestMaximumOfNegatives(t *testing.T) {
	if got := text(snap(t, Object{Kind: KindMax}, -5, -7), PrintOptions{Name: "named"}); got != "@named: -5\n" {
		t.Error(got)
	}
}

// TestNothingPrintsNothing: an aggregation that was never hit has no text.
func TestNothingPrintsNothing(t *testing.T) {
	for kind := KindCount; kind <= KindLhist; kind++ {
		if got := text(snap(t, Object{Name: "n", Kind: kind, Hi: 1, Step: 1}), PrintOptions{}); got != "" {
			t.Errorf("%v: %q", kind, got)
		}
	}
	if got := text(snap(t, Object{Name: "s", Kind: KindSum}, -5, 5), PrintOptions{}); got != "@s: 0\n" {
		t.Errorf("a sum of 0: %q", got)
	}
}

// TestUnevenLhist: a range that is no multiple of the step ends in a shorter bucket.
func TestUnevenLhist(t *testing.T) {
	got := text(snap(t, Object{Name: "x", Kind: KindLhist, Hi: 10, Step: 3}, 8, 9, 10), PrintOptions{})
	for _, label := range []string{"[6, 9) ", "[9, 10) ", "[10, ...) "} {
		if !strings.Contains(got, label) {
			t.Errorf("no %q in\n%s", label, got)
		}
	}
}

func TestStackKeys(t *testing.T) {
	a := newArena(t)
	id, _ := a.Declare(Object{Name: "s", Kind: KindCount, Keys: 2})
	h := a.Handle(id)
	key := []Value{Int(1), {Kind: ValueStack, Int: 42, Stack: []uint64{0x10, 0x20}}}
	if err := h.Add(1, key...); err != nil {
		t.Fatal(err)
	}
	// An inlined call is a line of its own, so that there may be more of them than addresses.
	name := func(v Value) []string { return []string{fmt.Sprintf("%d %x", v.Int, v.Stack), "inlined", "f"} }
	if got := text(h.Entries(), PrintOptions{Stack: name}); got != "@s[1, \n    42 [10 20]\n    inlined\n    f\n]: 1\n" {
		t.Errorf("%q", got)
	}
	if got := text(h.Entries(), PrintOptions{}); got != "@s[1, \n    0x10\n    0x20\n]: 1\n" {
		t.Errorf("%q", got)
	}
	if d, ok := h.Get(key...); !ok || d.Int != 1 {
		t.Error("the key that was put in is not found")
	}
}

// In JSON the lines of a stack that is a key have the names that they print with.
func TestStackKeyJSON(t *testing.T) {
	a := newArena(t)
	id, err := a.Declare(Object{Name: "s", Kind: KindCount, Keys: 1})
	if err != nil {
		t.Fatal(err)
	}
	a.Handle(id).Add(1, Value{Kind: ValueStack, Int: 7, Stack: []uint64{0x10, 0x20}})
	name := func(v Value) []string { return []string{fmt.Sprintf("f of %d", v.Int), "0x20"} }
	const want = `{"type":"map","name":"s","data":[{"key":[["f of 7","0x20"]],"value":1}]}`
	if got, err := json.Marshal(a.Handle(id).Entries().With(PrintOptions{Stack: name}).JSON()); string(got) != want || err != nil {
		t.Errorf("got  %s %v\nwant %s", got, err, want)
	}
}

func TestJSON(t *testing.T) {
	a := newArena(t)
	declare := func(o Object) *Handle {
		id, err := a.Declare(o)
		if err != nil {
			t.Fatal(err)
		}
		return a.Handle(id)
	}
	hist, keyed := declare(Object{Name: "h", Kind: KindHist}), declare(Object{Name: "k", Kind: KindHist, Keys: 1})
	lhist, stats := declare(Object{Name: "l", Kind: KindLhist, Hi: 4, Step: 2}), declare(Object{Name: "s", Kind: KindStats})
	sum, mapped := declare(Object{Name: "big", Kind: KindSum}), declare(Object{Name: "m", Kind: KindMap, Keys: 2})
	hist.Add(5)
	hist.Add(6)
	hist.Add(-1)
	keyed.Add(math.MaxInt64, Text("a,b"))
	lhist.Add(3)
	lhist.Add(4)
	stats.Add(-7)
	sum.Add(1<<53 + 1)
	mapped.Set(Value{Kind: ValueText, Text: "cut", Cut: true}, Text("x"), Int(1<<62))
	for want, h := range map[string]*Handle{
		`{"type":"hist","name":"h","data":[{"max":-1,"count":1},{"min":0,"max":0,"count":0},{"min":1,"max":1,"count":0},` +
			`{"min":2,"max":3,"count":0},{"min":4,"max":7,"count":2}]}`: hist,
		`{"type":"hist","name":"k","data":[{"key":["a,b"],"value":[{"min":"4611686018427387904","max":"9223372036854775807","count":1}]}]}`: keyed,
		`{"type":"hist","name":"l","data":[{"min":2,"max":3,"count":1},{"min":4,"count":1}]}`:                                               lhist,
		`{"type":"stats","name":"s","value":{"count":1,"average":-7,"total":-7}}`:                                                           stats,
		`{"type":"value","name":"big","value":"9007199254740993"}`:                                                                          sum,
		`{"type":"map","name":"m","data":[{"key":["x","4611686018427387904"],"value":"cut.."}]}`:                                            mapped,
	} {
		got, err := json.Marshal(h.Entries().JSON())
		if err != nil || string(got) != want {
			t.Errorf("got  %s %v\nwant %s", got, err, want)
		}
	}
}

// TestNumbersAsJavaScript: ECMA-262, Number::toString.
func TestNumbersAsJavaScript(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 1: "1", -1.5: "-1.5", 123456789012345680000: "123456789012345680000", 1e21: "1e+21", 1e-6: "0.000001",
		1e-7: "1e-7", 1.5e-10: "1.5e-10", 1e100: "1e+100", 5e-324: "5e-324", math.Inf(1): "Infinity", math.Inf(-1): "-Infinity",
		0.1: "0.1", 1e300: "1e+300", -1e-9: "-1e-9", math.MaxFloat64: "1.7976931348623157e+308", 4.35: "4.35",
	} {
		if got := string(appendNumber(nil, f)); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
	if got := string(appendNumber(nil, math.NaN())); got != "NaN" {
		t.Error(got)
	}
	if got := string(appendNumber(nil, math.Copysign(0, -1))); got != "0" {
		t.Error(got)
	}
}

func TestItems(t *testing.T) {
	log := &Format{Kind: ItemLog, Fields: []RecordField{
		{IsLiteral: true, Literal: "saw "}, {Kind: ValueInt}, {Kind: ValueText, Part: 1}, {IsLiteral: true, Literal: "!", Part: 1}, {Kind: ValueBool, Part: 2}}}
	it := Item{Format: log, Values: []Value{Int(3), {Kind: ValueText, Text: "tex", Cut: true}, {Kind: ValueBool, Int: 1}}}
	if got := it.String(); got != "saw 3 tex..! true\n" {
		t.Errorf("%q", got)
	}
	it = Item{Format: &Format{Kind: ItemPrintf, Text: "%s=%d\n", Fields: []RecordField{{IsLiteral: true, Literal: "n"}, {Kind: ValueInt}}}, Values: []Value{Int(-1)}}
	if got := it.String(); got != "n=-1\n" {
		t.Errorf("%q", got)
	}
}
