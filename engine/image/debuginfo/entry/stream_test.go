package entry

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"math/rand"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"gotap/engine/image/debuginfo/dwarftest"
	"gotap/engine/testenv"
)

// A stream is compared with a reader of debug/dwarf: the same entries in the same order, of each part of a program.

// referenceOf returns what debug/dwarf reads of the sections of a part.
func referenceOf(t *testing.T, p *part) *dwarf.Data {
	t.Helper()
	s := p.sections
	data, err := dwarf.New(withStandardForms(s["abbrev"]), nil, nil, s["info"], s["line"], nil, s["ranges"], s["str"])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists"} {
		if err := data.AddSection(".debug_"+name, s[name]); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

// Forms of GNU for DWARF 4 (0x1f01 and 0x1f02), as they are encoded, and the equal ones of DWARF 5 in as many bytes.
var (
	gnuAddrIndex, standardAddrIndex = []byte{0x81, 0x3e}, []byte{0x9b, 0x00}
	gnuStrIndex, standardStrIndex   = []byte{0x82, 0x3e}, []byte{0x9a, 0x00}
)

// withStandardForms returns a copy of .debug_abbrev without GNU's forms, which debug/dwarf does not know.
func withStandardForms(abbrev []byte) []byte {
	c := Cursor{Data: bytes.Clone(abbrev)}
	for c.More() {
		if c.ULEB() == 0 {
			continue // the end of a unit's abbreviations
		}
		c.ULEB()
		c.U8()
		for c.More() {
			attr, at := c.ULEB(), c.Off
			f := form(c.ULEB())
			switch written := c.Data[at:c.Off]; {
			case bytes.Equal(written, gnuAddrIndex):
				copy(written, standardAddrIndex)
			case bytes.Equal(written, gnuStrIndex):
				copy(written, standardStrIndex)
			case f == formImplicitConst:
				c.SLEB()
			}
			if attr == 0 && f == 0 {
				break
			}
		}
	}
	return c.Data
}

// compareStream reads a part from its start to its end, at times without children, and then entries here and there. It
// returns how many entries there were.
func compareStream(t *testing.T, p *part) (entries int) {
	t.Helper()
	data := referenceOf(t, p)
	var offsets []dwarf.Offset
	for _, skip := range []int{0, 3} {
		got, want := p.newStream(), data.Reader()
		for n := 1; ; n++ {
			a, errA := got.Next()
			if a != nil && a.Tag != 0 && int(a.Offset) >= p.typesAt {
				offsets = append(offsets, typesFrom(got, a)...) // debug/dwarf finds these only by their offsets
				break
			}
			b, errB := want.Next()
			if !reflect.DeepEqual(a, b) || (errA == nil) != (errB == nil) {
				t.Fatalf("entry %d is %+v, %v; want %+v, %v", n, a, errA, b, errB)
			}
			if a == nil {
				break
			}
			if a.Tag != 0 {
				offsets = append(offsets, a.Offset)
			}
			if skip > 0 && n%skip == 0 && a.Tag != dwarf.TagCompileUnit {
				got.SkipChildren()
				want.SkipChildren()
			}
		}
	}
	rnd := rand.New(rand.NewSource(1))
	got, want := p.newStream(), data.Reader()
	for range min(len(offsets), 1000) {
		at := offsets[rnd.Intn(len(offsets))]
		got.Seek(at)
		want.Seek(at)
		for range 3 {
			a, errA := got.Next()
			if a != nil && a.Tag == dwarf.TagTypeUnit {
				break // in .debug_types, where debug/dwarf cannot read on
			}
			b, errB := want.Next()
			if !reflect.DeepEqual(a, b) || (errA == nil) != (errB == nil) {
				t.Fatalf("at %#x is %+v, %v; want %+v, %v", at, a, errA, b, errB)
			}
			got.SkipChildren()
			want.SkipChildren()
		}
	}
	return len(offsets)
}

// typesFrom returns the offsets of the entries of type units, the first of which is e.
func typesFrom(s *stream, e *dwarf.Entry) (offsets []dwarf.Offset) {
	for err := error(nil); e != nil && err == nil; e, err = s.Next() {
		if e.Tag != 0 {
			offsets = append(offsets, e.Offset)
		}
	}
	return offsets
}

// compareLines compares the line tables of the units of a part with those that debug/dwarf finds by itself.
func compareLines(t *testing.T, rd *Reader, p *part) {
	t.Helper()
	data := referenceOf(t, p)
	for _, u := range rd.Skeletons() {
		if u.home != p {
			continue
		}
		got, err := rd.Lines(u)
		if err != nil {
			t.Fatal(err)
		}
		root := *u.top
		root.Offset -= p.base
		want, err := data.LineReader(&root)
		if err != nil || (got == nil) != (want == nil) {
			t.Fatalf("unit %#x: line table %v, want %v, %v", u.Start, got != nil, want != nil, err)
		}
		if got == nil {
			continue
		}
		var a, b dwarf.LineEntry
		for {
			errA, errB := got.Next(&a), want.Next(&b)
			if errA != errB || !reflect.DeepEqual(a, b) {
				t.Fatalf("unit %#x: row %+v, %v; want %+v, %v", u.Start, a, errA, b, errB)
			}
			if errA != nil {
				break
			}
		}
		if !reflect.DeepEqual(got.Files(), want.Files()) {
			t.Fatalf("unit %#x: files %v, want %v", u.Start, got.Files(), want.Files())
		}
	}
}

// compareEntries does both for all parts of a program.
func compareEntries(t *testing.T, rd *Reader) {
	t.Helper()
	for _, p := range rd.parts {
		if compareStream(t, p) == 0 {
			t.Errorf("the part at %#x has no entries", p.base)
		}
		if p.base == 0 {
			compareLines(t, rd, p)
		}
	}
}

// TestStreamAgreesInLibrary compares the entries of the C library, and that the abbreviations of most units are not
// read before they are needed.
func TestStreamAgreesInLibrary(t *testing.T) {
	rd := openLibrary(t)
	unread := slices.IndexFunc(rd.Skeletons(), func(u *Unit) bool {
		return len(rd.parts[0].abbreviations(u.key()).next.Data) > 0
	})
	if unread < 0 {
		t.Error("all abbreviations have been listed for the roots of units")
	}
	if n := compareStream(t, rd.parts[0]); n < 100000 {
		t.Errorf("only %d entries", n)
	}
	compareLines(t, rd, rd.parts[0])
}

// TestOddAbbreviations reads entries whose codes are in no order.
func TestOddAbbreviations(t *testing.T) {
	rd := New(dwarftest.EncodeFrom(scannedUnit(), 7))
	if err := rd.Load(); err != nil {
		t.Fatal(err)
	}
	if n := compareStream(t, rd.parts[0]); n < 4 {
		t.Errorf("%d entries", n)
	}
	u := rd.Units()[0]
	if calls, ok := scanCalls(u); !ok || len(calls) != 1 {
		t.Errorf("the scanner found %d calls, %v", len(calls), ok)
	}
}

// TestStreamSurvivesDamage reads damaged debug information as far as that goes.
func TestStreamSurvivesDamage(t *testing.T) {
	rnd := rand.New(rand.NewSource(2))
	for range 5000 {
		f := scanned()
		for _, data := range [][]byte{f.Info, f.Abbrev} {
			for range rnd.Intn(4) {
				data[rnd.Intn(len(data))] = byte(rnd.Intn(256))
			}
		}
		readAll(f)
	}
}

// readAll reads a file from its start to its end.
func readAll(f File) {
	rd := New(f)
	if rd.Load() != nil {
		return
	}
	s := rd.parts[0].newStream()
	for n := 0; ; n++ {
		e, err := s.Next()
		if err != nil || e == nil {
			return
		}
		if n%2 == 1 {
			s.SkipChildren()
		}
	}
}

// openLibrary returns a reader of the debug information of the C library.
func openLibrary(t *testing.T) *Reader {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/debug/.build-id/*/*.debug")
	for _, path := range found {
		f, err := elf.Open(path)
		if err != nil {
			continue
		}
		syms, _ := f.Symbols()
		f.Close()
		if slices.ContainsFunc(syms, func(s elf.Symbol) bool { return s.Name == "__libc_malloc" }) {
			return openProgram(t, path)
		}
	}
	testenv.Lack(t, testenv.LibraryDebug)
	return nil
}
