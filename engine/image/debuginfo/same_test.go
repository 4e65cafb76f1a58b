package debuginfo_test

import (
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotap/compile"
	"gotap/engine/image/debuginfo"
	"gotap/engine/image/mapped"
	"gotap/engine/testenv"
)

// The same debug information in other files, or in another form, has to give the same answers.

// openWhole opens a program and all files that its debug information refers to.
func openWhole(t testing.TB, path string) *program {
	t.Helper()
	return openBy(t, path, func(path string) (debuginfo.File, error) {
		img, err := mapped.Open(path)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { img.Close() })
		return img, nil
	})
}

// answers is what debug information says of all functions of a program, a line each.
func answers(t testing.TB, p *program) []string {
	t.Helper()
	symbols, err := p.elf.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(symbols, func(a, b elf.Symbol) int { return strings.Compare(a.Name, b.Name) })
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	files := map[string]int{} // the highest line of each
	for _, s := range symbols {
		at := s.Value
		sig, err := p.info.Signature(at)
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || err != nil && s.Size == 0 {
			continue
		}
		say("%s: %s %v", s.Name, sig, err)
		params, err := p.info.Params(at)
		say("%s: params %+v %v", s.Name, params, err)
		result, err := p.info.ResultAccess(at, 0)
		say("%s: result %s %v", s.Name, accessText(result), err)
		for pc := at; pc < at+s.Size; pc += 3 {
			frames, err := p.info.FramesAt(pc)
			say("%s+%d: %v %v", s.Name, pc-at, frames, err)
			if err == nil && frames[0].File != "" {
				files[filepath.Base(frames[0].File)] = max(files[filepath.Base(frames[0].File)], frames[0].Line)
			}
			names, err := p.info.Locals(pc)
			say("%s+%d: locals %v %v", s.Name, pc-at, names, err)
			parameters, _ := p.info.Parameters(at)
			for _, n := range append(names, parameters...) {
				a, err := p.info.Access(pc, []string{n})
				say("%s+%d: %s %s %v", s.Name, pc-at, n, accessText(a), err)
			}
		}
		copies, err := p.info.Copies(at)
		for i := range copies {
			copies[i].Off = 0
		}
		say("%s: copies %+v %v", s.Name, copies, err)
	}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_OBJECT && s.Size > 0 {
			a, err := p.info.Global(0, []string{s.Name})
			say("global %s: %s %v", s.Name, accessText(a), err)
		}
	}
	for file, last := range files {
		for line := 1; line <= last; line++ {
			addrs, near, _ := p.info.AddrsOf(file, line)
			say("%s:%d: %x %v", file, line, addrs, near)
		}
	}
	slices.Sort(out)
	return out
}

// accessText describes an access without what depends on where the debug information is.
func accessText(a compile.Access) string {
	a.Ref.Offset = 0
	if a.Shape != nil {
		shape := *a.Shape
		a.Shape = nil
		return fmt.Sprintf("%+v with %d members", a, len(shape.Members))
	}
	return fmt.Sprintf("%+v", a)
}

// TestFormsAgree compares what is known of a program whose debug information is compressed, or has type units, with
// what is known of the same program without.
func TestFormsAgree(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
		want := answers(t, build(t, "testdata/values.c", "-O2", version))
		for _, form := range []string{"-gz=zlib", "-fdebug-types-section"} {
			p := build(t, "testdata/values.c", "-O2", version, form)
			compareAnswers(t, version+" "+form, answers(t, p), want, 300)
		}
	}
}

// compareAnswers compares two programs with the same code.
func compareAnswers(t *testing.T, name string, got, want []string, least int) {
	t.Helper()
	if len(want) < least {
		t.Fatalf("only %d answers", len(want))
	}
	wrong := 0
	for i := range max(len(got), len(want)) {
		g, w := "", ""
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("%s:\n got %s\nwant %s", name, g, w)
			if wrong++; wrong == 5 {
				return
			}
		}
	}
}
