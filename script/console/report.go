package console

import (
	"math/big"

	"github.com/dop251/goja"

	"gotap/runtime/value"
	"gotap/script/jsvm"
	"gotap/script/output"
)

// Report implements report(record, text): a record for programs, and its text for people. The record may be null and
// the text of an event undefined: then there is only the other. A record can be an event as an exit callback got it, or
// name one as its member event: that is where the time and the thread come from.
func (c *Console) Report(call goja.FunctionCall) goja.Value {
	record, ok := call.Argument(0).(*goja.Object)
	text := call.Argument(1)
	if goja.IsNull(call.Argument(0)) && goja.IsString(text) {
		c.out.Table(output.Table{Text: text.String() + "\n"})
		return nil
	}
	hidden := goja.IsUndefined(text)
	hit := record
	if ok && goja.IsString(present(record.Get("probe"))) {
		record = c.wrapped(record)
	} else if ok {
		if event, given := record.Get("event").(*goja.Object); given {
			hit = event
		}
	}
	switch {
	case !ok || !goja.IsString(present(record.Get("name"))):
		c.m.Throwf("report needs a record: { name, columns, rows } or { name, data }, not %s", jsvm.Describe(call.Argument(0)))
	case !hidden && !goja.IsString(text):
		c.m.Throwf("report needs the text of the record, not %s", jsvm.Describe(text))
	}
	name, line := record.Get("name").String(), text.String()+"\n"
	if columns := present(record.Get("columns")); !goja.IsUndefined(columns) {
		c.out.Table(output.Table{Name: name, Columns: c.columns(columns), Rows: c.rows(record.Get("rows")), Text: line})
		return nil
	}
	data, ok := record.Get("data").(*goja.Object)
	if !ok {
		c.m.Throwf("an event needs data, an object, not %s", jsvm.Describe(present(record.Get("data"))))
	}
	number := func(member string) uint64 { n, _ := jsvm.ToInt(hit.Get(member)); return uint64(n) }
	e := output.Event{Probe: name, Time: number("time"), Pid: uint32(number("pid")), Tid: uint32(number("tid")), Fields: c.fields(data), Text: line, Hidden: hidden}
	if comm := present(hit.Get("comm")); !goja.IsUndefined(comm) {
		e.Comm = comm.String()
	}
	c.out.Event(e)
	return nil
}

// wrapped makes the record of an exit callback's event: its name is the probe's, its data what the program gave.
func (c *Console) wrapped(event *goja.Object) *goja.Object {
	record := c.m.VM.NewObject()
	record.Set("name", event.Get("probe"))
	record.Set("data", event)
	return record
}

// present returns a member, undefined where an object has none.
func present(v goja.Value) goja.Value {
	if v == nil {
		return goja.Undefined()
	}
	return v
}

func (c *Console) columns(v goja.Value) (names []string) {
	for _, cell := range c.list(v, "columns") {
		names = append(names, cell.String())
	}
	return names
}

func (c *Console) rows(v goja.Value) [][]any {
	rows := [][]any{}
	for _, row := range c.list(v, "rows") {
		cells := []any{}
		for _, cell := range c.list(row, "a row") {
			cells = append(cells, c.plain(cell))
		}
		rows = append(rows, cells)
	}
	return rows
}

// list returns the elements of an array.
func (c *Console) list(v goja.Value, what string) (list []goja.Value) {
	array, ok := v.(*goja.Object)
	if !ok || array.ClassName() != "Array" {
		c.m.Throwf("report: %s must be a list, not %s", what, jsvm.Describe(present(v)))
	}
	c.m.VM.ForOf(array, func(v goja.Value) bool {
		list = append(list, v)
		return true
	})
	return list
}

// fields returns the members of an object. Those that are undefined are left out.
func (c *Console) fields(o *goja.Object) (fields []output.Field) {
	for _, name := range o.Keys() {
		if v := o.Get(name); !goja.IsUndefined(v) {
			fields = append(fields, output.Field{Name: name, Value: c.plain(v)})
		}
	}
	return fields
}

// plain returns a value as records hold it.
func (c *Console) plain(v goja.Value) any {
	if goja.IsNull(v) || goja.IsUndefined(v) {
		return nil
	}
	if o, ok := v.(*goja.Object); ok {
		if o.ClassName() == "Array" {
			cells := []any{}
			for _, cell := range c.list(v, "a list") {
				cells = append(cells, c.plain(cell))
			}
			return cells
		}
		if raw, ok := o.Export().([]byte); ok {
			return value.Value{Kind: value.KindBytes, Text: string(raw)}.Format(nil)
		}
		if toJSON, ok := goja.AssertFunction(present(o.Get("toJSON"))); ok { // of stacks and aggregations
			shown, err := toJSON(o)
			c.m.Must(err)
			return c.plain(shown)
		}
		if o.ClassName() == "Object" {
			return c.fields(o)
		}
		return c.m.Text(v)
	}
	switch x := v.Export().(type) {
	case int64, float64, bool, string:
		return x
	case *big.Int:
		if x.IsInt64() {
			return x.Int64()
		}
		if x.IsUint64() {
			return x.Uint64()
		}
		return x.String()
	}
	return c.m.Text(v)
}
