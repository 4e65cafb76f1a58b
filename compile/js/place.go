package js

import (
	"gotap/compile"
)

// Localed is a Place that knows the local variables in scope there. At a function's entry none has a value
// yet.
type Localed interface {
	Locals() ([]string, error)
}

// Marked is a Place that may be a static mark.
type Marked interface {
	Mark() string // "provider:name"; "" when it is not a mark
}

// Parametered is a Place that knows the names of its function's parameters.
type Parametered interface {
	Parameters() ([]string, error)
}

// Place is what the debug information and notes of the place a program runs at say about values there.
type Place interface {
	Name() string
	// Access resolves args.NAME.field…
	Access(path []string) (compile.Access, error)
	// ReturnType is how c.ret is cut to the function's type; ok is false when that is not known: then c.ret is the
	// register, or, with an error, cannot be read.
	ReturnType() (a compile.Access, ok bool, err error)
	// ResultMember resolves c.ret.FIELD…
	ResultMember(path []string) (compile.Access, error)
	// Arg is operand n of a static mark, or why it cannot be read; ok is false elsewhere.
	Arg(n int) (a compile.Access, ok bool, err error)
}

// Typed is a Place that knows types by name and by reference.
type Typed interface {
	// Typed resolves what lies below a value of a type.
	Typed(ref compile.TypeRef, path []string) (compile.Access, error)
	// TypeNamed finds a type by its name in the source, such as "struct point *".
	TypeNamed(name string) (compile.TypeRef, error)
	// SizeOf returns the size of a type in bytes.
	SizeOf(ref compile.TypeRef) (int64, error)
	// Enumerator returns the value of an enumeration's constant; ok is false if there is none.
	Enumerator(name string) (v int64, ok bool, err error)
	// ResultAccess resolves c.rets[index].field…
	ResultAccess(index int, path []string) (compile.Access, error)
	// Results returns how many results the function has; 0 if that is not known.
	Results() int
}

// Classes is a Place that knows how classes of C++ are derived.
type Classes interface {
	// BaseOffset returns how many bytes to add to a pointer to a class for a pointer to a base class of it, or to one
	// that it is a base of; 0 for other types. It fails where that depends on the object.
	BaseOffset(from, to compile.TypeRef) (int64, error)
}

// Goroutines is a Place that knows how Go's runtime keeps the goroutine that a thread runs.
type Goroutines interface {
	// Goroutine says where a member of the runtime's g is for the place, or tells why it is not known.
	Goroutine(member string) (Goroutine, error)
}

// Goroutine says where a member of the goroutine is that a thread runs: the runtime's g of the thread has its m, which
// has the g of the goroutine, which has the member. The first two differ while the thread runs on its own stack.
type Goroutine struct {
	Register           string // has the address of the thread's g, 0 in a thread that the runtime does not know
	Stored             bool   // the g is in memory instead, at an offset from the register
	Offset             int64
	M, Current, Member int64  // offsets of g.m, m.curg and the member of g
	Module             string // the program, by its path, if the place may be in a process without it
}

// Uniform is a Place that answers Arg and ReturnType as every Uniform of its word size does. Programs that ask for no
// more are compiled once for all of them.
type Uniform interface {
	Sized
	Uniform()
}

// Sized is a Place that knows the bytes of a pointer in its target.
type Sized interface {
	WordSize() int
}

// Located is a Place that knows its own address in the module's file. Static data of the module lies at a fixed
// distance from the probed instruction (c.pc).
type Located interface {
	Addr() (addr uint64, ok bool)
	File() string // path of the module's file
}

// Globals is a Place that finds variables of the target's files by name, [MODULE:]NAME.
type Globals interface {
	// Global resolves global(NAME).field…
	Global(name string, path []string) (compile.Access, error)
	// GlobalAddress resolves uaddr(NAME).
	GlobalAddress(name string) (compile.Access, error)
}
