package script

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

// text is a value as print and console.log show it: text as it is, everything else as inspect has it.
func (s *Script) text(v goja.Value) string {
	if v == nil {
		return "undefined"
	}
	if goja.IsString(v) {
		return v.String()
	}
	return s.inspect(v)
}

// joinText is the line that several values make.
func (s *Script) joinText(args []goja.Value) string {
	parts := make([]string, len(args))
	for i, v := range args {
		parts[i] = s.text(v)
	}
	return strings.Join(parts, " ")
}

// inspect shows a value for people. It ends on circles and stays short on large values.
func (s *Script) inspect(v goja.Value) string {
	var b strings.Builder
	(&inspector{s: s, b: &b}).show(v, 0)
	return b.String()
}

type inspector struct {
	s     *Script
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

// tagOf is what an object says it is.
func tagOf(obj *goja.Object) string {
	if tag := obj.GetSymbol(goja.SymToStringTag); tag != nil && goja.IsString(tag) {
		return tag.String()
	}
	return ""
}

// special shows objects that have a text of their own.
func (i *inspector) special(obj *goja.Object) (string, bool) {
	if agg := i.s.aggregateOf(obj); agg != nil {
		if agg.handle == nil {
			return "", true
		}
		return i.s.textOf(agg), true
	}
	if _, ok := goja.AssertFunction(obj); ok {
		// The machine calls a function of the host by its Go name, which says nothing to who reads a script's output.
		if name := property(obj, "name"); name != "" && !strings.Contains(name, "/") {
			return "[function " + name + "]", true
		}
		return "[function]", true
	}
	if v := obj.GetSymbol(i.s.symStack); v != nil && !goja.IsUndefined(v) {
		return "\n" + strings.Join(i.s.lines(v.Export().(*stackValue)), "\n"), true
	}
	switch obj.ClassName() {
	case "Error":
		return i.s.message(obj), true
	case "Date", "RegExp", "Boolean", "Number", "String", "Symbol":
		return obj.String(), true
	}
	if raw, ok := bytesOf(obj); ok {
		return fmt.Sprintf("[% x]", raw), true
	}
	return "", false
}

// bytesOf is the content of a Uint8Array or ArrayBuffer.
func bytesOf(v goja.Value) ([]byte, bool) {
	switch raw := v.Export().(type) {
	case []byte:
		return raw, true
	case goja.ArrayBuffer:
		return raw.Bytes(), true
	}
	return nil, false
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
	i.s.vm.ForOf(obj, func(item goja.Value) bool {
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
		value, err := i.s.get(obj, key)
		if err != nil {
			i.b.WriteString("[throws]")
			continue
		}
		i.show(value, depth+1)
	}
	i.more(len(keys))
	i.b.WriteString(" }")
}
