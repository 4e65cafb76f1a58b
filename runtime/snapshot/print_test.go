package snapshot_test

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

	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
)

var (
	btStatement = regexp.MustCompile(`@x(?:\[(.*)\])? = (?:(\w+)\()?([^);]*)\)?;`)
	beyondTotal = regexp.MustCompile(`(?m)(, total -?\d+), stddev .*$`) // what stats have besides
	btPrint     = regexp.MustCompile(`print\(@x(?:, (\d+), (\d+))?\)`)
)

var kindsByName = map[string]object.Kind{"count": object.KindCount, "sum": object.KindSum, "min": object.KindMin, "max": object.KindMax, "avg": object.KindAvg,
	"stats": object.KindStats, "hist": object.KindHist, "lhist": object.KindLhist, "": object.KindMap}

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
			got := beyondTotal.ReplaceAllString(imitate(t, string(program)), "$1")
			if got != string(want) {
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

func imitated(t *testing.T, program string) (*arena.Handle, snapshot.Options) {
	a := newArena(t)
	var h *arena.Handle
	for _, m := range btStatement.FindAllStringSubmatch(program, -1) {
		args := strings.Split(m[3], ", ")
		if h == nil {
			h = declareLike(t, a, kindsByName[m[2]], args)
		}
		key := btKey(m[1])
		var err error
		if n, bad := strconv.ParseInt(args[0], 10, 64); bad == nil && m[2] == "" {
			err = h.Set(value.Int(n), key...)
		} else if m[2] == "" {
			err = h.Set(value.Text(strings.Trim(args[0], `"`)), key...)
		} else {
			err = h.Add(n, key...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	m := btPrint.FindStringSubmatch(program)
	var o snapshot.Options
	o.Top, _ = strconv.Atoi(m[1])
	o.Div, _ = strconv.Atoi(m[2])
	return h, o
}

func declareLike(t *testing.T, a *arena.Arena, kind object.Kind, args []string) *arena.Handle {
	o := object.Object{Name: "x", Kind: kind, Keys: -1}
	if kind == object.KindLhist {
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

func btKey(text string) (key []value.Value) {
	for part := range strings.SplitSeq(text, ", ") {
		if n, err := strconv.ParseInt(part, 10, 64); err == nil {
			key = append(key, value.Int(n))
		} else if part != "" {
			key = append(key, value.Text(strings.Trim(part, `"`)))
		}
	}
	return key
}

// snap is a snapshot of an object after some additions.
func snap(t *testing.T, o object.Object, add ...int64) snapshot.Snapshot {
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

func text(s snapshot.Snapshot, o snapshot.Options) string {
	var b strings.Builder
	s.Print(&b, o)
	return b.String()
}

// TestLargeBuckets: values of 4 GiB and more are where they belong, to the end of the range.
func TestLargeBuckets(t *testing.T) {
	got := text(snap(t, object.Object{Name: "big", Kind: object.KindHist}, 1<<32, 1<<40, 1<<50, 1<<60, math.MaxInt64), snapshot.Options{})
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
	if got := text(snap(t, object.Object{Kind: object.KindMax}, -5, -7), snapshot.Options{Name: "named"}); got != "@named: -5\n" {
		t.Error(got)
	}
}

// TestNothingPrintsNothing: an aggregation that was never hit has no text.
func TestNothingPrintsNothing(t *testing.T) {
	for kind := object.KindCount; kind <= object.KindLhist; kind++ {
		if got := text(snap(t, object.Object{Name: "n", Kind: kind, Hi: 1, Step: 1}), snapshot.Options{}); got != "" {
			t.Errorf("%v: %q", kind, got)
		}
	}
	if got := text(snap(t, object.Object{Name: "s", Kind: object.KindSum}, -5, 5), snapshot.Options{}); got != "@s: 0\n" {
		t.Errorf("a sum of 0: %q", got)
	}
}

// TestUnevenLhist: a range that is no multiple of the step ends in a shorter bucket.
func TestUnevenLhist(t *testing.T) {
	got := text(snap(t, object.Object{Name: "x", Kind: object.KindLhist, Hi: 10, Step: 3}, 8, 9, 10), snapshot.Options{})
	for _, label := range []string{"[6, 9) ", "[9, 10) ", "[10, ...) "} {
		if !strings.Contains(got, label) {
			t.Errorf("no %q in\n%s", label, got)
		}
	}
}

func TestStackKeys(t *testing.T) {
	a := newArena(t)
	id, _ := a.Declare(object.Object{Name: "s", Kind: object.KindCount, Keys: 2})
	h := a.Handle(id)
	key := []value.Value{value.Int(1), {Kind: value.KindStack, Int: 42, Stack: []uint64{0x10, 0x20}}}
	if err := h.Add(1, key...); err != nil {
		t.Fatal(err)
	}
	// An inlined call is a line of its own, so that there may be more of them than addresses.
	name := func(v value.Value) []string { return []string{fmt.Sprintf("%d %x", v.Int, v.Stack), "inlined", "f"} }
	if got := text(h.Entries(), snapshot.Options{Stack: name}); got != "@s[1, \n    42 [10 20]\n    inlined\n    f\n]: 1\n" {
		t.Errorf("%q", got)
	}
	if got := text(h.Entries(), snapshot.Options{}); got != "@s[1, \n    0x10\n    0x20\n]: 1\n" {
		t.Errorf("%q", got)
	}
	if d, ok := h.Get(key...); !ok || d.Int != 1 {
		t.Error("the key that was put in is not found")
	}
}

// In JSON the lines of a stack that is a key have the names that they print with.
func TestStackKeyJSON(t *testing.T) {
	a := newArena(t)
	id, err := a.Declare(object.Object{Name: "s", Kind: object.KindCount, Keys: 1})
	if err != nil {
		t.Fatal(err)
	}
	a.Handle(id).Add(1, value.Value{Kind: value.KindStack, Int: 7, Stack: []uint64{0x10, 0x20}})
	name := func(v value.Value) []string { return []string{fmt.Sprintf("f of %d", v.Int), "0x20"} }
	const want = `{"type":"map","name":"s","data":[{"key":[["f of 7","0x20"]],"value":1}]}`
	if got, err := json.Marshal(a.Handle(id).Entries().With(snapshot.Options{Stack: name}).JSON()); string(got) != want || err != nil {
		t.Errorf("got  %s %v\nwant %s", got, err, want)
	}
}

func TestJSON(t *testing.T) {
	a := newArena(t)
	declare := func(o object.Object) *arena.Handle {
		id, err := a.Declare(o)
		if err != nil {
			t.Fatal(err)
		}
		return a.Handle(id)
	}
	hist, keyed := declare(object.Object{Name: "h", Kind: object.KindHist}), declare(object.Object{Name: "k", Kind: object.KindHist, Keys: 1})
	lhist, stats := declare(object.Object{Name: "l", Kind: object.KindLhist, Hi: 4, Step: 2}), declare(object.Object{Name: "s", Kind: object.KindStats})
	sum, mapped := declare(object.Object{Name: "big", Kind: object.KindSum}), declare(object.Object{Name: "m", Kind: object.KindMap, Keys: 2})
	hist.Add(5)
	hist.Add(6)
	hist.Add(-1)
	keyed.Add(math.MaxInt64, value.Text("a,b"))
	lhist.Add(3)
	lhist.Add(4)
	stats.Add(-7)
	sum.Add(1<<53 + 1)
	mapped.Set(value.Value{Kind: value.KindText, Text: "cut", Cut: true}, value.Text("x"), value.Int(1<<62))
	for want, h := range map[string]*arena.Handle{
		`{"type":"hist","name":"h","data":[{"max":-1,"count":1},{"min":0,"max":0,"count":0},{"min":1,"max":1,"count":0},` +
			`{"min":2,"max":3,"count":0},{"min":4,"max":7,"count":2}]}`: hist,
		`{"type":"hist","name":"k","data":[{"key":["a,b"],"value":[{"min":"4611686018427387904","max":"9223372036854775807","count":1}]}]}`:            keyed,
		`{"type":"hist","name":"l","data":[{"min":2,"max":3,"count":1},{"min":4,"count":1}]}`:                                                          lhist,
		`{"type":"stats","name":"s","value":{"count":1,"average":-7,"total":-7,"variance":0,"stddev":0,"min":-7,"p50":-7,"p90":-7,"p99":-7,"max":-7}}`: stats,
		`{"type":"value","name":"big","value":"9007199254740993"}`:                                                                                     sum,
		`{"type":"map","name":"m","data":[{"key":["x","4611686018427387904"],"value":"cut.."}]}`:                                                       mapped,
	} {
		got, err := json.Marshal(h.Entries().JSON())
		if err != nil || string(got) != want {
			t.Errorf("got  %s %v\nwant %s", got, err, want)
		}
	}
}

// TestPrintBits: parts of powers are labelled exactly, and the columns stay in line.
func TestPrintBits(t *testing.T) {
	a, err := arena.New(arena.Options{Size: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	id, err := a.Declare(object.Object{Name: "ns", Kind: object.KindHist, Bits: 4})
	if err != nil {
		t.Fatal(err)
	}
	h := a.Handle(id)
	for _, v := range []int64{15, 1024, 1088, 1151, 1152, 1152} {
		if err := h.Add(v); err != nil {
			t.Fatal(err)
		}
	}
	snap := h.Take()
	if err := h.Restore(snap); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	h.Entries().Print(&b, snapshot.Options{Name: "ns"})
	text := b.String()
	for _, want := range []string{
		"[15]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n",
		"[1K, 1.0625K)           1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n",
		"[1.0625K, 1.125K)       2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n",
		"[1.125K, 1.1875K)       2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
