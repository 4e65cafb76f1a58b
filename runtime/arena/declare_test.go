package arena

import (
	"math"
	"strings"
	"testing"

	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
)

func TestDeclareErrors(t *testing.T) {
	a := newArena(t)
	for want, o := range map[string]object.Object{
		"the step is 0":                       {Kind: object.KindLhist, Hi: 3},
		"is not above the lower end 3":        {Kind: object.KindLhist, Lo: 3, Hi: 3, Step: 1},
		"buckets: there can be 4096":          {Kind: object.KindLhist, Lo: math.MinInt64, Hi: math.MaxInt64, Step: 1},
		"cannot declare map m: a map has":     {Name: "m", Kind: object.KindMap},
		"max is -1":                           {Kind: object.KindCount, Keys: 1, Max: -1},
		"max is 2000000":                      {Kind: object.KindCount, Keys: 1, Max: 2_000_000},
		"keys is 17":                          {Kind: object.KindCount, Keys: 17},
		"unknown kind of object":              {Kind: object.KindSeries + 1},
		"variables: there can be 0":           {Kind: object.KindArray, Size: -1},
		"the arena of 25165824 bytes is full": {Kind: object.KindArray, Size: 1 << 20},
	} {
		for range 4 { // the arena has room for some
			if _, err := a.Declare(o); err != nil {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
				want = ""
				break
			}
		}
		if want != "" {
			t.Errorf("no error about %q", want)
		}
	}
	if err := a.Refine(999, nil, value.KindAny); err == nil {
		t.Error("refined what is not there")
	}
	if h := a.Handle(-1); h != nil {
		t.Error("a handle for nothing")
	}
	if _, off := a.Lookup(999); off != 0 {
		t.Error("an offset for nothing")
	}
}

func TestRefine(t *testing.T) {
	a := newArena(t)
	declare := func(o object.Object) int {
		id, err := a.Declare(o)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	open, two := declare(object.Object{Name: "c", Kind: object.KindCount, Keys: -1}), declare(object.Object{Name: "two", Kind: object.KindSum, Keys: 2})
	m, n := declare(object.Object{Name: "m", Kind: object.KindMap, Keys: -1}), declare(object.Object{Name: "n", Kind: object.KindInt})
	s := declare(object.Object{Name: "s", Kind: object.KindHist, Keys: -1})
	for _, c := range []struct {
		id    int
		keys  []value.Kind
		value value.Kind
		want  string
	}{
		{open, nil, value.KindAny, ""},
		{open, []value.Kind{value.KindInt}, value.KindAny, "count c is used with no key elsewhere, not with a key of 1 part"},
		{two, []value.Kind{value.KindInt}, value.KindAny, "sum two has a key of 2 parts, not a key of 1 part"},
		{two, []value.Kind{value.KindInt, value.KindText}, value.KindAny, ""},
		{two, []value.Kind{value.KindUint, value.KindBytes}, value.KindAny, ""},
		{two, []value.Kind{value.KindText, value.KindText}, value.KindAny, "part 1 of the key of sum two is integer elsewhere, not text"},
		{m, nil, value.KindInt, "map m needs a key"},
		{m, []value.Kind{value.KindInt}, value.KindAny, ""},
		{m, []value.Kind{value.KindInt}, value.KindText, ""},
		{m, []value.Kind{value.KindInt}, value.KindAny, ""},
		{m, []value.Kind{value.KindInt}, value.KindInt, "the values of map m are text elsewhere, not integer"},
		{n, nil, value.KindInt, ""},
		{n, []value.Kind{value.KindInt}, value.KindInt, "variable n has no keys"},
		{s, []value.Kind{value.KindStack, value.KindStack}, value.KindAny, "2048 is the most"},
		{s, []value.Kind{value.KindAny}, value.KindAny, ""}, // open, but for how many
		{s, []value.Kind{value.KindBool, value.KindBool}, value.KindAny, "hist s has a key of 1 part, not a key of 2 parts"},
		{s, []value.Kind{value.KindBool}, value.KindAny, ""},
		{s, []value.Kind{value.KindAny}, value.KindAny, ""},
		{s, []value.Kind{value.KindText}, value.KindAny, "part 1 of the key of hist s is boolean elsewhere, not text"},
	} {
		err := a.Refine(c.id, c.keys, c.value)
		if got := errorText(err); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("refine %d %v: %q, want %q", c.id, c.keys, got, c.want)
		}
	}
	if o, off := a.Lookup(m); o.Value != value.KindText || off == 0 || off%objectSize != 0 {
		t.Errorf("%+v at %#x", o, off)
	}
}

