package output

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"gotap/compile/diag"
	"gotap/runtime/value"
)

// Text writes for people. What is written may be read on a terminal, also from a file, so that control characters are
// escaped. Its fields are set before the first use.
type Text struct {
	Colours bool           // diagnostics are painted
	Own     *diag.Controls // control sequences of the script; all others are escaped
	Columns func() int     // of the terminal that gets the data, 0 if it is none; nil: none
	// Complaints is the width of the terminal that gets the diagnostics, as Columns is.
	Complaints func() int

	data, complaints *stream
}

// NewText makes a sink that writes data to one writer and complaints to another.
func NewText(data, complaints io.Writer) *Text {
	return &Text{data: newStream(data), complaints: newStream(complaints)}
}

// Print writes a text of the script.
func (t *Text) Print(text string) { t.data.text(t.Own.Escape(text)) }

// Clear has what is written next take the place of the data before it, where these go to a file of their own.
func (t *Text) Clear() { t.data.restart() }

// Complain writes to the other stream, after the data that came before it.
func (t *Text) Complain(text string) { t.complain(t.Own.Escape(text)) }

// complain writes what has been escaped.
func (t *Text) complain(text string) {
	t.data.flush()
	t.complaints.text(text)
	t.complaints.flush()
}

// Event writes a record as "probe: name=value …".
func (t *Text) Event(e Event) {
	switch {
	case e.Hidden:
		return
	case e.Text != "":
		t.data.text(t.Own.Escape(e.Text))
		return
	}
	t.data.text(t.Own.Escape(e.Line()))
}

// Line returns the event in the form of Text.Event.
func (e Event) Line() string {
	var b strings.Builder
	b.WriteString(e.Probe)
	b.WriteByte(':')
	writeFields(&b, "", e.Fields)
	b.WriteByte('\n')
	return b.String()
}

// writeFields writes name=value for each field; those of nested records have the outer name and a dot in front. Stacks
// have lines of their own.
func writeFields(b *strings.Builder, prefix string, fields []Field) {
	for _, f := range fields {
		name := prefix + f.Name
		switch v := f.Value.(type) {
		case []Field:
			writeFields(b, name+".", v)
		case []string:
			fmt.Fprintf(b, " %s=\n    %s", name, strings.Join(v, "\n    "))
		case string:
			fmt.Fprintf(b, " %s=%s", name, word(v))
		case float64:
			fmt.Fprintf(b, " %s=%s", name, value.NumberText(v))
		default:
			fmt.Fprintf(b, " %s=%v", name, v)
		}
	}
}

// word quotes a text that would not be one word on a line.
func word(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '"' || r == '=' || r == 0x7f }) {
		return strconv.Quote(s)
	}
	return s
}

// Table writes the table's text.
func (t *Text) Table(table Table) { t.data.text(t.Own.Escape(table.Text)) }

// Aggregate writes an aggregation in bpftrace's form.
func (t *Text) Aggregate(a Aggregate) {
	var b strings.Builder
	if t.Columns != nil {
		a.Options.Width = t.Columns()
	}
	a.Snapshot.Print(&b, a.Options) // a builder takes everything
	t.data.text(t.Own.Escape(b.String()))
}

// Error prints a diagnostic.
func (t *Text) Error(d diag.Diagnostic) {
	if t.Complaints != nil {
		d = d.Fit(t.Complaints())
	}
	if t.Colours {
		t.complain(Paint(d))
		return
	}
	t.complain(d.String())
}

// Lost prints what was lost and why.
func (t *Text) Lost(cause string, count uint64) {
	t.Complain(fmt.Sprintf("gotap: lost %d: %s\n", count, cause))
}

// Ready prints nothing: the command prints status lines.
func (t *Text) Ready() {}

// End prints nothing: the command prints how targets have ended.
func (t *Text) End(End) {}

// Flush writes out what is buffered.
func (t *Text) Flush() {
	t.data.flush()
	t.complaints.flush()
}

// Err is why data could not be written.
func (t *Text) Err() error { return t.data.error() }
