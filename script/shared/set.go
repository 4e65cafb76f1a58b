package shared

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gotap/compile/spelling"
	"gotap/runtime/object"
	"gotap/runtime/value"
)

// SetError reports a variable that cannot be set.
type SetError struct {
	Name    string
	Reason  string
	Help    string
	Unknown bool // there is none of that name
}

// Error returns the name and the reason.
func (e *SetError) Error() string { return fmt.Sprintf("cannot set %s: %s", e.Name, e.Reason) }

// Hint returns what to do, or "".
func (e *SetError) Hint() string { return e.Help }

// Set gives a variable that programs share a value, as text has it: an integer (also 0x…, or 12n), true or false, or
// the text itself. Errors are *SetError. Safe for concurrent use.
func (t *Table) Set(name, text string) error {
	var names []string
	for _, o := range t.List() {
		switch {
		case o.Name == name && o.Handle != nil:
			return set(o, text)
		case isVariable(o):
			names = append(names, o.Name)
		}
	}
	e := &SetError{Name: name, Reason: "no variable of this name is shared with programs", Unknown: true}
	if near := spelling.Nearest(name, names); near != "" {
		e.Help = "did you mean " + near + "?"
	} else if len(names) > 0 {
		e.Help = "there are " + strings.Join(names, ", ")
	} else {
		e.Help = "a variable is shared if it is declared with let at top level and a program uses it"
	}
	return e
}

func isVariable(o Object) bool { return o.Kind == object.KindInt || o.Kind == object.KindText }

func set(o Object, text string) error {
	v := value.Text(text)
	switch o.Kind {
	case object.KindText:
		if len(text) > value.DefaultText {
			return &SetError{Name: o.Name, Reason: fmt.Sprintf("%d bytes are more than the %d of a text variable", len(text), value.DefaultText)}
		}
	case object.KindInt:
		n, is := read(text)
		switch {
		case o.Value == value.KindBool && is != aBoolean:
			return &SetError{Name: o.Name, Reason: fmt.Sprintf("it holds true or false, and %q is %s", text, is), Help: "write true or false"}
		case o.Value != value.KindBool && is != anInteger:
			return &SetError{Name: o.Name, Reason: fmt.Sprintf("it holds integers, and %q is %s", text, is), Help: "write an integer, as in 12 or 0x10"}
		}
		v = value.Int(n)
	default:
		return &SetError{Name: o.Name, Reason: "it is not a variable", Help: "gotap ctl reset sets aggregations and maps back"}
	}
	if err := o.Handle.Set(v); err != nil {
		return &SetError{Name: o.Name, Reason: err.Error()}
	}
	return nil
}

// What the text of a value can be.
const (
	anInteger = "an integer"
	aBoolean  = "a boolean"
)

// read reads an integer of 64 bits, signed or unsigned, or a truth value, and returns what the text is.
func read(text string) (n int64, is string) {
	switch text {
	case "true":
		return 1, aBoolean
	case "false":
		return 0, aBoolean
	}
	digits := text
	if before, big := strings.CutSuffix(text, "n"); big { // 12n, as a BigInt is written
		digits = before
	}
	n, err := strconv.ParseInt(digits, 0, 64)
	if err == nil {
		return n, anInteger
	}
	u, uerr := strconv.ParseUint(digits, 0, 64)
	switch _, ferr := strconv.ParseFloat(text, 64); {
	case uerr == nil:
		return int64(u), anInteger
	case errors.Is(err, strconv.ErrRange), errors.Is(uerr, strconv.ErrRange):
		return 0, "an integer of more than 64 bits"
	case ferr == nil:
		return 0, "a float"
	}
	return 0, "text"
}
