package compile

import (
	"gotap/compile/shape"
	rtvalue "gotap/runtime/value"
)

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
	Shape  *shape.Shape // nil: a number
	Enum   []Enumerator // names of an enumeration
	Checks []Check      // what has to be so for the value to be there
	Ref    TypeRef      // the type, for values that are kept and converted; zero: not known
	Wide   *Wide        // of a number of more than 8 bytes, whose low word this is
}

// Wide is the rest of a number of more than 8 bytes. Used as a number it is converted to 64 bits, or traps; its text
// has all digits.
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
	OpBit                        // the bit that the program's index of number Offset says, of a byte that holds 8 of them
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
