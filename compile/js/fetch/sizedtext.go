package fetch

import (
	"errors"
	"strings"

	"gotap/compile/diag"
	"gotap/compile/js/tree"
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
	if address, err = f.valueBelow(a, whole.Shape.Text.Address, at); err == nil {
		n, err = f.valueBelow(a, whole.Shape.Text.Len, at)
	}
	return address, n, err
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
	whole, err := p.f.SizedText(a, p.at, prettyText)
	if err != nil {
		return nil, false
	}
	p.leaves++
	address, n, _ := p.f.sizedTextParts(a, p.at)
	bounded := tree.Apply(p.at, tree.KindInt, opcode.Min, n, tree.Integer(p.at, prettyText))
	test := tree.Apply(p.at, tree.KindBool, opcode.Readable, address, bounded)
	address, _, _ = p.f.sizedTextParts(a, p.at)
	return p.f.Ops.Choose(p.at, test, p.join(tree.Text(p.at, `"`), whole, tree.Text(p.at, `"`)), p.hex(address)), true
}
