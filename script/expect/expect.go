package expect

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"strings"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/script/journal"
	"gotap/script/jsvm"
	"gotap/script/output"
)

// Verdict is the outcome of a script's tests and expectations.
type Verdict struct {
	Tests    []string  // names of the tests that ran
	Failed   []bool    // which of them failed
	Passed   int       // expectations that were met, in tests and elsewhere
	Missed   int       // expectations that failed
	Failures diag.List // the first maxFailures of them, each with its place
}

// Expectations are the tests and expectations of one script.
type Expectations struct {
	Verdict

	m      *jsvm.Machine
	out    output.Sink
	replay journal.Replay // nil: expectations do not count
	tests  []namedTest
	name   string // of the test that runs
}

type namedTest struct {
	name string
	fn   goja.Callable
}

// New returns the expectations of a script that has declared none yet. Without a replay they do not count.
func New(m *jsvm.Machine, out output.Sink, replay journal.Replay) *Expectations {
	x := &Expectations{m: m, out: out, replay: replay}
	names := []string{"not"} // the members of expect(…): the matchers, and not, which negates them
	for _, m := range matchers {
		names = append(names, m.name)
	}
	m.AddMembers(jsvm.Members{Names: func() []string { return names }, Hint: func(name string) string {
		if strings.HasPrefix(name, "toBe") || strings.HasPrefix(name, "toHave") || name == "toThrow" { // matchers of other test frameworks
			return "expect(x) has " + strings.Join(names, ", ")
		}
		return ""
	}})
	return x
}

// testing reports whether expectations count.
func (x *Expectations) testing() bool { return x.replay != nil }

// Test implements test(name, fn).
func (x *Expectations) Test(call goja.FunctionCall) goja.Value {
	at := x.m.Site()
	if !goja.IsString(call.Argument(0)) {
		x.m.Reject(at.ArgSpan(0), `test("counts calls", () => { … })`, "a test has a name, not %s", jsvm.Describe(call.Argument(0)))
	}
	if fn := x.m.FnArgument(at, call, 1, `test("counts calls", () => { … })`); fn != nil {
		x.tests = append(x.tests, namedTest{call.Argument(0).String(), fn})
	}
	return nil
}

// Run calls the tests in the order in which the script declared them.
func (x *Expectations) Run() {
	if !x.testing() {
		return
	}
	x.m.Stopped.Store(false)
	defer x.m.Stopped.Store(true)
	for _, t := range x.tests {
		x.name = t.name
		missed, faults := x.Missed, x.m.Faults.Total
		x.m.Call(t.fn)
		x.Tests = append(x.Tests, t.name)
		x.Failed = append(x.Failed, x.Missed > missed || x.m.Faults.Total > faults)
	}
	x.name = ""
}

// Printed implements printed(): what the script has printed so far, "" in a normal run.
func (x *Expectations) Printed(goja.FunctionCall) goja.Value {
	if !x.testing() {
		return x.m.VM.ToValue("")
	}
	x.out.Flush()
	return x.m.VM.ToValue(x.replay.Printed())
}

// A matcher is a method of expect(value), which compares the value with the expected one.
type matcher struct {
	name  string
	words string // for messages: "to be"
	takes int    // number of arguments, 0 or 1
	holds func(x *Expectations, got goja.Value, want goja.Value) bool
}

// matchers lists the methods of expect(value). A test compares them with the typings.
var matchers = []matcher{
	{"toBe", "to be", 1, func(_ *Expectations, got, want goja.Value) bool { return identical(got, want) }},
	{"toEqual", "to equal", 1, (*Expectations).alike},
	{"toContain", "to contain", 1, (*Expectations).contains},
	{"toMatch", "to match", 1, (*Expectations).matches},
	{"toBeGreaterThan", "to be greater than", 1, func(_ *Expectations, got, want goja.Value) bool { return compareNumbers(got, want) > 0 }},
	{"toBeLessThan", "to be less than", 1, func(_ *Expectations, got, want goja.Value) bool { return compareNumbers(want, got) > 0 }},
	{"toBeTruthy", "to be truthy", 0, func(_ *Expectations, got, _ goja.Value) bool { return got.ToBoolean() }},
	{"toBeUndefined", "to be undefined", 0, func(_ *Expectations, got, _ goja.Value) bool { return goja.IsUndefined(got) }},
}