// TestHandleWithoutProgram: a script may use objects before any program does.
func TestHandleWithoutProgram(t *testing.T) {
	a := newArena(t)
	id, _ := a.Declare(object.Object{Name: "m", Kind: object.KindMap, Keys: -1})
	h := a.Handle(id)
	if _, ok := h.Get(value.Text("a")); ok || h.Delete(value.Text("a")) || h.Len() != 0 || len(h.Take().Entries) != 0 {
		t.Error("there is something")
	}
	if err := h.Set(value.Text("v"), value.Text("a"), value.Int(1)); err != nil {
		t.Fatal(err)
	}
	if d, ok := h.Get(value.Text("a"), value.Int(1)); !ok || d.Text != "v" {
		t.Error(d)
	}
	for want, err := range map[string]error{
		"cannot set map m: the key does not fit":                  h.Set(value.Text("v"), value.Int(1), value.Int(1)),
		"cannot set map m: the value does not fit: it holds text": h.Set(value.Int(1), value.Text("a"), value.Int(1)),
		"cannot add to map m: the value does not fit":             h.Add(1, value.Text("a"), value.Int(1)),
	} {
		if errorText(err) != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	id, _ = a.Declare(object.Object{Name: "n", Kind: object.KindInt, Init: 4})
	n := a.Handle(id)
	n.Add(2)
	if d, _ := n.Get(); d.Int != 6 || n.Take().Entries[0].Data.Int != 6 {
		t.Error(d)
	}
	if d, _ := n.Get(); d.Int != 4 {
		t.Error("take does not give the first value again")
	}
}

func TestMapOfFloats(t *testing.T) {
	a := newArena(t)
	id, _ := a.Declare(object.Object{Name: "f", Kind: object.KindMap, Keys: 1})
	h := a.Handle(id)
	for i, f := range []float64{2.5, -1, 0.25} {
		h.Set(value.Value{Kind: value.KindFloat, Float: f}, value.Int(int64(i)))
	}
	h.Set(value.Int(7), value.Int(3))
	if got, want := text(h.Entries(), snapshot.Options{}), "@f[1]: -1\n@f[2]: 0.25\n@f[0]: 2.5\n@f[3]: 7\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if d, _ := h.Get(value.Int(2)); !d.IsFloat || d.Float != 0.25 {
		t.Error(d)
	}
}

// TestCopyFrom moves what every kind of object holds to an object of another arena.
func TestCopyFrom(t *testing.T) {
	old, fresh := newArena(t), newArena(t)
	key := []value.Value{value.Text("k"), value.Int(-1)}
	for kind := object.KindInt; kind <= object.KindLhist; kind++ {
		for keys := range 2 {
			o := object.Object{Name: "o", Kind: kind, Keys: -keys, Max: 100, Size: 3, Hi: 9, Step: 2}
			if kind == object.KindMap {
				o.Keys = -1
			}
			var k []value.Value
			switch {
			case o.Keys != 0 && kind >= object.KindMap:
				k = key
			case kind == object.KindArray:
				k = []value.Value{value.Int(1)}
			}
			from, _ := old.Declare(o)
			to, _ := fresh.Declare(o)
			h := old.Handle(from)
			switch {
			case kind == object.KindText:
				h.Set(value.Text("text"))
			case kind <= object.KindArray || kind == object.KindMap:
				h.Set(value.Int(5), k...)
			case kind != object.KindPerThread:
				h.Add(5, k...)
				h.Add(-3, k...)
			}
			if err := fresh.Handle(to).CopyFrom(h); err != nil {
				t.Fatalf("%v: %v", kind, err)
			}
			if got, want := text(fresh.Handle(to).Entries(), snapshot.Options{}), text(h.Entries(), snapshot.Options{}); got != want {
				t.Errorf("%v: %q, want %q", kind, got, want)
			}
		}
	}
	a, _ := old.Declare(object.Object{Name: "x", Kind: object.KindSum, Keys: 1})
	b, _ := fresh.Declare(object.Object{Name: "x", Kind: object.KindSum, Keys: 0})
	c, _ := fresh.Declare(object.Object{Name: "x", Kind: object.KindMax})
	old.Handle(a).Add(1, value.Int(1))
	for _, id := range []int{b, c} {
		if fresh.Handle(id).CopyFrom(old.Handle(a)) == nil {
			t.Errorf("object %d took what does not fit", id)
		}
	}
}

// TestMappedArena: the real memory is a memfd whose layout another process could follow.
func TestMappedArena(t *testing.T) {
	a, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	id, _ := a.Declare(object.Object{Kind: object.KindInt, Init: 77})
	_, off := a.Lookup(id)
	if a.words[wordMagic] != arenaMagic || a.words[wordObjects] != 1 || a.words[off/8+descWord] != 77 {
		t.Error("the header is not as documented")
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Error("closing twice: ", err)
	}
	if _, err := New(Options{Size: 1 << 20}); err == nil {
		t.Error("an arena smaller than its tables")
	}
}
