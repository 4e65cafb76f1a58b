package script

import (
	"bytes"
	"strings"

	"github.com/dop251/goja"

	"gotap/runtime"
	"gotap/script/output"
)

// Cut text ends in this mark.
const cutmark = runtime.Cutmark

func cutMark(text string, cut bool) string {
	if cut {
		return text + cutmark
	}
	return text
}

// layout is how the fields of a record's format become properties.
type layout struct {
	columns []column
	index   map[string]int
}

// column is one property: fields from first to last of the format, joined when there are several, or a nested record.
type column struct {
	name        string
	first, last int
	value       int // index of the first field's value among the item's values
	nested      *layout
}

// layoutOf is the layout of a format; formats are few, and never change.
func (s *Script) layoutOf(f *runtime.Format) *layout {
	if l := s.layouts[f]; l != nil {
		return l
	}
	l := &layout{index: map[string]int{}}
	value := 0
	for i := 0; i < len(f.Fields); {
		last, start := i, value
		for ; last < len(f.Fields) && f.Fields[last].Part == f.Fields[i].Part && f.Fields[last].Name == f.Fields[i].Name; last++ {
			if !f.Fields[last].IsLiteral {
				value++
			}
		}
		l.add(strings.Split(f.Fields[i].Name, "."), column{first: i, last: last, value: start})
		i = last
	}
	s.layouts[f] = l
	return l
}

func (l *layout) add(path []string, c column) {
	c.name = path[0]
	at, ok := l.index[c.name]
	if !ok {
		at = len(l.columns)
		l.index[c.name] = at
		l.columns = append(l.columns, column{name: c.name})
	}
	if len(path) == 1 {
		l.columns[at] = c
		return
	}
	if l.columns[at].nested == nil {
		l.columns[at].nested = &layout{index: map[string]int{}}
	}
	l.columns[at].nested.add(path[1:], c)
}

// parts are the values of a column, literals included.
func (c column) parts(item *runtime.Item) []runtime.Value {
	var list []runtime.Value
	next := c.value
	for _, f := range item.Format.Fields[c.first:c.last] {
		if f.IsLiteral {
			list = append(list, runtime.Text(f.Literal))
			continue
		}
		if next < len(item.Values) {
			list = append(list, item.Values[next])
		}
		next++
	}
	return list
}

// record is an event, or a record nested in one, as JavaScript sees it. Values are converted when they are read. What
// the program gave is enumerated; pid, tid, comm, probe and time of the hit can be read besides.
type record struct {
	s      *Script
	layout *layout
	item   *runtime.Item
	header *runtime.Header // nil in nested records
	probe  string
	own    map[string]goja.Value // converted or assigned by the script
	order  []string              // properties that the script added
}

func (s *Script) event(rec *runtime.Record, item *runtime.Item, probe string) goja.Value {
	return s.vm.NewDynamicObject(&record{s: s, layout: s.layoutOf(item.Format), item: item, header: &rec.Header, probe: probe})
}

// Get reads a property.
func (r *record) Get(key string) goja.Value {
	if v, ok := r.own[key]; ok {
		return v
	}
	if i, ok := r.layout.index[key]; ok {
		v := r.convert(r.layout.columns[i])
		if _, isObject := v.(*goja.Object); isObject {
			r.keep(key, v)
		}
		return v
	}
	return r.headerField(key)
}

func (r *record) convert(c column) goja.Value {
	if c.nested != nil {
		return r.s.vm.NewDynamicObject(&record{s: r.s, layout: c.nested, item: r.item})
	}
	parts := c.parts(r.item)
	if len(parts) == 1 {
		return r.s.value(parts[0])
	}
	return r.s.vm.ToValue(r.s.joined(parts))
}

// joined is a template's text.
func (s *Script) joined(parts []runtime.Value) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Format(s.stackLines))
	}
	return b.String()
}

func (r *record) headerField(key string) goja.Value {
	if r.header == nil {
		return nil
	}
	switch key {
	case "pid":
		return r.s.vm.ToValue(int64(r.header.Pid))
	case "tid":
		return r.s.vm.ToValue(int64(r.header.Tid))
	case "comm":
		return r.s.vm.ToValue(commText(r.header))
	case "probe":
		return r.s.vm.ToValue(r.probe)
	case "time":
		return r.s.unsigned(r.header.Time)
	}
	return nil
}

func commText(h *runtime.Header) string {
	name, _, _ := bytes.Cut(h.Comm[:], []byte{0})
	return strings.ToValidUTF8(string(name), "\ufffd")
}

func (r *record) keep(key string, v goja.Value) {
	if r.own == nil {
		r.own = map[string]goja.Value{}
	}
	r.own[key] = v
}

// Set lets a callback keep something of its own in an event.
func (r *record) Set(key string, v goja.Value) bool {
	if _, known := r.own[key]; !known {
		if _, field := r.layout.index[key]; !field {
			r.order = append(r.order, key)
		}
	}
	r.keep(key, v)
	return true
}

// Has reports whether there is such a property.
func (r *record) Has(key string) bool { return r.Get(key) != nil }

// Delete takes away what the script added.
func (r *record) Delete(key string) bool {
	delete(r.own, key)
	for i, k := range r.order {
		if k == key {
			r.order = append(r.order[:i], r.order[i+1:]...)
			break
		}
	}
	return true
}

// Keys are the fields that the program gave, and what the script added.
func (r *record) Keys() []string {
	keys := make([]string, 0, len(r.layout.columns)+len(r.order))
	for _, c := range r.layout.columns {
		keys = append(keys, c.name)
	}
	return append(keys, r.order...)
}

// value is a value of the machine as JavaScript sees it.
func (s *Script) value(v runtime.Value) goja.Value {
	switch v.Kind {
	case runtime.ValueUint:
		return s.unsigned(uint64(v.Int))
	case runtime.ValueFloat:
		return s.vm.ToValue(v.Float)
	case runtime.ValueText:
		return s.vm.ToValue(cutMark(strings.ToValidUTF8(v.Text, "\ufffd"), v.Cut))
	case runtime.ValueBytes:
		return s.byteArray(v.Text)
	case runtime.ValueBool:
		return s.vm.ToValue(v.Int != 0)
	case runtime.ValueStack:
		return s.stack(v)
	}
	return s.integer(v.Int)
}

// byteArray is bytes as a Uint8Array.
func (s *Script) byteArray(text string) goja.Value {
	buffer := s.vm.NewArrayBuffer([]byte(text))
	array, err := s.vm.New(s.uint8Array, s.vm.ToValue(buffer))
	if err != nil {
		panic(err)
	}
	return array
}

// fields is a record for the output, when no callback takes it.
func (s *Script) fields(l *layout, item *runtime.Item) []output.Field {
	list := make([]output.Field, 0, len(l.columns))
	for _, c := range l.columns {
		switch {
		case c.nested != nil:
			list = append(list, output.Field{Name: c.name, Value: s.fields(c.nested, item)})
		default:
			list = append(list, output.Field{Name: c.name, Value: s.plain(c.parts(item))})
		}
	}
	return list
}

// plain is a value for the output.
func (s *Script) plain(parts []runtime.Value) any {
	if len(parts) != 1 {
		return s.joined(parts)
	}
	switch v := parts[0]; v.Kind {
	case runtime.ValueInt:
		return v.Int
	case runtime.ValueUint:
		return uint64(v.Int)
	case runtime.ValueFloat:
		return v.Float
	case runtime.ValueBool:
		return v.Int != 0
	case runtime.ValueStack:
		return s.stackLines(v)
	default:
		return v.Format(nil)
	}
}
