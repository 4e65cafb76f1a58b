package jsvm

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// Limits of what inspect shows of large values.
const (
	inspectDepth = 4
	inspectItems = 100
)

// Text returns a value as print and console.log show it: text as it is, everything else as Inspect shows it.
func (m *Machine) Text(v goja.Value) string {
	if v == nil {
		return "undefined"
	}
	if goja.IsString(v) {
		return v.String()
	}
	return m.Inspect(v)
}

// JoinText joins values with spaces, as on a line of print.
func (m *Machine) JoinText(args []goja.Value) string {
	parts := make([]string, len(args))
	for i, v := range args {
		parts[i] = m.Text(v)
	}
	return strings.Join(parts, " ")
}

// Inspect shows a value for people. It stops at cycles and stays short for large values.
func (m *Machine) Inspect(v goja.Value) string {
	var b strings.Builder
	(&inspector{m: m, b: &b}).show(v, 0)
	return b.String()
}

type inspector struct {
	m     *Machine
	b     *strings.Builder
	above []*goja.Object
}

func (i *inspector) show(v goja.Value, depth int) {
	obj, ok := v.(*goja.Object)
	switch {
	case v == nil:
		i.b.WriteString("undefined")
	case !ok && goja.IsString(v) && depth > 0:
		i.b.WriteString(strconv.Quote(v.String()))
	case !ok:
		i.b.WriteString(v.String())
	default:
		i.object(obj, depth)
	}
}

func (i *inspector) object(obj *goja.Object, depth int) {
	if text, ok := i.special(obj); ok {
		i.b.WriteString(text)
		return
	}
	for _, above := range i.above {
		if above == obj {
			i.b.WriteString("[circular]")
			return
		}
	}
	if depth >= inspectDepth {
		i.b.WriteString("[" + obj.ClassName() + "]")
		return
	}
	i.above = append(i.above, obj)
	defer func() { i.above = i.above[:len(i.above)-1] }()
	switch tag := tagOf(obj); {
	case obj.ClassName() == "Array":
		i.array(obj, depth)
	case tag == "Map" || tag == "Set":
		i.collection(obj, depth, tag)
	default:
		i.properties(obj, depth)
	}
}

// tagOf returns the Symbol.toStringTag of an object.
func tagOf(obj *goja.Object) string {
	if tag := obj.GetSymbol(goja.SymToStringTag); tag != nil && goja.IsString(tag) {
		return tag.String()
	}
	return ""
}

// A Form shows objects of one kind that have a text of their own; ok is false for others.
type Form func(obj *goja.Object) (text string, ok bool)

// AddForm has Inspect use a form.
func (m *Machine) AddForm(f Form) { m.forms = append(m.forms, f) }

// special shows objects that have a text of their own.
func (i *inspector) special(obj *goja.Object) (string, bool) {
	for _, form := range i.m.forms {
		if text, ok := form(obj); ok {
			return text, true
		}
	}
	if _, ok := goja.AssertFunction(obj); ok {
		// The machine names a built-in function after the one in Go, which means nothing to a user.
		if name := property(obj, "name"); name != "" && !strings.Contains(name, "/") {
			return "[function " + name + "]", true
		}
		return "[function]", true
	}
	switch obj.ClassName() {
	case "Error":
		return i.m.message(obj), true
	case "Date", "RegExp", "Boolean", "Number", "String", "Symbol":
		return obj.String(), true
	}
	if raw, ok := BytesOf(obj); ok {
		return fmt.Sprintf("[% x]", raw), true
	}
	return "", false
}

func (i *inspector) array(obj *goja.Object, depth int) {
	n := int(obj.Get("length").ToInteger())
	i.b.WriteByte('[')
	for k := range min(n, inspectItems) {
		i.comma(k)
		i.show(obj.Get(strconv.Itoa(k)), depth+1)
	}
	i.more(n)
	i.b.WriteByte(']')
}

func (i *inspector) comma(k int) {
	if k > 0 {
		i.b.WriteString(", ")
	}
}

func (i *inspector) more(n int) {
	if n > inspectItems {
		fmt.Fprintf(i.b, ", … %d more", n-inspectItems)
	}
}

// collection shows a Map or Set by its own iterator.
func (i *inspector) collection(obj *goja.Object, depth int, tag string) {
	isMap := tag == "Map"
	fmt.Fprintf(i.b, "%s {", tag)
	n := 0
	i.m.VM.ForOf(obj, func(item goja.Value) bool {
		if n < inspectItems {
			i.comma(n)
			if pair, ok := item.(*goja.Object); ok && isMap {
				i.show(pair.Get("0"), depth+1)
				i.b.WriteString(" => ")
				i.show(pair.Get("1"), depth+1)
			} else {
				i.show(item, depth+1)
			}
		}
		n++
		return true
	})
	i.more(n)
	i.b.WriteByte('}')
}

func (i *inspector) properties(obj *goja.Object, depth int) {
	keys := obj.Keys()
	if len(keys) == 0 {
		i.b.WriteString("{}")
		return
	}
	i.b.WriteString("{ ")
	for k, key := range keys {
		if k == inspectItems {
			break
		}
		i.comma(k)
		i.b.WriteString(key + ": ")
		value, err := i.m.Property(obj, key)
		if err != nil {
			i.b.WriteString("[throws]")
			continue
		}
		i.show(value, depth+1)
	}
	i.more(len(keys))
	i.b.WriteString(" }")
}