// Expect implements expect(value).
func (x *Expectations) Expect(call goja.FunctionCall) goja.Value {
	got := call.Argument(0)
	is, not := x.m.VM.NewObject(), x.m.VM.NewObject()
	for _, m := range matchers {
		is.Set(m.name, x.m.Guarded(m.name, func(c goja.FunctionCall) goja.Value { return x.check(m, got, c, false) }))
		not.Set(m.name, x.m.Guarded(m.name, func(c goja.FunctionCall) goja.Value { return x.check(m, got, c, true) }))
	}
	is.Set("not", not)
	return is
}

// check evaluates one expectation. It does not throw, so that all failures are reported.
func (x *Expectations) check(m matcher, got goja.Value, call goja.FunctionCall, negated bool) goja.Value {
	if !x.testing() {
		return nil
	}
	want := call.Argument(0)
	if m.holds(x, got, want) != negated {
		x.Passed++
		return nil
	}
	text := "expected " + x.shown(got)
	if negated {
		text += " not"
	}
	text += " " + m.words
	if m.takes > 0 {
		text += " " + x.shown(want)
	}
	if x.name != "" {
		text = fmt.Sprintf("test %q: %s", x.name, text)
	}
	x.Missed++
	if len(x.Failures) < maxFailures {
		x.Failures.Errorf(x.m.Site().Span(), "", "%s", text)
	}
	return nil
}

// maxFailures limits the reported failures: an expectation in a callback may fail at each hit.
const maxFailures = 100

// shown formats a value for a message.
func (x *Expectations) shown(v goja.Value) string {
	text := x.m.Inspect(v)
	if goja.IsString(v) {
		text = fmt.Sprintf("%q", v.String())
	}
	if len(text) > 500 {
		text = strings.ToValidUTF8(text[:500], "") + "…"
	}
	return text
}

// identical is Object.is, except that a Number and a BigInt of the same integer are identical.
func identical(a, b goja.Value) bool {
	if x, ok := wholeNumber(a); ok {
		y, ok := wholeNumber(b)
		return ok && x.Cmp(y) == 0
	}
	return a.SameAs(b)
}

func wholeNumber(v goja.Value) (*big.Int, bool) {
	if n, ok := v.Export().(*big.Int); ok {
		return n, true
	}
	if n, ok := jsvm.ToInt(v); ok {
		return big.NewInt(n), true
	}
	return nil, false
}

// compareNumbers returns the order of two integers: -1, 0 or 1. For other values it returns 1 if both are numbers and a
// is greater, and otherwise 0.
func compareNumbers(a, b goja.Value) int {
	x, isInt := wholeNumber(a)
	y, areInts := wholeNumber(b)
	if isInt && areInts {
		return x.Cmp(y)
	}
	if jsvm.ToFloat(a) > jsvm.ToFloat(b) {
		return 1
	}
	return 0
}

// alike compares objects by their JSON without regard to the order of properties, and other values as identical does.
func (x *Expectations) alike(a, b goja.Value) bool {
	if _, ok := a.(*goja.Object); !ok {
		return identical(a, b)
	}
	left, okA := jsonValue(a)
	right, okB := jsonValue(b)
	return okA && okB && reflect.DeepEqual(left, right)
}

func jsonValue(v goja.Value) (parsed any, ok bool) {
	obj, ok := v.(*goja.Object)
	if !ok {
		return nil, false
	}
	text, err := obj.MarshalJSON()
	if err != nil {
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	return parsed, d.Decode(&parsed) == nil
}

// contains reports whether a text contains another, or whether an array or object has a member that is alike.
func (x *Expectations) contains(got, want goja.Value) bool {
	obj, ok := got.(*goja.Object)
	if !ok || obj.ClassName() == "String" {
		return strings.Contains(got.String(), want.String())
	}
	for _, key := range obj.Keys() {
		if x.alike(obj.Get(key), want) {
			return true
		}
	}
	return false
}

// matches reports whether the text of a value matches a RegExp of JavaScript, or a string with a regular expression of
// Go.
func (x *Expectations) matches(got, want goja.Value) bool {
	if obj, ok := want.(*goja.Object); ok && obj.ClassName() == "RegExp" {
		if test, ok := goja.AssertFunction(obj.Get("test")); ok {
			v, err := test(obj, x.m.VM.ToValue(x.m.Text(got)))
			return err == nil && v.ToBoolean()
		}
	}
	re, err := regexp.Compile(want.String())
	if err != nil {
		x.m.Throwf("cannot match: %v", err)
	}
	return re.MatchString(x.m.Text(got))
}
