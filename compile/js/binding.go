package js

// Lookup asks a Scope, which may be nil.
func Lookup(s Scope, name string) (Binding, bool) {
	if s == nil {
		return Binding{}, false
	}
	b, ok := s.Lookup(name)
	return b, ok && b.Kind != BindUndefined
}

// Scope resolves the free names of a function as they were when the probe was registered. A Scope that also has
// Names() []string is asked for them when a misspelt name is reported.
type Scope interface {
	Lookup(name string) (Binding, bool)
}

// Binding is what a free name means.
type Binding struct {
	Kind   BindingKind
	Int    int64
	Float  float64
	Text   string // BindText: the text; BindBuiltin: the builtin's own name, "" when it is the name looked up
	Object int    // number in the arena
	Func   *Function
	Scope  Scope  // BindNamespace: the members
	Reason string // BindUnusable: what it is ("an array"), or why not ("changes after the probe is registered")
	Hint   string // BindUnusable: what to do instead; may be ""
}

// BindingKind is what kind of thing a name stands for.
type BindingKind uint8

// The kinds of bindings.
const (
	BindUndefined  BindingKind = iota // no such name
	BindInt                           // constant Int
	BindFloat                         // constant Float
	BindText                          // constant Text
	BindBool                          // constant Int, 0 or 1
	BindShared                        // shared integer variable Object
	BindSharedText                    // shared text variable Object
	BindSharedBool                    // shared variable Object that is true or false; programs may store any integer, which is true
	BindAgg                           // aggregation Object
	BindMap                           // map Object
	BindPerThread                     // per-thread variable Object
	BindTrail                         // trail Object
	BindRecorder                      // recorder Object
	BindFunction                      // plain function Func, inlined where it is called
	BindBuiltin                       // builtin Text
	BindNamespace                     // constant object: its members are in Scope
	BindUnusable                      // anything else: Reason and Hint
)
