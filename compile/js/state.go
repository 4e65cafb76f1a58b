package js

import (
	"fmt"

	"github.com/dop251/goja/ast"

	"gotap/compile/diag"
	"gotap/runtime"
)

// aggregate is a method of an aggregation; nil when it has no such method.
func (s *site) aggregate(a aggregate) operand {
	switch s.name {
	case "at":
		if a.keyed {
			return nil
		}
		if !s.count(1, -1) {
			return bad{}
		}
		a.keys, a.keyed = s.key(len(s.node.ArgumentList)), true
		return a
	case "add":
		if !s.count(1, 1) {
			return bad{}
		}
		return value{s.addTo(a, s.bucketed(a, s.arg(0)))}
	case "inc":
		if !s.count(0, 0) {
			return bad{}
		}
		return value{s.addTo(a, integer(s.at, 1))}
	}
	return nil
}

// addTo adds to an aggregation.
func (s *site) addTo(a aggregate, v *expr) *expr {
	if v.isConst() && v.cmd.V != 1 || !v.isConst() && v.kind != kindBad {
		s.countsOnly(a)
	}
	s.summed(a, v)
	s.l.shape(a.object, a.name, a.keys, runtime.ValueAny, s.at)
	return keyed(s.at, kindVoid, runtime.OpAgg, a.object, a.keys, v).with(effWrite)
}

// countsOnly warns when a value is added to a count, which counts hits and not values.
func (s *site) countsOnly(a aggregate) {
	if arena := s.l.unit.Arena; arena != nil {
		if o, _ := arena.Lookup(a.object); o.Kind == runtime.KindCount {
			s.l.warnf(s.at, "use sum() to add values up, or "+a.name+".inc()", "a count counts 1 for each add, whatever the value")
		}
	}
}

// key reads the first n arguments as the parts of a key.
func (s *site) key(n int) []*expr {
	parts := []*expr{}
	for i := range n {
		e := asWhole(s.arg(i))
		if e.kind == kindFloat {
			s.l.errorf(e.at, "make an integer of the float with trunc(x)", "a float cannot be part of a key")
			e = poison(e.at)
		}
		parts = append(parts, e)
	}
	return parts
}

// keyed is an operation on an object under a key. Values follow the key.
func keyed(at diag.Span, k kind, op runtime.Op, object int, keys []*expr, values ...*expr) *expr {
	args := append(append([]*expr{}, keys...), values...)
	e := (&expr{code: codeKeyed, kind: k, at: at, args: args, keys: len(keys)}).close().with(effKey)
	e.cmd.Op, e.cmd.A, e.cmd.Pos = op, uint32(object), at
	return e
}

// shape notes how an object is used, and reports a use that does not agree with the declaration or with earlier uses.
func (l *lowering) shape(object int, name string, keys []*expr, v runtime.ValueKind, at diag.Span) {
	kinds := make([]runtime.ValueKind, len(keys))
	for i, k := range keys {
		if k.kind.silent() {
			return
		}
		kinds[i] = runtime.ValueInt
		switch {
		case !k.kind.integer() || k.kind == kindBool:
			kinds[i] = k.kind.valueKind()
		case l.unit.Place == nil && l.compiler.result.UsesPlace: // it may stand in for what the place knows to be true or false
			kinds[i] = runtime.ValueAny
		}
	}
	if n, ok := l.declaredKeys(object); ok && n != len(keys) {
		l.errorf(at, keysHint(name, n), "%s has %s, here is %s", name, keyParts(n), keyParts(len(keys)))
		return
	}
	first := l.shapes[object]
	if first == nil {
		l.shapes[object] = &shape{name: name, keys: kinds, value: v, at: at}
		return
	}
	l.sameShape(first, kinds, at)
	if first.value == runtime.ValueAny {
		first.value = v
	}
}

