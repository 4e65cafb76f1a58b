package js

import (
	"gotap/compile/diag"
	"gotap/runtime"
)

// storage lays out the fields that the handlers of a probe keep for a call: `this`.
//
// A field is a word, or room for a text. Its type is that of the first assignment the compiler sees; the
// handlers are compiled in the order enter, post, leave, fault, so that is what the programmer expects.
type storage struct {
	fields map[string]*field
	order  []*field
	next   int
}

// field is a member of `this`.
type field struct {
	name   string
	kind   kind
	offset int       // in bytes
	set    bool      // is assigned to somewhere
	read   diag.Span // where it was read first

	quotient *expr // the integer division that it has a value from
}

func newStorage() storage { return storage{fields: map[string]*field{}} }

// size is the bytes of a call's storage.
func (s *storage) size() int { return s.next }

// field finds or makes a field. k is its type when it is new.
func (s *storage) field(name string, k kind) *field {
	f := s.fields[name]
	if f == nil {
		f = &field{name: name, kind: k, offset: s.next}
		s.fields[name] = f
		s.order = append(s.order, f)
		if k == kindText {
			s.next += runtime.TextCell
		} else {
			s.next += 8
		}
	}
	return f
}

// thisField is the member name of `this`. Its type is not known before the first assignment: when it
// is read first, an earlier round may have learned it, and an integer is the guess otherwise.
func (l *lowering) thisField(name string, at diag.Span) operand {
	if l.arrowThis {
		l.arrowHasNoThis(at)
		return bad{}
	}
	f := l.storage.fields[name]
	if f == nil && l.facts["this."+name] != kindNone {
		f = l.storage.field(name, l.facts["this."+name])
	}
	return callField{name: name, f: f}
}

func (l *lowering) arrowHasNoThis(at diag.Span) {
	l.errorf(at, "write "+l.handler.String()+"(c) { … } instead of an arrow function", "an arrow function has no this of its own")
}

func (c callField) kind() kind {
	if c.f == nil {
		return kindNone
	}
	return c.f.kind
}

func (c callField) get(l *lowering, at diag.Span) *expr {
	f := c.f
	if f == nil {
		f = l.storage.field(c.name, kindInt)
	}
	if f.read.Source == nil {
		f.read = at
	}
	if f.kind == kindText {
		return applyA(at, kindText, runtime.OpPushThisS, uint32(f.offset))
	}
	e := applyA(at, f.kind, runtime.OpPushThis, uint32(f.offset/8))
	e.quotient = f.quotient
	return e
}

func (c callField) set(l *lowering, at diag.Span, v *expr) *expr {
	f := l.storage.field(c.name, v.kind)
	f.set = true
	if f.quotient == nil {
		f.quotient = quotientIn(v)
	}
	if l.storage.size() > runtime.MaxThisBytes {
		l.errorf(at, "keep fewer texts, or only their hash()", "more than %d bytes are kept for a call", runtime.MaxThisBytes)
	}
	if f.kind == kindText {
		return store(at, runtime.OpPopThisS, uint32(f.offset), v)
	}
	return store(at, runtime.OpPopThis, uint32(f.offset/8), v)
}

// unsetFields warns about fields that are read and never written: most often a name that is misspelt.
func (c *compiler) unsetFields() {
	for _, f := range c.storage.order {
		if f.set || f.read.Source == nil {
			continue
		}
		var names []string
		for _, other := range c.storage.order {
			if other.set {
				names = append(names, other.name)
			}
		}
		c.warnf(f.read, suggestion(f.name, names, "assign to it in enter"), "this.%s is never set: it reads 0", f.name)
	}
}
