package link_test

import (
	"errors"
	"strings"
	"testing"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/engine"
	"gotap/engine/link"
	"gotap/runtime/arena"
)

// place is a place of a program with two registers.
type place struct {
	engine.PlaceInfo // the rest is not asked for
	name             string
	wordSize         int
	code             byte
	copies           []engine.Copies
}

func (p place) Name() string  { return p.name }
func (p place) WordSize() int { return p.wordSize }

func (p place) Register(name string) (index, bits, shift int, ok bool) {
	for i, r := range []string{"rax", "rsp"} {
		if r == name {
			return i, 64, 0, true
		}
	}
	return 0, 0, 0, false
}

func (p place) Code(int) ([]byte, error) { return []byte{p.code}, nil }

func (p place) Copies() (engine.Copies, bool) {
	if len(p.copies) == 0 {
		return engine.Copies{}, false
	}
	return p.copies[0], true
}

// source is a probe with one program, and a warning that only places show.
type source struct {
	program *compile.Program
	warning string
	fails   bool
}

func (s source) Compile(at js.Place) (js.Result, diag.List) {
	var list diag.List
	if s.fails {
		list.Errorf(diag.Span{}, "", "does not compile")
		return js.Result{}, list
	}
	if at != nil && s.warning != "" {
		list = append(list, diag.Diagnostic{Severity: diag.Warning, Text: s.warning})
	}
	return js.Result{Programs: map[js.HandlerKind]*compile.Program{js.Enter: s.program}}, list
}

func assemble(t *testing.T, text string) *compile.Program {
	t.Helper()
	p, list := compile.Assemble(diag.NewSource("test.rpn", text))
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return p
}

func newLinker(t *testing.T, warn func(diag.List)) *link.Linker {
	t.Helper()
	arena, err := arena.New(arena.Options{Size: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { arena.Close() })
	return link.New(arena, warn)
}

func TestPlacesOfOneWordSizeShareAProgram(t *testing.T) {
	l := newLinker(t, nil)
	p := assemble(t, "push d,1\nros,1\nexit\n")
	first, err := l.Bind(p, place{name: "a", wordSize: 8})
	if err != nil {
		t.Fatal(err)
	}
	second, err := l.Bind(p, place{name: "b", wordSize: 8})
	if err != nil || first != second {
		t.Errorf("the second place has its own program: %v", err)
	}
	narrow, err := l.Bind(p, place{name: "c", wordSize: 4})
	if err != nil || narrow == first {
		t.Errorf("a place with other words shares the program: %v", err)
	}
	if !p.Bound.Verified {
		t.Error("the program was not verified")
	}
}

func TestUnverifiableProgramsAreRefused(t *testing.T) {
	if code, err := newLinker(t, nil).Bind(assemble(t, "ros,1\nexit\n"), place{wordSize: 8}); err == nil || code != nil {
		t.Errorf("a program that takes from an empty stack is linked: %v", err)
	}
}

func TestUnknownRegistersPointAtTheText(t *testing.T) {
	_, err := newLinker(t, nil).Bind(assemble(t, "push r,raxx\nros,1\nexit\n"), place{wordSize: 8})
	var list diag.List
	if !errors.As(err, &list) || len(list) != 1 {
		t.Fatalf("not a diagnostic: %v", err)
	}
	if list[0].Span.Source == nil || list[0].Hint != "did you mean rax?" {
		t.Errorf("no position, or another hint: %+v", list[0])
	}
}

func TestErrorsOfTheSourceAreReturned(t *testing.T) {
	_, err := newLinker(t, nil).Handlers(1, source{fails: true})(place{wordSize: 8})
	if err == nil || !strings.Contains(err.Error(), "does not compile") {
		t.Errorf("got %v", err)
	}
}

func TestWarningsOfPlacesAreReportedOnce(t *testing.T) {
	var got []string
	l := newLinker(t, func(list diag.List) {
		for _, d := range list {
			got = append(got, d.Text)
		}
	})
	compile := l.Handlers(1, source{program: assemble(t, "exit\n"), warning: "seven"})
	for range 3 {
		if h, err := compile(place{wordSize: 8}); err != nil || h.Enter == nil {
			t.Fatalf("no program: %v", err)
		}
	}
	if len(got) != 1 || got[0] != "seven" {
		t.Errorf("warnings %q", got)
	}
}

func TestExactRefusesAnotherInstruction(t *testing.T) {
	l := newLinker(t, nil)
	p := assemble(t, "exit\n")
	_, err := l.Exact(1, p, 0x55)(place{name: "libc:malloc", wordSize: 8, code: 0xf3})
	var mismatch *link.MismatchError
	if !errors.As(err, &mismatch) || mismatch.Want != 0x55 || mismatch.Got != 0xf3 {
		t.Errorf("got %v", err)
	}
	for _, opcode := range []int{0xf3, -1} {
		if _, err := l.Exact(1, p, opcode)(place{wordSize: 8, code: 0xf3}); err != nil {
			t.Errorf("opcode %d: %v", opcode, err)
		}
	}
}

func TestCopiesAreReadOncePerPlace(t *testing.T) {
	l := newLinker(t, nil)
	compile := l.Exact(7, assemble(t, "exit\n"), -1)
	at := place{name: "a", wordSize: 8, copies: []engine.Copies{{Func: "part"}}}
	for range 2 {
		if _, err := compile(at); err != nil {
			t.Fatal(err)
		}
	}
	var counts []int
	for range 2 {
		l.Copies.Fresh(func(fresh []engine.Copies) { counts = append(counts, len(fresh)) })
	}
	if counts[0] != 1 || counts[1] != 0 || len(l.Copies.Of(7)) != 1 || len(l.Copies.Of(8)) != 0 {
		t.Errorf("fresh %v, of 7: %d, of 8: %d", counts, len(l.Copies.Of(7)), len(l.Copies.Of(8)))
	}
}
