package jsvm

import (
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"

	"gotap/script/output"
	"gotap/script/source"
)

func newMachine(t *testing.T, errors *strings.Builder) *Machine {
	t.Helper()
	m := New(Options{Files: source.NewFiles(nil, false), Out: output.NewText(errors, errors), Deadline: time.Minute, HeapLimit: 1 << 30})
	t.Cleanup(m.Close)
	return m
}

// Integers keep their 64 bits in both directions.
func TestIntegers(t *testing.T) {
	m := newMachine(t, &strings.Builder{})
	for _, n := range []int64{0, -1, MaxSafe, MaxSafe + 1, -MaxSafe - 1, 1<<63 - 1, -1 << 63} {
		if back, ok := ToInt(m.Integer(n)); !ok || back != n {
			t.Errorf("%d comes back as %d, %v", n, back, ok)
		}
		if back, ok := ToInt(m.Unsigned(uint64(n))); !ok || back != n {
			t.Errorf("%#x comes back as %#x, %v", uint64(n), uint64(back), ok)
		}
	}
	for _, text := range []string{"1.5", "-0.0", "2 ** 63", "2n ** 64n", "'5'", "null"} {
		v, err := m.VM.RunString(text)
		if n, ok := ToInt(v); err != nil || ok {
			t.Errorf("%s is the integer %d, %v", text, n, err)
		}
	}
}

// An exception of a callback is reported, a few times of each place, and summed up.
func TestFaults(t *testing.T) {
	var errors strings.Builder
	m := newMachine(t, &errors)
	m.Define("refuse", func(goja.FunctionCall) goja.Value { m.Throwf("refused"); return nil })
	fn, _ := goja.AssertFunction(m.VM.Get("refuse"))
	for range 5 {
		if m.Call(fn) != nil {
			t.Error("an exception has a result")
		}
	}
	m.Faults.Summary(m.out)
	m.out.Flush()
	if got := strings.Count(errors.String(), "refused"); m.Faults.Total != 5 || got != faultsShown+1 {
		t.Errorf("%d faults, %d lines:\n%s", m.Faults.Total, got, &errors)
	}
	if !strings.Contains(errors.String(), "(5 times in all)") {
		t.Error(errors.String())
	}
}

// A bug in a built-in function is an exception of the script.
func TestGuarded(t *testing.T) {
	m := newMachine(t, &strings.Builder{})
	m.Define("broken", func(goja.FunctionCall) goja.Value { var none []goja.Value; return none[len(none)] })
	v, err := m.VM.RunString(`try { broken(); "none" } catch (e) { e.name + " " + e.message }`)
	if err != nil || !strings.HasPrefix(v.String(), "TypeError internal error in broken: ") {
		t.Errorf("%v, %v", v, err)
	}
}

// Inspect stops at cycles and at depth, and uses the forms it is given.
func TestInspect(t *testing.T) {
	m := newMachine(t, &strings.Builder{})
	m.AddForm(func(obj *goja.Object) (string, bool) { return "special", obj.ClassName() == "Date" })
	v, err := m.VM.RunString(`const o = { a: [1, "x"], d: new Date(0), m: new Map([[1, 2]]) }; o.o = o; o.deep = { b: { c: { d: { e: 1 } } } }; o`)
	if err != nil {
		t.Fatal(err)
	}
	want := `{ a: [1, "x"], d: special, m: Map {1 => 2}, o: [circular], deep: { b: { c: { d: [Object] } } } }`
	if got := m.Inspect(v); got != want {
		t.Errorf("%s, not %s", got, want)
	}
}
