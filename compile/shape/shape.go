package shape

// Shape describes the structure of a value that is more than a number.
type Shape struct {
	Kind     Kind
	Members  []string   // of a struct, or of the struct that a pointer points to, in order
	Len      int        // of an array; 0: unknown
	Width    int        // of text and arrays of text: bytes of a unit if it has more than one, 2 or 4
	Text     *SizedText // of a struct that is text with a length, such as Go's string, Rust's &str and C++'s std::string
	Sequence bool       // elements follow by number: Len of them, or those of the Extent
	Extent
	Inner       string   // of a smart pointer: path of what is shown in its place
	Optional    Optional // of a value that may be there or not
	Count       string   // path of the number of elements, which are not shown
	First, Next string   // of a sequence that ends with a null link: path of the link to the first element, and from one to the next
	Set         bool     // of a sequence: those who use it do not number its elements
	Found       []Found  // of a sequence: its elements are found by a search; of a map possibly keys and values apart
	Capacity    string   // path of how many elements fit, which is shown
	Key, Mapped string   // of a sequence: paths below an element, which is an entry of a map
	Parts       []string // paths of what it consists of, which have no names
	Index       string   // path of what chooses among Cases; "": the discriminant
	Cases       []Case
	Other       bool     // of a pointer: its target is known and is neither text nor bytes
	Handle      bool     // of a pointer: those who use it know it as the container that it points to, as a map of Go
	Dynamic     *Dynamic // of an interface of Go
}

// Extent says how many elements follow by number: as many as Length says, or from Start to End. Paths are below the
// value.
type Extent struct {
	Length, Start, End string
	Stride             int64  // bytes of an element
	Rest               string // of bits: path of how many there are in the byte at End and behind it; "": elements are no bits
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
	case Struct:
		return s.Text != nil
	case Array:
		return false
	case Pointer:
		return !s.Other || s.Text != nil
	}
	return true
}

// SizedText names the members of a struct that hold the address and the length of its text: "len", "data.start".
type SizedText struct {
	Address, Len string
	Width        int        // bytes of a unit, which Len counts, if it has more than one: 2 or 4
	Short        *ShortText // nil: all texts are kept alike
}

// ShortText names the members of text that is kept in the object itself when it is short, as libc++ does: its first
// byte and its length. Long says that it is not short. Without Long the length is doubled, and odd for text that is not
// short.
type ShortText struct {
	Address, Len, Long string
}

// Kind is the way in which a value is shown.
type Kind uint8

// The shapes of values.
const (
	Number  Kind = iota // as it is
	Char                // one byte of text
	Pointer             // an address
	Text                // the address of text
	Chars               // an array of text; the access is its address
	Array               // the access is its address
	Struct              // the access is its address; a struct in registers has none
	Wide                // a number of more than 8 bytes
	Complex             // a complex number, with the members value.RealPart and value.ImaginaryPart
)

// Found is where elements, keys or values are: their type, and the path of the address of each, to which its number is
// added. The address is 0 for an element that is not there.
type Found struct {
	Path string
	Type uint64 // entry of the type in the debug information
	Name string // of the type, without qualifiers and names that stand for others
}

// Case is an alternative of a value, which is there if the discriminant has one of the Values, or, with Other, none of
// them. Its contents are at Path, "" for its name.
type Case struct {
	Name   string
	Path   string
	Values []int64
	Other  bool
	Sole   bool // the type has only this one
}
