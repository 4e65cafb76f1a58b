package variable_test

import (
	"errors"
	"testing"

	"gotap/script/scripttest"
	"gotap/script/shared"
)

// A variable is set to a value of its type. The error about another value names both types, and that about a variable
// which programs do not share has the reason.
func TestSetValue(t *testing.T) {
	r := scripttest.New(t, `
const LIMIT = 5, RATE = 2.5;
let ratio = 1.5, limit = 0, on = false, label = "a", big = 1n << 62n, idle = 3;
probe("work", c => { if (on && c.arg0 > limit && limit < LIMIT * RATE) log(label, ratio, big); });
end(() => console.log(limit, on, label, big, idle));
`)
	for _, c := range []struct{ name, text, want, hint string }{
		{"limit", "0x10", "", ""},
		{"limit", "-3", "", ""},
		{"limit", "2.5", `cannot set limit: it holds integers, and "2.5" is a float`, "write an integer, as in 12 or 0x10"},
		{"limit", "1e3", `cannot set limit: it holds integers, and "1e3" is a float`, "write an integer, as in 12 or 0x10"},
		{"limit", "true", `cannot set limit: it holds integers, and "true" is a boolean`, "write an integer, as in 12 or 0x10"},
		{"limit", "many", `cannot set limit: it holds integers, and "many" is text`, "write an integer, as in 12 or 0x10"},
		{"limit", "", `cannot set limit: it holds integers, and "" is text`, "write an integer, as in 12 or 0x10"},
		{"limit", "n", `cannot set limit: it holds integers, and "n" is text`, "write an integer, as in 12 or 0x10"},
		{"big", "9007199254740993n", "", ""},
		{"big", "99999999999999999999", `cannot set big: it holds integers, and "99999999999999999999" is an integer of more than 64 bits`, "write an integer, as in 12 or 0x10"},
		{"on", "true", "", ""},
		{"on", "1", `cannot set on: it holds true or false, and "1" is an integer`, "write true or false"},
		{"on", "yes", `cannot set on: it holds true or false, and "yes" is text`, "write true or false"},
		{"label", "5", "", ""},
		{"ratio", "2.5", "cannot set ratio: it holds a float, and programs share integers, booleans and texts only", "an integer can be set: thousandths, or nanoseconds"},
		{"LIMIT", "6", "cannot set LIMIT: no variable of this name is shared with programs", "there are limit, on, label, big"},
		{"idle", "4", "cannot set idle: no variable of this name is shared with programs", "there are limit, on, label, big"},
		{"labl", "4", "cannot set labl: no variable of this name is shared with programs", "did you mean label?"},
	} {
		err := r.Script.SetValue(c.name, c.text)
		var e *shared.SetError
		switch {
		case c.want == "" && err == nil:
		case c.want == "" || !errors.As(err, &e) || e.Error() != c.want || e.Hint() != c.hint:
			t.Errorf("%s=%s: %v", c.name, c.text, err)
		}
	}
	scripttest.WantLines(t, r.Once(func() {}), "-3 true 5 9007199254740993 3")
}
