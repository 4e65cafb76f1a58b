package entry

import (
	"debug/dwarf"
	"math"
)

// The scanner has its own reading of abbreviations, because that of debug/dwarf is not exported: for each, the steps by
// which an entry is passed over. Neighbouring attributes of fixed sizes are one step.

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

// abbreviation is what entries with one code have in common.
type abbreviation struct {
	tag      dwarf.Tag
	children bool
	code     bool // its entries have an address or ranges
	inline   bool // its entries say whether they were inlined
	unknown  bool // it has a form that the scanner does not know
	steps    []step
}

// abbrevKey is what the steps of abbreviations depend on: where they are, and the sizes of the unit.
type abbrevKey struct {
	off  uint64
	addr int
	wide bool
	old  bool // references to other units have the size of an address, as in DWARF 2
}

// abbreviations are those of a unit, by code less 1. Compilers number them from 1 on.
type abbreviations []abbreviation

// find returns the abbreviation of a code; nil when there is none.
func (list abbreviations) find(code uint64) *abbreviation {
	if code-1 >= uint64(len(list)) {
		return nil
	}
	return &list[code-1]
}

// abbreviations returns those of a unit. It returns none when the scanner cannot use them: they are damaged or not
// numbered in their order.
func (p *part) abbreviations(u *Unit) abbreviations {
	key := abbrevKey{u.abbrev, u.Addr, u.Wide, u.Version < 3}
	list, known := p.abbrevs[key]
	if !known {
		list = key.read(p.sections["abbrev"])
		if p.abbrevs == nil {
			p.abbrevs = map[abbrevKey]abbreviations{}
		}
		p.abbrevs[key] = list
	}
	return list
}

// read reads the abbreviations of a unit from .debug_abbrev.
func (k abbrevKey) read(data []byte) (list abbreviations) {
	if k.off >= uint64(len(data)) {
		return nil
	}
	c := Cursor{Data: data, Off: int(k.off)}
	for {
		code := c.ULEB()
		if c.Err != nil {
			return nil
		}
		if code == 0 {
			return list
		}
		if code != uint64(len(list))+1 {
			return nil
		}
		list = append(list, k.readOne(&c))
	}
}

// readOne reads an abbreviation behind its code.
func (k abbrevKey) readOne(c *Cursor) (a abbreviation) {
	a.tag, a.children = dwarf.Tag(c.ULEB()), c.U8() != 0
	for c.Err == nil {
		attr, f := dwarf.Attr(c.ULEB()), form(c.ULEB())
		if attr == 0 && f == 0 {
			break
		}
		if f == formImplicitConst {
			c.SLEB()
		}
		a.code = a.code || attr == dwarf.AttrLowpc || attr == dwarf.AttrRanges
		a.inline = a.inline || attr == dwarf.AttrInline
		a.add(k.step(attr, f))
	}
	return a
}

// add adds a step.
func (a *abbreviation) add(s step, ok bool) {
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
	case formSdata, formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx:
		return step{kind: stepLEB}, true
	}
	return step{}, false
}

// form is how a value is encoded (DWARF 5, 7.5.6).
type form uint32

const (
	formAddr          form = 0x01
	formBlock2        form = 0x03
	formBlock4        form = 0x04
	formData2         form = 0x05
	formData4         form = 0x06
	formData8         form = 0x07
	formString        form = 0x08
	formBlock         form = 0x09
	formBlock1        form = 0x0a
	formData1         form = 0x0b
	formFlag          form = 0x0c
	formSdata         form = 0x0d
	formStrp          form = 0x0e
	formUdata         form = 0x0f
	formRefAddr       form = 0x10
	formRef1          form = 0x11
	formRef2          form = 0x12
	formRef4          form = 0x13
	formRef8          form = 0x14
	formRefUdata      form = 0x15
	formSecOffset     form = 0x17
	formExprloc       form = 0x18
	formFlagPresent   form = 0x19
	formStrx          form = 0x1a
	formAddrx         form = 0x1b
	formRefSup4       form = 0x1c
	formStrpSup       form = 0x1d
	formData16        form = 0x1e
	formLineStrp      form = 0x1f
	formRefSig8       form = 0x20
	formImplicitConst form = 0x21
	formLoclistx      form = 0x22
	formRnglistx      form = 0x23
	formRefSup8       form = 0x24
	formStrx1         form = 0x25
	formStrx2         form = 0x26
	formStrx3         form = 0x27
	formStrx4         form = 0x28
	formAddrx1        form = 0x29
	formAddrx2        form = 0x2a
	formAddrx3        form = 0x2b
	formAddrx4        form = 0x2c
	formGNURefAlt     form = 0x1f20
	formGNUStrpAlt    form = 0x1f21
)

// sizes are those of forms that are the same in all units.
var sizes = map[form]int{formData1: 1, formData2: 2, formData4: 4, formData8: 8, formData16: 16, formFlag: 1, formFlagPresent: 0,
	formImplicitConst: 0, formRef1: 1, formRef2: 2, formRef4: 4, formRef8: 8, formRefSig8: 8, formRefSup4: 4, formRefSup8: 8,
	formStrx1: 1, formStrx2: 2, formStrx3: 3, formStrx4: 4, formAddrx1: 1, formAddrx2: 2, formAddrx3: 3, formAddrx4: 4}

// size returns how many bytes a form has, -1 when that depends on the value.
func (k abbrevKey) size(f form) int {
	offset := 4
	if k.wide {
		offset = 8
	}
	switch f {
	case formAddr:
		return k.addr
	case formRefAddr:
		if k.old {
			return k.addr
		}
		return offset
	case formStrp, formLineStrp, formSecOffset, formStrpSup, formGNURefAlt, formGNUStrpAlt:
		return offset
	}
	if n, ok := sizes[f]; ok {
		return n
	}
	return -1
}

// noReference stands for a reference that an entry does not have, or that leads nowhere.
const noReference = dwarf.Offset(math.MaxUint32)
