package ctype

import "debug/elf"

// x87Names and quadNames are floating-point types of 10 to 16 bytes, as compilers of C, C++, Fortran, Rust and Zig call
// them in the debug information, which says nothing else about their encoding.
var (
	x87Names = map[string]bool{
		"long double": true, "_Float64x": true, "__float80": true, "f80": true, "real(kind=10)": true,
		"complex long double": true, "complex _Float64x": true, "complex __float80": true, "complex(kind=10)": true,
	}
	quadNames = map[string]bool{
		"_Float128": true, "__float128": true, "f128": true, "real(kind=16)": true,
		"complex _Float128": true, "complex __float128": true, "complex(kind=16)": true,
	}
)

// IsQuad reports whether a floating-point number, or each part of a complex one, is a binary128 of IEEE 754.
func (t *Type) IsQuad(m elf.Machine) bool {
	return quadNames[t.Name] || m == elf.EM_AARCH64 && t.partSize() == 16
}

// IsX87 reports whether a floating-point number, or each part of a complex one, has the 80 bits of x86's floating-point
// unit.
func (t *Type) IsX87(m elf.Machine) bool {
	return (m == elf.EM_X86_64 || m == elf.EM_386) && t.partSize() > 8 && x87Names[t.Name]
}

// partSize returns the size of a floating-point number, or of each part of a complex one.
func (t *Type) partSize() int64 {
	if t.Kind == Complex {
		return t.Size / 2
	}
	return t.Size
}

// ComplexPart returns the type of the two parts of a complex number.
func (t *Type) ComplexPart() *Type {
	part := *t
	part.Kind, part.Size = Float, t.Size/2
	return &part
}

// Half returns the type of one half of an integer of 16 bytes.
func (t *Type) Half(high bool) *Type {
	return &Type{Tag: t.Tag, Kind: Int, Name: "64-bit integer", Size: t.Size / 2, Signed: high && t.Signed}
}
