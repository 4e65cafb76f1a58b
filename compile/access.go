package compile

import rtvalue "gotap/runtime/value"

// Access describes how to fetch one value that debug information or a note describes: a parameter, a field of a struct
// that a parameter points to, an operand of a static mark. The engine, which knows the target, makes it. The front end,
// which knows nothing about processes, compiles it into ordinary commands.
//
// The value starts as the base and passes through the steps in order. A load step replaces the current value, which is
// an address, by the contents of memory there. The final value has type Type.
type Access struct {
	Base   AccessBase
	Reg    string // BaseReg, BaseRegOffset: the register's name in the target's architecture
	Value  int64  // BaseConst: the value; BaseAddr: address in the module's file; BaseRegOffset, BaseFrame, BaseResult: byte offset
	Steps  []AccessStep
	Type   ValueType
	Module string       // BaseAddr: path of the module's file; "": the module of the place
	Ctype  string       // the type as written in the source ("struct point *"), for messages and listings
	Shape  *Shape       // nil: a number
	Enum   []Enumerator // names of an enumeration
	Checks []Check      // what has to be so for the value to be there
	Ref    TypeRef      // the type, for values that are kept and converted; zero: not known
	Wide   *Wide        // of a number of more than 8 bytes, whose low word this is
}

// Wide is the rest of a number of more than 8 bytes. Used as a number it is converted to 64 bits, or traps; its text has
// all digits.
type Wide struct {
	Encoding rtvalue.Wide
	High     Access // to the high word
}

// Discriminant in a path stands for the number that says which of the alternatives of a value is there.
const Discriminant = "@discriminant"

// Target in a path stands for the struct that a pointer points to.
const Target = "@target"

// Check says what has to be so below the first Depth names of a path. Without Length it is which alternative is there:
// the discriminant has one of the Values, or, with Other, none of them. With Length, the number at this path is above
// Index, or, with Chosen, above the program's index of this number.
type Check struct {
	Depth  int
	Values []int64
	Other  bool
	Length string
	Index  int64
	Chosen bool
}

// ShapeFound is where elements, keys or values are: their type, and the path of the address of each, to which its
// number is added. The address is 0 for an element that is not there.
type ShapeFound struct {
	Path string
	Ref  TypeRef
}

// ShapeCase is an alternative of a value. Its contents are at Path, "" for its name.
type ShapeCase struct {
	Name  string
	Path  string
	Check Check
	Sole  bool // the type has only this one
}

// TypeRef names a type of the debug information of one module. Two values have the same type if their references have
// the same Name and Address.
type TypeRef struct {
	Module  string // path of the module's file
	Offset  uint64 // of the type's entry
	Stars   int    // pointers around it
	Address bool   // the value is the address of an object of the type: of a struct, an array
	Name    string // without qualifiers and names that stand for others
}

// Known reports whether the type is known.
func (r TypeRef) Known() bool { return r.Name != "" }

// Same reports whether two references are to the same type.
func (r TypeRef) Same(other TypeRef) bool { return r.Name == other.Name && r.Address == other.Address }

// NoNumberError reports a value whose type is not a number, or whose location is unknown.
type NoNumberError struct{ Err error }

func (e *NoNumberError) Error() string { return e.Err.Error() }

// Unwrap makes the reason available to errors.Is.
func (e *NoNumberError) Unwrap() error { return e.Err }

// Enumerator is the name of one value of an enumeration.
type Enumerator struct {
	Name  string
	Value int64
}

// Shape describes the structure of a value that is more than a number.
type Shape struct {
	Kind               ShapeKind
	Members            []string     // of a struct, or of the struct that a pointer points to, in order
	Len                int          // of an array; 0: unknown
	Text               *SizedText   // of a struct that is text with a length, such as Go's string, Rust's &str and C++'s std::string
	Sequence           bool         // elements follow by number: Len of them, or as many as Length says, or from Start to End
	Length, Start, End string       // paths below the value
	Stride             int64        // bytes of an element
	Inner              string       // of a smart pointer: path of what is shown in its place
	Optional           Optional     // of a value that may be there or not
	Count              string       // path of the number of elements, which are not shown
	First, Next        string       // of a sequence that ends with a null link: path of the link to the first element, and from one to the next
	Set                bool         // of a sequence: those who use it do not number its elements
	Found              []ShapeFound // of a sequence: its elements are found by a search; of a map possibly keys and values apart
	Capacity           string       // path of how many elements fit, which is shown
	Key, Mapped        string       // of a sequence: paths below an element, which is an entry of a map
	Parts              []string     // paths of what it consists of, which have no names
	Index              string       // path of what chooses among Cases; "": Discriminant
	Cases              []ShapeCase
	Other              bool     // of a pointer: its target is known and is neither text nor bytes
	Handle             bool     // of a pointer: those who use it know it as the container that it points to, as a map of Go
	Dynamic            *Dynamic // of an interface of Go
}