// sameShape compares a use with the first one.
func (l *lowering) sameShape(first *shape, kinds []runtime.ValueKind, at diag.Span) {
	if len(kinds) != len(first.keys) {
		l.errorf(at, keysHint(first.name, len(first.keys)), "%s has %s elsewhere, here is %s", first.name, keyParts(len(first.keys)), keyParts(len(kinds)))
		return
	}
	for i := range kinds {
		if kinds[i] != first.keys[i] && truthOrNumber(kinds[i]) && truthOrNumber(first.keys[i]) {
			if first.keys[i] = runtime.ValueInt; l.unit.Place == nil && l.compiler.result.UsesPlace {
				first.keys[i] = runtime.ValueAny
			}
			continue
		}
		if kinds[i] != first.keys[i] {
			l.errorf(at, "keys of one map or aggregation have the same types everywhere", "part %d of the key of %s has another type elsewhere", i+1, first.name)
			return
		}
	}
}

// truthOrNumber reports whether a part of a key is a number, which true and false are too where others are.
func truthOrNumber(k runtime.ValueKind) bool {
	return k == runtime.ValueInt || k == runtime.ValueBool || k == runtime.ValueAny
}

// declaredKeys is the number of key parts in the declaration, where it says so.
func (l *lowering) declaredKeys(object int) (n int, ok bool) {
	if l.unit.Arena == nil {
		return 0, false
	}
	o, _ := l.unit.Arena.Lookup(object)
	if o.Kind == runtime.KindMap && o.Keys == 0 {
		return 0, false
	}
	return o.UserKeys(), o.Keys >= 0
}

func keysHint(name string, n int) string {
	if n == 0 {
		return "declare it with { keys: 1 } to use keys"
	}
	return fmt.Sprintf("give %s, or declare %s with other keys", keyParts(n), name)
}

// keyParts is "no key", "a key of 2 parts".
func keyParts(n int) string {
	if n == 0 {
		return "no key"
	}
	return "a key of " + count(n, "part")
}

// table is a method of a map; nil when it has no such method.
func (s *site) table(t table) *expr {
	n := len(s.node.ArgumentList)
	switch s.name {
	case "get", "has", "delete":
		if !s.count(1, -1) {
			return poison(s.at)
		}
		return (&lookUp{s, t, s.key(n)}).operation(s.name, s.at)
	case "set":
		if !s.count(2, -1) {
			return poison(s.at)
		}
		return s.set(t, s.key(n-1), asWhole(s.arg(n-1)))
	case "inc":
		return s.increment(t)
	}
	return nil
}

// lookUp is a use of a map under a key.
type lookUp struct {
	s    *site
	t    table
	keys []*expr
}

// operation is get, has or delete.
func (u *lookUp) operation(name string, at diag.Span) *expr {
	switch name {
	case "has":
		return u.has(u.s.l, at)
	case "delete":
		u.s.l.shape(u.t.object, u.t.name, u.keys, runtime.ValueAny, at)
		return keyed(at, kindVoid, runtime.OpMapDel, u.t.object, u.keys).with(effWrite)
	}
	return u.get(u.s.l, at)
}

func (u *lookUp) has(l *lowering, at diag.Span) *expr {
	l.shape(u.t.object, u.t.name, u.keys, runtime.ValueAny, at)
	return keyed(at, kindBool, runtime.OpMapHas, u.t.object, u.keys)
}

func (u *lookUp) get(l *lowering, at diag.Span) *expr {
	holds := runtime.ValueAny
	if l.facts[mapFact(u.t.object)] == kindText {
		holds = runtime.ValueText
	}
	l.shape(u.t.object, u.t.name, u.keys, holds, at)
	if s := l.shapes[u.t.object]; s != nil {
		s.read = true
	}
	if l.mapHolds(u.t) == kindText {
		return keyed(at, kindText, runtime.OpMapGetS, u.t.object, u.keys)
	}
	return keyed(at, kindInt, runtime.OpMapGet, u.t.object, u.keys)
}

// orElse is m.get(key) ?? otherwise.
func (u *lookUp) orElse(l *lowering, at diag.Span, otherwise ast.Expression) *expr {
	return u.s.keep(u.keys, func(keys []*expr) *expr {
		kept := &lookUp{u.s, u.t, keys}
		return l.choose(at, kept.has(l, at), kept.get(l, at), l.value(otherwise))
	})
}

// mapHolds is what the values of a map are, as far as is known: from this unit, from a fact learned, or
// from a program compiled before.
func (l *lowering) mapHolds(t table) kind {
	if k := l.facts[mapFact(t.object)]; k != kindNone {
		return k
	}
	if s := l.shapes[t.object]; s != nil && s.value == runtime.ValueText {
		return kindText
	}
	if l.unit.Arena != nil {
		if o, _ := l.unit.Arena.Lookup(t.object); o.Value == runtime.ValueText {
			return kindText
		}
	}
	return kindInt
}

