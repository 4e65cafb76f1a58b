package key

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"gotap/runtime/value"
)

var kinds = []value.Kind{value.KindInt, value.KindText, value.KindStack, value.KindBool}

// build appends values to a new buffer.
func build(t *testing.T, kinds []value.Kind, parts ...value.Value) *Buffer {
	t.Helper()
	var b Buffer
	for i, v := range parts {
		if !b.AddValue(kinds[i], v) {
			t.Fatalf("part %d does not fit", i)
		}
	}
	return &b
}

// TestDecode: the words of a key, padded as in a slot or not, are decoded to its parts.
func TestDecode(t *testing.T) {
	s, err := NewShape(kinds)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "1234567", "12345678", "123456789"} {
		want := []value.Value{value.Int(-5), {Kind: value.KindText, Text: text, Cut: true}, {Kind: value.KindStack, Int: 7, Stack: []uint64{1, 2}},
			{Kind: value.KindBool, Int: 1}}
		b := build(t, kinds, want...)
		padded := make([]uint64, s.Words)
		copy(padded, b.Words())
		if got := s.Decode(padded); !reflect.DeepEqual(got, want) || !b.Fits(s) {
			t.Errorf("%q: %+v", text, got)
		}
		if got := s.Trim(padded); !slices.Equal(got, b.Words()) {
			t.Errorf("%q: trimmed to %d words, not %d", text, len(got), len(b.Words()))
		}
		if got := s.Decode(b.Words()[:len(b.Words())-1]); len(got) != 3 {
			t.Errorf("%q: a key cut short has %d parts", text, len(got))
		}
	}
}

// TestHash: one changed word changes the hash, and the order of words counts.
func TestHash(t *testing.T) {
	seen := map[uint64]bool{}
	for i := range uint64(10_000) {
		seen[Hash([]uint64{i, 1})] = true
		seen[Hash([]uint64{1, i + 10_000})] = true
	}
	if len(seen) != 20_000 || Hash([]uint64{1, 2}) == Hash([]uint64{2, 1}) {
		t.Errorf("%d hashes of 20000 keys", len(seen))
	}
}

// TestLimits: a key has a maximum number of parts and bytes; texts are cut, not refused.
func TestLimits(t *testing.T) {
	var b Buffer
	for range MaxParts {
		if !b.AddWord(1) {
			t.Fatal("too few parts fit")
		}
	}
	if b.AddWord(1) || b.Prepend(1) || b.AddText(nil, false) {
		t.Error("a part too many fits")
	}
	b.Reset()
	long := strings.Repeat("x", value.DefaultText+1)
	n := 0
	for b.AddText([]byte(long), false) {
		n++
	}
	if n == 0 || len(b.Words())*8 > MaxBytes {
		t.Errorf("%d texts fit in %d words", n, len(b.Words()))
	}
	v, words := decodePart(value.KindText, b.Words())
	if words != 1+value.DefaultText/8 || !v.Cut || v.Text != long[:value.DefaultText] {
		t.Errorf("a long text is %d bytes, cut %v", len(v.Text), v.Cut)
	}
	if _, err := NewShape(make([]value.Kind, MaxParts+1)); err == nil {
		t.Error("a shape has too many parts")
	}
	if _, err := NewShape(slices.Repeat([]value.Kind{value.KindText}, 8)); err == nil {
		t.Error("a shape has too many bytes")
	}
	if _, err := NewShape([]value.Kind{value.KindAny}); err == nil {
		t.Error("a part is anything")
	}
}

// TestPrepend: a number before the parts has the form of a key that was built with it.
func TestPrepend(t *testing.T) {
	with := build(t, []value.Kind{value.KindInt, value.KindText}, value.Int(3), value.Text("a"))
	without := build(t, []value.Kind{value.KindText}, value.Text("a"))
	if !without.Prepend(3) || !slices.Equal(with.Words(), without.Words()) || with.signature != without.signature {
		t.Errorf("%v, %v", with.Words(), without.Words())
	}
}

// TestState: a key that is saved and restored is the same; what cannot be one is not valid.
func TestState(t *testing.T) {
	b := build(t, kinds, value.Int(1), value.Text("text"))
	s := b.Save(State{})
	var other Buffer
	other.Restore(s)
	if !s.Valid() || other.Empty() || !slices.Equal(other.Words(), b.Words()) || other.signature != b.signature || other.parts != 2 {
		t.Errorf("%+v", s)
	}
	for _, bad := range []State{{Words: make([]uint64, MaxBytes/8+1)}, {Parts: -1}, {Parts: MaxParts + 1}} {
		if bad.Valid() {
			t.Errorf("%d words, %d parts are valid", len(bad.Words), bad.Parts)
		}
	}
}

func TestBuildingDoesNotAllocate(t *testing.T) {
	var b Buffer
	text := []byte("some text")
	if n := testing.AllocsPerRun(100, func() {
		b.Reset()
		b.AddWord(1)
		b.AddText(text, false)
		b.Prepend(2)
		Hash(b.Words())
	}); n != 0 {
		t.Errorf("building a key allocates %v times", n)
	}
}
