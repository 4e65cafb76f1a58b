package report

import (
	"errors"
	"fmt"
	"slices"

	"gotap/compile/diag"
	"gotap/compile/js"
)

// Report collects what is said about a unit, and finds where in the text as the user wrote it.
type Report struct {
	source      *diag.Source
	mapping     func(offset int) (*diag.Source, int)
	Diags       diag.List
	provisional []int // warnings that hold only if the operands are integers, as positions in diags
	said        map[said]bool
	call        *diag.Span // of the function that is being read; nil in the program itself
}

func New(u *js.Unit) *Report {
	return &Report{source: u.Source, mapping: u.Map, said: map[said]bool{}}
}

// said identifies a message, so that a function inlined twice reports its errors once.
type said struct {
	source     *diag.Source
	start, end int
	text       string
}

// Errorf reports an error, once. An error inside the range of an error already reported is a consequence
// of it only if the expression is poisoned, so nothing else is suppressed here.
func (r *Report) Errorf(at diag.Span, hint, format string, args ...any) {
	d := diag.Diagnostic{Span: at, Text: fmt.Sprintf(format, args...), Hint: hint}
	r.say(d)
}

func (r *Report) Warnf(at diag.Span, hint, format string, args ...any) {
	r.say(diag.Diagnostic{Span: at, Severity: diag.Warning, Text: fmt.Sprintf(format, args...), Hint: hint})
}

func (r *Report) say(d diag.Diagnostic) {
	key := said{d.Span.Source, d.Span.Start, d.Span.End, d.Text}
	if !r.said[key] {
		r.said[key] = true
		r.Diags = append(r.Diags, d)
	}
}

// Called notes that a function is read whose call is at a place, until the result is called.
func (r *Report) Called(at diag.Span) (done func()) {
	outer := r.call
	r.call = &at
	return func() { r.call = outer }
}

// HintOf returns the hint that an error carries, or "".
func HintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

// WarnProvisionally reports a warning that withdraw takes back.
func (r *Report) WarnProvisionally(at diag.Span, hint, format string, args ...any) {
	said := len(r.Diags)
	r.Warnf(at, hint, format, args...)
	for i := said; i < len(r.Diags); i++ {
		r.provisional = append(r.provisional, i)
	}
}

// Withdraw takes the provisional warnings back.
func (r *Report) Withdraw() {
	for _, i := range slices.Backward(r.provisional) {
		r.Diags = slices.Delete(r.Diags, i, i+1)
	}
}
