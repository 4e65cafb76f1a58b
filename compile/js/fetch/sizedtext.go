package fetch

import (
	"errors"
	"strings"

	"gotap/compile/diag"
	"gotap/compile/js/tree"
	"gotap/compile/shape"
	"gotap/runtime/opcode"
)

// Text of Go, Rust and C++ is an address with a length: no NUL ends it, or some are in it. Where debug information says
// that a value is such text, str, log and records read it as what it is.

// ErrNotSizedText says that a path does not name text with a length.
var ErrNotSizedText = errors.New("the value is not text with a length")

// SizedText is the text that a path names, at most so many bytes of it. The error is ErrNotSizedText, or says why a
// part of the text is not available.
func (f *Fetcher) SizedText(a Path, at diag.Span, most int64) (*tree.Expr, error) {
	address, n, err := f.sizedTextParts(a, at)
	if err != nil {
		return nil, err
	}
	if whole, _ := f.Resolve(a); whole.Shape.Text.Width > 0 {
		return units(at, unitsOf(whole.Shape.Text.Width, true), address, n, tree.Integer(at, most)), nil
	}
	bounded := tree.Apply(at, tree.KindInt, opcode.Min, n, tree.Integer(at, most))
	whole := tree.Apply(at, tree.KindText, opcode.Bytes, address, bounded)
	_, n, _ = f.sizedTextParts(a, at)
	isCut := tree.Apply(at, tree.KindBool, opcode.Gt, n, tree.Integer(at, most))
	return f.Ops.Append(at, whole, f.Ops.Choose(at, isCut, tree.Text(at, prettyMore), tree.Text(at, ""))), nil
}

// sizedTextParts are address and length of counted text.
func (f *Fetcher) sizedTextParts(a Path, at diag.Span) (address, n *tree.Expr, err error) {
	if f.State.Unit.Place == nil || a.IsAll() {
		return nil, nil, ErrNotSizedText
	}
	whole, _ := f.Resolve(a) // text in registers has no address itself, but its parts
	if whole.Shape == nil || whole.Shape.Text == nil {
		return nil, nil, ErrNotSizedText
	}
	text := whole.Shape.Text
	if address, err = f.valueBelow(a, text.Address, at); err == nil {
		n, err = f.valueBelow(a, text.Len, at)
	}
	if err != nil || text.Short == nil {
		return address, n, err
	}
	return f.shortOr(a, text.Short, address, n, at)
}

// shortOr are address and length of text that the object has itself if it is short, else those given.
func (f *Fetcher) shortOr(a Path, short *shape.ShortText, address, n *tree.Expr, at diag.Span) (_, _ *tree.Expr, err error) {
	inside, err := f.valueBelow(a, short.Address, at)
	if err != nil {
		return nil, nil, err
	}
	length, err := f.valueBelow(a, short.Len, at)
	if err != nil {
		return nil, nil, err
	}
	flag, half := short.Long, short.Long == ""
	if half {
		flag = short.Len
		length = tree.Apply(at, tree.KindInt, opcode.Shr, length, tree.Integer(at, 1))
	}
	isLong := func() *tree.Expr {
		v, err := f.valueBelow(a, flag, at)
		if err != nil {
			return tree.Poison(at)
		}
		if half {
			v = tree.Apply(at, tree.KindInt, opcode.And, v, tree.Integer(at, 1))
		}
		return f.Ops.Truth(v)
	}
	return f.Ops.Choose(at, isLong(), address, inside), f.Ops.Choose(at, isLong(), n, length), nil
}

// valueBelow is the value at a path below another.
func (f *Fetcher) valueBelow(a Path, path string, at diag.Span) (*tree.Expr, error) {
	for _, name := range strings.Split(path, ".") {
		a = a.Below(name)
	}
	access, err := f.Resolve(a)
	if err != nil {
		return nil, err
	}
	return f.access(a, access, at), nil
}

// sizedText is counted text as it is shown among other values: in quotation marks, the address where it cannot be read.
func (p *prettier) sizedText(a Path) (*tree.Expr, bool) {
	text, err := p.f.SizedText(a, p.at, prettyText)
	if err != nil {
		return nil, false
	}
	p.leaves++
	address, n, _ := p.f.sizedTextParts(a, p.at)
	bounded := tree.Apply(p.at, tree.KindInt, opcode.Min, n, tree.Integer(p.at, prettyText))
	if access, _ := p.f.Resolve(a); access.Shape.Text.Width > 0 {
		bounded = tree.Apply(p.at, tree.KindInt, opcode.Mul, bounded, tree.Integer(p.at, int64(access.Shape.Text.Width)))
	}
	test := tree.Apply(p.at, tree.KindBool, opcode.Readable, address, bounded)
	address, _, _ = p.f.sizedTextParts(a, p.at)
	return oneText(p.f.Ops.Choose(p.at, test, p.inQuotes(text), p.hex(address))), true
}
