package opcode

// Op is the number of an operation: its place in the Table. Files hold the row's Code instead.
type Op uint8

// Row describes one operation. In and Out are the stack before and after it, the top on the right, one letter a word: w
// a 64-bit word (integer, float, truth value, address), s a reference to text, x either. A capital stands for as many
// words as operand A says. Loop's picture is that of jumping: when it falls through it leaves nothing.
type Row struct {
	Const   string // name of the constant in this package
	Name    string // in listings; DProbes' spelling where there is one
	Code    byte   // in files; never changes its meaning
	Operand Operand
	In, Out string
	Group   Group
	Does    Trait
	Result  Result
	Needs   Needs
	Doc     string // one line
}

// Operand is what follows the name of an operation, and how its number is read.
type Operand uint8

// The operands. All are kept in A (32 bits) of an instruction, except a word, which is V (64 bits). The operation's
// object is a number of the program's list, which binding replaces by the offset in the arena, in V.
const (
	NoOperand          Operand = iota
	WordOperand                // a 64-bit word, in V
	CountOperand               // a small number: copies, words, bits, depth
	LabelOperand               // a jump target: index of a command
	TextOperand                // number of a text of the program
	FormatOperand              // number of a format of the program
	RegisterOperand            // number of a register of the program; bound to index<<16 | shift<<8 | width, in V
	TempOperand                // scratch word
	ThisOperand                // word of the storage of a call
	ThisTextOperand            // byte offset in the storage of a call
	ArgOperand                 // argument number
	FieldOperand               // runtime.Field
	ContextOperand             // runtime.TextField
	KindOperand                // value.Kind of text: text, bytes or stack
	WideOperand                // value.Wide
	UnitsOperand               // value.Units
	ExitOperand                // outcome.ExitKind; the number of a facility is in V
	WordsOperand               // a count of words in A, and a format number in V
	BaseOperand                // a signed number of words above the base of the stack, as 32 bits
	NumberOperand              // object: shared variable
	CellOperand                // object: shared text variable
	ArrayOperand               // object: array of variables
	PerThreadOperand           // object: per-thread variable
	AggregationOperand         // object: aggregation
	MapOperand                 // object: map
	TrailOperand               // object: trail
	DeferredOperand            // object: trail or recorder
	numOperands
)

// IsObject reports whether the operand is the number of an object.
func (o Operand) IsObject() bool { return o >= NumberOperand && o <= DeferredOperand }

// placeholders is how documentation shows operands.
var placeholders = [numOperands]string{
	WordOperand: ",WORD", CountOperand: ",N", LabelOperand: " LABEL", TextOperand: ",TEXT", FormatOperand: ",FORMAT",
	RegisterOperand: ",REGISTER", TempOperand: ",N", ThisOperand: ",WORD", ThisTextOperand: ",BYTE", ArgOperand: ",N",
	FieldOperand: ",NAME", ContextOperand: ",NAME", KindOperand: ",KIND", WideOperand: ",ENCODING", UnitsOperand: ",ENCODING", ExitOperand: " [KIND]", WordsOperand: ",N,FORMAT",
	BaseOperand: ",N",
}

// Placeholder is the operand as documentation shows it, with what separates it from the name.
func (o Operand) Placeholder() string {
	if o.IsObject() {
		return ",OBJECT"
	}
	return placeholders[o]
}

// Group says which function of the machine is the operation's meaning.
type Group uint8

// The groups. Functions are methods of runtime.Machine.
const (
	None        Group = iota // not an operation
	Inline                   // Run's loop
	Floats                   // floats
	Exceptions               // exceptions
	Loads                    // loadMemory
	Stores                   // storeMemory
	Changes                  // change
	Access                   // accessible
	Context                  // context
	Texts                    // texts
	Shared                   // shared
	SharedTexts              // sharedText
	Arrays                   // array
	Calls                    // this
	PerThread                // perThread
	Keys                     // buildKey
	Keyed                    // useKey
	Log                      // logging
	Deferred                 // logDeferred
	Heap                     // onHeap
)

// Trait is what an operation does besides moving words: the verifier and the optimiser go by it.
type Trait uint16

// The traits.
const (
	Jumps       Trait = 1 << iota // control may go to the label
	Ends                          // control does not go on to the next operation
	Moves                         // moves words without looking at them, or by an operand: the verifier follows it step by step
	Deep                          // reaches the word A below the top
	Pure                          // cannot trap and only pushes: left out when the word is dropped
	BeginsItem                    // begins a log item
	LogsField                     // logs a field of the item begun
	EndsItem                      // ends the item begun
	LogsItem                      // logs a whole item
	OutsideItem                   // must not stand within an item
	BuildsKey                     // adds a part to the key
	UsesKey                       // uses up the key
)

// Has reports whether all of the traits are there.
func (t Trait) Has(want Trait) bool { return t&want == want }

// Result is what is known of the word that an operation leaves, before anything is known of its operands.
type Result uint8

// The results.
const (
	Any        Result = iota
	Truth             // 0 or 1
	Sign              // -1, 0 or 1
	Bits              // 0 to 64
	Uint8             // an unsigned number of so many bits
	Uint16            //
	Uint32            //
	Int8              // a signed number of so many bits
	Int16             //
	Int32             //
	Length            // the length of the text popped
	AskedText         // a text no longer than the number popped
	JoinedText        // a text as long as those popped, and a mark
	DigitsText        // at most 20 digits and signs
	FloatText         // a float's digits
	WideText          // the digits of a number of 16 bytes
	FlagsText         // what the text of the operand names, and some more
	StackText         // return addresses
	CellText          // the text of a cell
)

// bounds are the intervals of results that are numbers.
var bounds = [...][2]int64{
	Truth: {0, 1}, Sign: {-1, 1}, Bits: {0, 64}, Uint8: {0, 1<<8 - 1}, Uint16: {0, 1<<16 - 1}, Uint32: {0, 1<<32 - 1},
	Int8: {-1 << 7, 1<<7 - 1}, Int16: {-1 << 15, 1<<15 - 1}, Int32: {-1 << 31, 1<<31 - 1},
}

// Bounds is the closed interval that a number lies in; ok is false when nothing is known.
func (r Result) Bounds() (lo, hi int64, ok bool) {
	if r == Any || int(r) >= len(bounds) {
		return 0, 0, false
	}
	return bounds[r][0], bounds[r][1], true
}