// Optional names the members of an optional value: whether it is there, "" for other values, and what it is.
type Optional struct{ Flag, Value string }

// Dynamic names the members of an interface of Go, of the description of its value's type, and of the variable that
// says where such descriptions lie.
type Dynamic struct {
	First             string // 0: it has no value
	Type, Data        string // the address of the type's description; the address of the value, or a value that is a pointer
	Kind, Flags, Name string // below the description; the name is counted from Types
	Module            string // a variable
	Types, TypesEnd   string // below it, addresses
}

// MayBeText reports whether a value is text, or an address that may point to text.
func (s *Shape) MayBeText() bool {
	switch s.Kind {
	case ShapeStruct:
		return s.Text != nil
	case ShapeArray:
		return false
	case ShapePointer:
		return !s.Other || s.Text != nil
	}
	return true
}

// SizedText names the members of a struct that hold the address and the length of its text: "len", "data.start".
type SizedText struct {
	Address, Len string
	Short        *ShortText // nil: all texts are kept alike
}

// ShortText names the members of text that is kept in the object itself when it is short, as libc++ does: its first
// byte and its length. Long says that it is not short. Without Long the length is doubled, and odd for text that is not
// short.
type ShortText struct {
	Address, Len, Long string
}

// ShapeKind is the way in which a value is shown.
type ShapeKind uint8

// The shapes of values.
const (
	ShapeNumber  ShapeKind = iota // as it is
	ShapeChar                     // one byte of text
	ShapePointer                  // an address
	ShapeText                     // the address of text
	ShapeChars                    // an array of text; the access is its address
	ShapeArray                    // the access is its address
	ShapeStruct                   // the access is its address; a struct in registers has none
	ShapeWide                     // a number of more than 8 bytes
	ShapeComplex                  // a complex number, with the members value.RealPart and value.ImaginaryPart
)

// AnyElement in a path stands for an element whose index the program computes.
const AnyElement = "[]"

// AccessBase is the start of an access.
type AccessBase uint8

// The bases of an access.
const (
	BaseConst     AccessBase = iota // the constant Value
	BaseReg                         // the register Reg
	BaseRegOffset                   // Reg + Value, an address
	BaseFrame                       // the canonical frame address + Value (at a function's entry: stack pointer + word size)
	BaseResult                      // in leave: the address that the caller passed for the result + Value
	BaseArg                         // argument Value of the call, by the calling convention of the place
	BaseThread                      // the thread's own variables of the module + Value; the engine makes a register of it
	BaseValue                       // a value that the program has: a variable, the result of a conversion
	BaseAddr                        // the address in the process of offset Value (an ELF virtual address)
)

// AccessStep is one step on the way to a value.
type AccessStep struct {
	Op     AccessOp
	Reg    string // OpIndex, OpJoin: the register's name
	Layout string // OpFind, OpFindChosen: how the container is laid out (element.Layout)
	Count  int64  // OpElement: elements; 0: unknown
	Offset int64  // OpElement: the number of the index; OpFind: that of the element; OpOffset: added; OpBits: lowest bit; OpJoin: number of bits already in the value
	Size   int    // OpLoad: bytes, 1, 2, 4 or 8; OpBits: number of bits; OpIndex, OpElement: the factor
	Signed bool   // OpLoad, OpBits, OpTruncate: sign-extended; OpIndex: a 32-bit register is
	Float  bool   // OpLoad, OpTruncate: a float of Size bytes, which becomes an f64
}

// AccessOp is the operation of a step.
type AccessOp uint8

// The operations.
const (
	OpOffset     AccessOp = iota // add Offset
	OpLoad                       // load Size bytes from the address
	OpBits                       // extract Size bits at Offset
	OpTruncate                   // keep the low Size bytes of a register
	OpIndex                      // add the register Reg times Size (1, 2, 4 or 8)
	OpElement                    // add an index that the program computes, times Size; it is below Count
	OpFind                       // from the address of a container to that of its element Offset; 0 where it is not there
	OpFindChosen                 // OpFind of the element that the program's index of number Offset says
	OpJoin                       // the register Reg holds the rest of the value, from bit Offset on
)

// ValueType is the type of a value on the machine's stack, as the compiler sees it. Every value
// is one 64-bit word.
type ValueType uint8

// The types of values.
const (
	TypeInt  ValueType = iota // 64-bit two's complement
	TypeF64                   // IEEE 754 double in the word
	TypeBool                  // 0 or 1; otherwise an integer
	TypeVoid                  // no value
)
