package fetch

import (
	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// Numbers of more than 8 bytes are two words, the low and the high one, until an operation makes a number or text of
// them.

// wideParts are the two words of a number. What has to be so for the value to be there is checked with the first.
func (f *Fetcher) wideParts(of Path, a compile.Access, at diag.Span) (low, high *tree.Expr) {
	first, second := a, a.Wide.High
	first.Wide, first.Type, first.Ref = nil, compile.TypeInt, compile.TypeRef{}
	return f.accessOnce(of, first, at), f.accessOnce(of, second, at)
}

// wideKind is the type of the number that is made of two words.
func wideKind(w *compile.Wide) tree.Kind {
	switch {
	case w.Encoding.IsFloat():
		return tree.KindFloat
	case w.Encoding == value.WideUint:
		return tree.KindUint
	}
	return tree.KindInt
}

// wide is the text of a number of more than 8 bytes, with all its digits.
func (p *prettier) wide(a Path, access compile.Access) *tree.Expr {
	return p.f.once(a, p.at, func(a Path) *tree.Expr {
		low, high := p.f.wideParts(a, access, p.at)
		return tree.ApplyA(p.at, tree.KindText, opcode.Swide, uint32(access.Wide.Encoding), low, high)
	})
}

// complex is the text of a complex number: 1.5 + -2i, as debuggers have it.
func (p *prettier) complex(a Path, depth int) *tree.Expr {
	parts := [2]*tree.Expr{}
	for i, name := range []string{value.RealPart, value.ImaginaryPart} {
		part := a.Below(name)
		access, err := p.f.Resolve(part)
		if err != nil {
			return tree.Text(p.at, UnknownText)
		}
		parts[i] = p.value(part, access, err, depth)
	}
	return p.join(parts[0], tree.Text(p.at, " + "), parts[1], tree.Text(p.at, "i"))
}

// IsLongFloat reports whether a path names a floating-point number of more than 8 bytes: a record has it as a number.
func (f *Fetcher) IsLongFloat(a Path) bool {
	if f.State.Unit.Place == nil || a.IsAll() {
		return false
	}
	access, err := f.Resolve(a)
	return err == nil && access.Wide != nil && access.Wide.Encoding.IsFloat()
}
