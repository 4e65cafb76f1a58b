package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync"

	"gotap/compile/diag"
)

// JSON writes one object a line for everything. What top-level code and begin print or complain of comes before the
// probes are armed, and yet the ready record is the first: it is held back until then, or until the end when the run
// never gets ready.
type JSON struct {
	Labels []Field // of the ready record; none: it has no field for them

	data *stream

	mu   sync.Mutex
	open bool   // records go to data
	held []byte // until then
}

// Version is that of the layout of records, which docs/json.md describes. It grows when a reader of the version before
// could misunderstand a record; new types and fields do not change it.
const Version = 1

// NewJSON makes a sink of JSON lines.
func NewJSON(data io.Writer) *JSON { return &JSON{data: newStream(data)} }

// record writes an object whose fields keep their order.
func (j *JSON) record(fields ...Field) {
	var b bytes.Buffer
	writeObject(&b, fields)
	b.WriteByte('\n')
	j.write(b.Bytes())
}

// write writes whole records, or keeps them.
func (j *JSON) write(raw []byte) {
	raw = escapeControls(raw)
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.open {
		j.held = append(j.held, raw...)
		return
	}
	j.data.bytes(raw)
}

// escapeControls escapes the control characters that encoding/json leaves as they are, DEL and U+0080 to U+009F: a
// terminal may obey them. In a record they stand in texts only.
func escapeControls(raw []byte) []byte {
	if !bytes.ContainsFunc(raw, isBareControl) {
		return raw
	}
	var b bytes.Buffer
	for _, r := range string(raw) {
		if isBareControl(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}

// EncodeJSON returns the JSON of a value, with <, >, & and the control characters that a terminal may obey escaped.
func EncodeJSON(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	return escapeControls(raw), err
}

func isBareControl(r rune) bool { return r >= 0x7f && r <= 0x9f }

// release writes first, which may be empty, and then what was held back; from then on nothing is held back. What others
// write meanwhile follows.
func (j *JSON) release(first []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.data.bytes(append(first, j.held...))
	j.open, j.held = true, nil
}

// writeObject writes fields in their order, which encoding/json would lose with a map.
func writeObject(b *bytes.Buffer, fields []Field) {
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		writeString(b, f.Name)
		b.WriteByte(':')
		writeValue(b, f.Value)
	}
	b.WriteByte('}')
}

// maxExact is the largest integer every reader of JSON keeps exactly.
const maxExact = 1 << 53

// writeValue writes what a record may hold. Integers that a double does not hold are text: most readers of JSON would
// round them in silence.
func writeValue(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case string:
		writeString(b, v)
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int:
		writeInt(b, int64(v))
	case int64:
		writeInt(b, v)
	case uint32:
		writeInt(b, int64(v))
	case uint64:
		if v > maxExact {
			writeString(b, strconv.FormatUint(v, 10))
		} else {
			b.WriteString(strconv.FormatUint(v, 10))
		}
	case float64:
		writeFloat(b, v)
	case []Field:
		writeObject(b, v)
	default:
		writeOther(b, v)
	}
}

// writeInt writes an integer, as text where a double would round it.
func writeInt(b *bytes.Buffer, v int64) {
	if v > maxExact || v < -maxExact {
		writeString(b, strconv.FormatInt(v, 10))
		return
	}
	b.WriteString(strconv.FormatInt(v, 10))
}

// writeFloat writes what JSON has no number for as text, as JavaScript has it.
func writeFloat(b *bytes.Buffer, v float64) {
	switch {
	case math.IsNaN(v):
		b.WriteString(`"NaN"`)
	case math.IsInf(v, 1):
		b.WriteString(`"Infinity"`)
	case math.IsInf(v, -1):
		b.WriteString(`"-Infinity"`)
	default:
		raw, _ := json.Marshal(v)
		b.Write(raw)
	}
}

// writeString writes a text. <, > and & stay as they are: the output is not put into a page.
func writeString(b *bytes.Buffer, s string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) == nil {
		b.Truncate(b.Len() - 1) // Encode ends with a newline
	}
}

// writeOther writes lists element by element, and anything else as encoding/json does.
func writeOther(b *bytes.Buffer, v any) {
	switch list := v.(type) {
	case []any:
		writeList(b, len(list), func(i int) { writeValue(b, list[i]) })
	case []string:
		writeList(b, len(list), func(i int) { writeString(b, list[i]) })
	default:
		raw, err := json.Marshal(v)
		if err != nil {
			writeString(b, fmt.Sprint(v))
			return
		}
		b.Write(raw)
	}
}

