package script

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"strings"

	"github.com/dop251/goja"

	"gotap/compile/diag"
)

// Expectations are written into a script with test(…) and expect(…). They count only when a journal is played; a normal run
// goes past them.

// Verdict is what came of a script's expectations.
type Verdict struct {
	Tests    []string  // names of the tests that ran
	Failed   []bool    // which of them failed
	Passed   int       // expectations that were met, in tests and elsewhere
	Missed   int       // expectations that were not
	Failures diag.List // the first of those, each with its place
}

// expectations is what a script has declared, and what came of it.
type expectations struct {
	Verdict
	tests []namedTest
	name  string // of the test that runs
}

type namedTest struct {
	name string
	fn   goja.Callable
}

// Verdict is what came of the expectations; after End.
func (s *Script) Verdict() Verdict { return s.expect.Verdict }

// testing reports whether expectations count.
func (s *Script) testing() bool { return s.opts.Replay != nil }

// jsTest is test(name, fn).
func (s *Script) jsTest(call goja.FunctionCall) goja.Value {
	at := s.site()
	if !goja.IsString(call.Argument(0)) {
		s.reject(at.argSpan(0), `test("counts calls", () => { … })`, "a test has a name, not %s", describe(call.Argument(0)))
	}
	if fn := s.fnArgument(at, call, 1, `test("counts calls", () => { … })`); fn != nil {
		s.expect.tests = append(s.expect.tests, namedTest{call.Argument(0).String(), fn})
	}
	return nil
}

// runTests calls the tests, in the order of the text. What a test throws is a failure of it.
func (s *Script) runTests() {
	if !s.testing() {
		return
	}
	s.stopped.Store(false)
	defer s.stopped.Store(true)
	for _, t := range s.expect.tests {
		s.expect.name = t.name
		missed, faults := s.expect.Missed, s.faults.total
		s.call(t.fn)
		s.expect.Tests = append(s.expect.Tests, t.name)
		s.expect.Failed = append(s.expect.Failed, s.expect.Missed > missed || s.faults.total > faults)
	}
	s.expect.name = ""
}

// jsPrinted is printed().
func (s *Script) jsPrinted(goja.FunctionCall) goja.Value {
	if !s.testing() {
		return s.vm.ToValue("")
	}
	s.out.Flush()
	return s.vm.ToValue(s.opts.Replay.Printed())
}

// A matcher is one way to compare a value with what is expected.
type matcher struct {
	name  string
	words string // for messages: "to be"
	takes int    // arguments
	holds func(s *Script, got goja.Value, want goja.Value) bool
}

// matchers are all of them. The typings declare the same; a test compares.
var matchers = []matcher{
	{"toBe", "to be", 1, func(_ *Script, got, want goja.Value) bool { return identical(got, want) }},
	{"toEqual", "to equal", 1, (*Script).alike},
	{"toContain", "to contain", 1, (*Script).contains},
	{"toMatch", "to match", 1, (*Script).matches},
	{"toBeGreaterThan", "to be greater than", 1, func(_ *Script, got, want goja.Value) bool { return compareNumbers(got, want) > 0 }},
	{"toBeLessThan", "to be less than", 1, func(_ *Script, got, want goja.Value) bool { return compareNumbers(want, got) > 0 }},
	{"toBeTruthy", "to be truthy", 0, func(_ *Script, got, _ goja.Value) bool { return got.ToBoolean() }},
	{"toBeUndefined", "to be undefined", 0, func(_ *Script, got, _ goja.Value) bool { return goja.IsUndefined(got) }},
}

// jsExpect is expect(value).
func (s *Script) jsExpect(call goja.FunctionCall) goja.Value {
	got := call.Argument(0)
	is, not := s.vm.NewObject(), s.vm.NewObject()
	for _, m := range matchers {
		is.Set(m.name, s.guarded(m.name, func(c goja.FunctionCall) goja.Value { return s.check(m, got, c, false) }))
		not.Set(m.name, s.guarded(m.name, func(c goja.FunctionCall) goja.Value { return s.check(m, got, c, true) }))
	}
	is.Set("not", not)
	return is
}

// check is one expectation. It does not throw, so that all that are not met are told.
func (s *Script) check(m matcher, got goja.Value, call goja.FunctionCall, negated bool) goja.Value {
	if !s.testing() {
		return nil
	}
	want := call.Argument(0)
	if m.holds(s, got, want) != negated {
		s.expect.Passed++
		return nil
	}
	text := "expected " + s.shown(got)
	if negated {
		text += " not"
	}
	text += " " + m.words
	if m.takes > 0 {
		text += " " + s.shown(want)
	}
	if s.expect.name != "" {
		text = fmt.Sprintf("test %q: %s", s.expect.name, text)
	}
	s.expect.Missed++
	if len(s.expect.Failures) < maxFailures {
		s.expect.Failures.Errorf(s.site().span(), "", "%s", text)
	}
	return nil
}

// maxFailures is how many are told: an expectation in a callback may fail at each hit.
const maxFailures = 100

// shown is a value for a message.
func (s *Script) shown(v goja.Value) string {
	text := s.inspect(v)
	if goja.IsString(v) {
		text = fmt.Sprintf("%q", v.String())
	}
	if len(text) > 500 {
		text = strings.ToValidUTF8(text[:500], "") + "…"
	}
	return text
}

// identical is ===, but for integers, which are the same as Number and as BigInt.
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
	if n, ok := toInt(v); ok {
		return big.NewInt(n), true
	}
	return nil, false
}

// compareNumbers is above 0 when a is greater; what is no number is not.
func compareNumbers(a, b goja.Value) int {
	x, isInt := wholeNumber(a)
	y, areInts := wholeNumber(b)
	if isInt && areInts {
		return x.Cmp(y)
	}
	if asFloat(a) > asFloat(b) {
		return 1
	}
	return 0
}

// alike compares by what JSON shows; the order of properties does not count.
func (s *Script) alike(a, b goja.Value) bool {
	if _, ok := a.(*goja.Object); !ok {
		return identical(a, b)
	}
	x, okA := jsonValue(a)
	y, okB := jsonValue(b)
	return okA && okB && reflect.DeepEqual(x, y)
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

// contains looks for a text in a text, or for an element in a list.
func (s *Script) contains(got, want goja.Value) bool {
	obj, ok := got.(*goja.Object)
	if !ok || obj.ClassName() == "String" {
		return strings.Contains(got.String(), want.String())
	}
	for _, key := range obj.Keys() {
		if s.alike(obj.Get(key), want) {
			return true
		}
	}
	return false
}

// matches tests with a regular expression of JavaScript, or of Go when it is given as text.
func (s *Script) matches(got, want goja.Value) bool {
	if obj, ok := want.(*goja.Object); ok && obj.ClassName() == "RegExp" {
		if test, ok := goja.AssertFunction(obj.Get("test")); ok {
			v, err := test(obj, s.vm.ToValue(s.text(got)))
			return err == nil && v.ToBoolean()
		}
	}
	re, err := regexp.Compile(want.String())
	if err != nil {
		s.throwf("cannot match: %v", err)
	}
	return re.MatchString(s.text(got))
}
