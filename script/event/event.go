package event

import (
	"strings"

	"github.com/dop251/goja"

	rtrecord "gotap/runtime/record"
	rtvalue "gotap/runtime/value"
	"gotap/script/jsvm"
	"gotap/script/output"
	"gotap/script/value"
)

// Events makes the objects that callbacks get for records.
type Events struct {
	m       *jsvm.Machine
	values  *value.Values
	layouts map[*rtrecord.Format]*layout
}

// New makes an Events.
func New(m *jsvm.Machine, values *value.Values) *Events {
	return &Events{m: m, values: values, layouts: map[*rtrecord.Format]*layout{}}
}

// layout is how the fields of a record's format become properties.
type layout struct {
	columns []column
	index   map[string]int
}

// column is one property: a nested record, or the fields of the format from first up to last, joined when there are
// several.
type column struct {
	name        string
	first, last int
	value       int // index of the first field's value among the item's values
	nested      *layout
}

// layoutOf returns the layout of a format. There are few formats, and they do not change.
func (es *Events) layoutOf(f *rtrecord.Format) *layout {
	if l := es.layouts[f]; l != nil {
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
	es.layouts[f] = l
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

// parts returns the values of a column, literals included.
func (c column) parts(item *rtrecord.Item) []rtvalue.Value {
	var list []rtvalue.Value
	next := c.value
	for _, f := range item.Format.Fields[c.first:c.last] {
		if f.IsLiteral {
			list = append(list, rtvalue.Text(f.Literal))
			continue
		}
		if next < len(item.Values) {
			list = append(list, item.Values[next])
		}
		next++
	}
	return list
}

// record is an event, or a record nested in one, as JavaScript sees it. Values are converted when they are read. The
// fields that the program gave are enumerable; pid, tid, comm, probe and time of the hit can be read too.
type record struct {
	es     *Events
	layout *layout
	item   *rtrecord.Item
	header *rtrecord.Header // nil in nested records
	probe  string
	own    map[string]goja.Value // converted, or assigned by the script
	order  []string              // properties that the script added
}

// Object returns an event as a callback gets it.
func (es *Events) Object(rec *rtrecord.Record, item *rtrecord.Item, probe string) goja.Value {
	return es.m.VM.NewDynamicObject(&record{es: es, layout: es.layoutOf(item.Format), item: item, header: &rec.Header, probe: probe})
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
		return r.es.m.VM.NewDynamicObject(&record{es: r.es, layout: c.nested, item: r.item})
	}
	parts := c.parts(r.item)
	if len(parts) == 1 {
		return r.es.values.Value(parts[0])
	}
	return r.es.m.VM.ToValue(r.es.values.Joined(parts))
}

func (r *record) headerField(key string) goja.Value {
	if r.header == nil {
		return nil
	}
	switch key {
	case "pid":
		return r.es.m.VM.ToValue(int64(r.header.Pid))
	case "tid":
		return r.es.m.VM.ToValue(int64(r.header.Tid))
	case "comm":
		return r.es.m.VM.ToValue(value.Comm(r.header))
	case "probe":
		return r.es.m.VM.ToValue(r.probe)
	case "time":
		return r.es.m.Unsigned(r.header.Time)
	}
	return nil
}

func (r *record) keep(key string, v goja.Value) {
	if r.own == nil {
		r.own = map[string]goja.Value{}
	}
	r.own[key] = v
}

// Set lets a callback store a property in an event.
func (r *record) Set(key string, v goja.Value) bool {
	if _, known := r.own[key]; !known {
		if _, field := r.layout.index[key]; !field {
			r.order = append(r.order, key)
		}
	}
	r.keep(key, v)
	return true
}

// Has reports whether a property exists.
func (r *record) Has(key string) bool { return r.Get(key) != nil }

// Delete removes a property that the script added.
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

// Keys returns the fields that the program gave, and what the script added.
func (r *record) Keys() []string {
	keys := make([]string, 0, len(r.layout.columns)+len(r.order))
	for _, c := range r.layout.columns {
		keys = append(keys, c.name)
	}
	return append(keys, r.order...)
}

// Fields returns the fields of an event for the output, when the probe has no callback.
func (es *Events) Fields(item *rtrecord.Item) []output.Field {
	return es.fields(es.layoutOf(item.Format), item)
}

func (es *Events) fields(l *layout, item *rtrecord.Item) []output.Field {
	list := make([]output.Field, 0, len(l.columns))
	for _, c := range l.columns {
		switch {
		case c.nested != nil:
			list = append(list, output.Field{Name: c.name, Value: es.fields(c.nested, item)})
		default:
			list = append(list, output.Field{Name: c.name, Value: es.values.Plain(c.parts(item))})
		}
	}
	return list
}