// writeList writes n elements.
func writeList(b *bytes.Buffer, n int, element func(i int)) {
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		element(i)
	}
	b.WriteByte(']')
}

// Print writes a print record with the text exactly as it is.
func (j *JSON) Print(text string) { j.record(Field{"type", "print"}, Field{"text", text}) }

// Clear does nothing: records are kept.
func (j *JSON) Clear() {}

// Complain writes a print record that is marked as meant for standard error.
func (j *JSON) Complain(text string) {
	j.record(Field{"type", "print"}, Field{"stream", "stderr"}, Field{"text", text})
}

// Event writes an event record.
func (j *JSON) Event(e Event) {
	j.record(Field{"type", "event"}, Field{"name", e.Probe}, Field{"time", e.Time}, Field{"pid", e.Pid}, Field{"tid", e.Tid},
		Field{"comm", e.Comm}, Field{"data", e.Fields})
}

// Table writes a table record.
func (j *JSON) Table(t Table) {
	if len(t.Columns) == 0 {
		return
	}
	j.write(append(TableJSON(t), '\n'))
}

// TableJSON returns the record of a table.
func TableJSON(t Table) json.RawMessage {
	rows := make([]any, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = row
	}
	return FieldsJSON([]Field{{"type", "table"}, {"name", t.Name}, {"columns", t.Columns}, {"rows", rows}})
}

// FieldsJSON returns an object with these fields, whose integers are text where a double would round them.
func FieldsJSON(fields []Field) json.RawMessage {
	var b bytes.Buffer
	writeObject(&b, fields)
	return b.Bytes()
}

// Aggregate writes a value, map, hist, tseries or stats record.
func (j *JSON) Aggregate(a Aggregate) {
	raw, err := json.Marshal(a.Snapshot.With(a.Options).JSON())
	if err != nil {
		return
	}
	j.write(append(raw, '\n'))
}

// Error writes an error record with its place apart and the whole as people see it.
func (j *JSON) Error(d diag.Diagnostic) {
	fields := []Field{{"type", "error"}, {"text", d.Text}}
	if d.Severity == diag.Warning {
		fields = append(fields, Field{"severity", "warning"})
	}
	if src := d.Span.Source; src != nil {
		pos := src.Position(d.Span.Start)
		fields = append(fields, Field{"file", pos.File}, Field{"line", pos.Line}, Field{"column", pos.Col})
	}
	if calls := d.Span.Calls(); len(calls) > 0 {
		fields = append(fields, Field{"calls", calls})
	}
	if d.Hint != "" {
		fields = append(fields, Field{"hint", d.Hint})
	}
	j.record(fields...)
}

// Lost writes a record of loss.
func (j *JSON) Lost(cause string, count uint64) {
	j.record(Field{"type", "lost"}, Field{"name", cause}, Field{"value", count})
}

// Ready writes the first record.
func (j *JSON) Ready() {
	var b bytes.Buffer
	fields := []Field{{"type", "ready"}, {"version", Version}}
	if len(j.Labels) > 0 {
		fields = append(fields, Field{"labels", j.Labels})
	}
	writeObject(&b, fields)
	b.WriteByte('\n')
	j.release(b.Bytes())
	j.Flush()
}

// End writes the last record.
func (j *JSON) End(e End) {
	j.release(nil)
	fields := []Field{{"type", "end"}, {"status", e.Status}}
	switch len(e.Targets) {
	case 0:
	case 1:
		fields = append(fields, Field{"target", e.Targets[0].fields()})
	default:
		var list []any
		for _, t := range e.Targets {
			list = append(list, t.fields())
		}
		fields = append(fields, Field{"targets", list})
	}
	if e.Stops != nil {
		fields = append(fields, Field{"stops", e.Stops.fields()})
	}
	j.record(fields...)
	j.Flush()
}

// fields returns the fields of a target that are known.
func (t Target) fields() []Field {
	fields := []Field{{"pid", t.Pid}}
	switch {
	case !t.Ended:
	case t.Signal == 0:
		fields = append(fields, Field{"status", t.Status})
	default:
		fields = append(fields, Field{"signal", t.Signal})
		if t.Dumped {
			fields = append(fields, Field{"core", true})
		}
	}
	return fields
}

// fields returns the numbers of stops, and the reason if there is one.
func (s Stops) fields() []Field {
	fields := []Field{{"all", s.All}, {"together", s.Together}}
	if s.Apart != "" {
		fields = append(fields, Field{"apart", s.Apart})
	}
	return fields
}

// Flush writes out what is buffered.
func (j *JSON) Flush() { j.data.flush() }

// Err is why data could not be written.
func (j *JSON) Err() error { return j.data.error() }
