package entry

import (
	"debug/dwarf"
	"math"
)

// The scanner makes a plan of each abbreviation: the steps by which an entry is passed over. Neighbouring attributes of
// fixed sizes are one step.

// stepKind is how an attribute, or several, are passed over.
type stepKind uint8

const (
	stepBytes  stepKind = iota // size bytes
	stepLEB                    // a number of any length
	stepString                 // up to a zero
	stepBlock                  // a length of size bytes, 0 for a number of any length, and as many bytes
	stepValue                  // an attribute whose value is wanted
)

// step is a step over a part of an entry.
type step struct {
	kind stepKind
	size uint32
	attr dwarf.Attr // of stepValue
	form form
}

// plan is how the scanner reads the entries of an abbreviation.
type plan struct {
	tag      dwarf.Tag
	children bool
	code     bool // its entries have an address or ranges
	inline   bool // its entries say whether they were inlined
	unknown  bool // it has a form that the scanner does not know
	steps    []step
}

// plan returns the steps by which the scanner reads entries with a code. It is nil if no abbreviation has that code.
func (t *abbreviations) plan(p *part, code uint64) *plan {
	a := t.find(code)
	if a == nil {
		return nil
	}
	if a.plan == nil {
		pl := &plan{tag: a.tag, children: a.children}
		for _, f := range p.attributes(t.key, a) {
			pl.code = pl.code || f.attr == dwarf.AttrLowpc || f.attr == dwarf.AttrRanges
			pl.inline = pl.inline || f.attr == dwarf.AttrInline
			pl.add(t.key.step(f.attr, f.form))
		}
		a.plan = pl
	}
	return a.plan
}

// add adds a step.
func (a *plan) add(s step, ok bool) {
	a.unknown = a.unknown || !ok
	if n := len(a.steps); s.kind == stepBytes && n > 0 && a.steps[n-1].kind == stepBytes {
		a.steps[n-1].size += s.size
		return
	}
	if s.kind != stepBytes || s.size > 0 {
		a.steps = append(a.steps, s)
	}
}

// step returns the step over an attribute. ok is false for a form that is not known.
func (k abbrevKey) step(attr dwarf.Attr, f form) (s step, ok bool) {
	switch attr {
	case dwarf.AttrAbstractOrigin, dwarf.AttrSpecification, dwarf.AttrSibling, dwarf.AttrName, dwarf.AttrLinkageName:
		return step{kind: stepValue, attr: attr, form: f}, true
	}
	if n := k.size(f); n >= 0 {
		return step{kind: stepBytes, size: uint32(n)}, true
	}
	switch f {
	case formString:
		return step{kind: stepString}, true
	case formBlock1:
		return step{kind: stepBlock, size: 1}, true
	case formBlock2:
		return step{kind: stepBlock, size: 2}, true
	case formBlock4:
		return step{kind: stepBlock, size: 4}, true
	case formBlock, formExprloc:
		return step{kind: stepBlock}, true
	case formSdata, formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
		return step{kind: stepLEB}, true
	}
	return step{}, false
}

// noReference stands for a reference that an entry does not have, or that leads nowhere.
const noReference = dwarf.Offset(math.MaxUint32)
