package expect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotap/script"
	"gotap/script/journal"
	"gotap/script/scripttest"
)

// replay is a recording in which nothing happened.
type replay struct{}

func (replay) Answer(string) ([]byte, bool)           { return nil, false }
func (replay) Dump(string) ([]journal.Played, uint64) { return nil, 0 }
func (replay) Arg(string) (value string, given bool)  { return "", false }
func (replay) Printed() string                        { return "what was printed" }

// verdict runs the tests of a script on the recording.
func verdict(t *testing.T, text string) script.Verdict {
	t.Helper()
	r := scripttest.New(t, text, func(o *script.Options) { o.Replay = replay{} })
	r.Script.Begin()
	r.Script.End()
	return r.Script.Verdict()
}

// TestMatchers has for each matcher values that meet it, and values that do not.
func TestMatchers(t *testing.T) {
	met := []string{
		`expect(1).toBe(1n)`, `expect(2n ** 70n).toBe(2n ** 70n)`, `expect(NaN).toBe(NaN)`, `expect("a").not.toBe("b")`, `expect(0).not.toBe(-0)`,
		`expect({ a: 1, b: [2] }).toEqual({ b: [2], a: 1 })`, `expect([1]).not.toEqual([1, 2])`, `expect(3).toEqual(3)`,
		`expect("abc").toContain("b")`, `expect([1, { x: 2 }]).toContain({ x: 2 })`, `expect([1]).not.toContain(2)`,
		`expect("abc").toMatch(/B/i)`, `expect("abc").toMatch("^a")`, `expect("abc").not.toMatch(/x/)`,
		`expect(2).toBeGreaterThan(1.5)`, `expect(1n).toBeLessThan(2)`, `expect("x").not.toBeGreaterThan(1)`, `expect("x").not.toBeLessThan(1)`,
		`expect("x").toBeTruthy()`, `expect(0).not.toBeTruthy()`, `expect(undefined).toBeUndefined()`, `expect(null).not.toBeUndefined()`,
		`expect(printed()).toBe("what was printed")`,
	}
	v := verdict(t, strings.Join(met, ";\n"))
	if v.Passed != len(met) || v.Missed != 0 {
		t.Errorf("%d of %d expectations were met:\n%v", v.Passed, len(met), v.Failures)
	}
	negate := strings.NewReplacer(").not.", ").", ").to", ").not.to")
	var failing []string
	for _, e := range met {
		failing = append(failing, negate.Replace(e))
	}
	v = verdict(t, strings.Join(failing, ";\n"))
	if v.Passed != 0 || v.Missed != len(met) || len(v.Failures) != len(met) {
		t.Errorf("%d of %d expectations failed", v.Missed, len(met))
	}
}

// TestTests checks which tests fail: one with a failed expectation, and one that throws.
func TestTests(t *testing.T) {
	v := verdict(t, `test("good", () => expect(1).toBe(1));
test("wrong", () => { expect(1).toBe(2); expect([1]).toContain(1); });
test("throws", () => { throw new Error("x"); });`)
	if !slices.Equal(v.Tests, []string{"good", "wrong", "throws"}) || !slices.Equal(v.Failed, []bool{false, true, true}) {
		t.Errorf("tests %q, failed %v", v.Tests, v.Failed)
	}
	if v.Passed != 2 || v.Missed != 1 {
		t.Errorf("%d passed, %d missed", v.Passed, v.Missed)
	}
	if d := v.Failures[0]; d.Text != `test "wrong": expected 1 to be 2` || d.Span.Source.Position(d.Span.Start).Line != 2 {
		t.Errorf("%v", d)
	}
}

// TestFailuresAreLimited lets more expectations fail than are reported.
func TestFailuresAreLimited(t *testing.T) {
	v := verdict(t, `for (let i = 0; i < 250; i++) expect("`+strings.Repeat("long", 200)+`").toBe(i);`)
	if v.Missed != 250 || len(v.Failures) != 100 {
		t.Errorf("%d missed, %d reported", v.Missed, len(v.Failures))
	}
	if text := v.Failures[0].Text; len(text) > 600 || !strings.Contains(text, "…") {
		t.Errorf("a long value is shown as %s", text)
	}
}

// TestNormalRun checks that expectations do not count without a recording, and that tests do not run.
func TestNormalRun(t *testing.T) {
	r := scripttest.New(t, `expect(1).toBe(2); test("x", () => print("ran")); print(printed() === "");`)
	scripttest.WantLines(t, r.Once(func() {}), "true")
	if v := r.Script.Verdict(); v.Passed != 0 || v.Missed != 0 || len(v.Tests) != 0 {
		t.Errorf("%+v", v)
	}
}

// TestUnknownMatcher checks that the error lists the matchers that exist.
func TestUnknownMatcher(t *testing.T) {
	r := scripttest.New(t, `begin(() => expect(1).toHaveLength(1));`)
	r.Once(func() {})
	r.WantErrors("toHaveLength", fmt.Sprintf("expect\\(x\\) has .*%s", "toEqual"))
}