// guesses are the maps that are read in a unit and never stored in.
func (c *compiler) guesses() (ids []int) {
	for _, id := range c.shapes.order() {
		if s := c.shapes[id]; s.read && s.value == runtime.ValueAny {
			ids = append(ids, id)
		}
	}
	return ids
}

func mapFact(object int) string { return fmt.Sprintf("map %d", object) }

// meantText reports whether e, which is used together with text, is the value of a map of which it was only guessed that
// it holds integers. Then it holds text, and compilation begins again with that.
func (l *lowering) meantText(e, other *expr) bool {
	if other.kind != kindText || e.code != codeKeyed || e.cmd.Op != runtime.OpMapGet {
		return false
	}
	s := l.shapes[int(e.cmd.A)]
	return s != nil && s.value == runtime.ValueAny && l.learn(mapFact(int(e.cmd.A)), kindText)
}

// set is m.set(key…, v).
func (s *site) set(t table, keys []*expr, v *expr) *expr {
	switch {
	case v.kind.silent():
	case v.kind.integer():
		if s.holdsOther(t, kindText) {
			return poison(s.at)
		}
		s.l.shape(t.object, t.name, keys, runtime.ValueInt, s.at)
	case v.kind == kindText:
		if s.holdsOther(t, kindInt) {
			return poison(s.at)
		}
		if s.l.mapHolds(t) != kindText {
			s.l.learn(mapFact(t.object), kindText)
		}
		s.l.shape(t.object, t.name, keys, runtime.ValueText, s.at)
		return keyed(s.at, kindVoid, runtime.OpMapSetS, t.object, keys, v).with(effWrite)
	default:
		s.l.errorf(v.at, "keep integers or text", "a map cannot hold %s", v.kind)
		return poison(s.at)
	}
	return keyed(s.at, kindVoid, runtime.OpMapSet, t.object, keys, v).with(effWrite)
}

// holdsOther reports values of two types in one map.
func (s *site) holdsOther(t table, other kind) bool {
	is := kindNone
	if sh := s.l.shapes[t.object]; sh != nil && sh.value == runtime.ValueInt {
		is = kindInt
	}
	if s.l.mapHolds(t) == kindText {
		is = kindText
	}
	if is == other {
		s.l.errorf(s.at, "use another map for the other values", "%s holds %s: it cannot hold another type too", t.name, other)
		return true
	}
	return false
}

// increment is m.inc(key…) or, where the number of key parts is known, m.inc(key…, by).
func (s *site) increment(t table) *expr {
	n := len(s.node.ArgumentList)
	if !s.count(1, -1) || s.holdsOther(t, kindText) {
		return poison(s.at)
	}
	parts := n
	if declared, ok := s.l.declaredKeys(t.object); ok && n == declared+1 {
		parts = declared
	} else if known := s.l.shapes[t.object]; known != nil && n == len(known.keys)+1 {
		parts = len(known.keys)
	}
	keys, by := s.key(parts), integer(s.at, 1)
	if parts < n {
		by = s.integer(parts)
	}
	s.l.shape(t.object, t.name, keys, runtime.ValueInt, s.at)
	return keyed(s.at, kindInt, runtime.OpMapAdd, t.object, keys, by).with(effWrite)
}

// mapGet recognises m.get(key…): of all expressions it alone may find nothing.
func (l *lowering) mapGet(e ast.Expression) (*lookUp, bool) {
	call, ok := e.(*ast.CallExpression)
	if !ok || len(call.ArgumentList) == 0 {
		return nil, false
	}
	dot, ok := call.Callee.(*ast.DotExpression)
	if !ok || dot.Identifier.Name != "get" {
		return nil, false
	}
	id, ok := dot.Left.(*ast.Identifier)
	if !ok {
		return nil, false
	}
	t, ok := l.identifier(id).(table)
	if !ok {
		return nil, false
	}
	s := &site{l: l, node: call, name: "get", at: l.at(call)}
	return &lookUp{s, t, s.key(len(call.ArgumentList))}, true
}
