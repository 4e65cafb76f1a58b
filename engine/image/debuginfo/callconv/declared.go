package callconv

import (
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/function"
)

// Clang describes a class only in the unit with its constructors, which may have no debug information. How a class is
// passed can be known even if its members are not.

// passedAs returns t, or, for a class that is only declared, a copy that says that it is passed by reference if that is
// known. e is the parameter, or nil for a result.
func (cv *Rules) passedAs(fn *function.Function, e *dwarf.Entry, t *ctype.Type) *ctype.Type {
	if t.Kind != ctype.Struct && t.Kind != ctype.Union || !t.Declared || t.ByRef != ctype.PassingUnknown {
		return t
	}
	if !cv.isKnownContainer(t) && (e == nil || !cv.isAtRegister(fn, e)) {
		return t
	}
	as := *t
	as.ByRef = ctype.ByReference
	return &as
}

// containers are the class templates of C++'s library that have a destructor or a copy constructor of their own, in all
// implementations.
var containers = []string{"any", "basic_fstream", "basic_ifstream", "basic_istringstream", "basic_ofstream", "basic_ostringstream", "basic_string",
	"basic_stringstream", "deque", "forward_list", "function", "future", "list", "map", "multimap", "multiset", "packaged_task", "promise", "set",
	"shared_future", "shared_ptr", "thread", "unique_lock", "unique_ptr", "unordered_map", "unordered_multimap", "unordered_multiset",
	"unordered_set", "vector", "weak_ptr"}

// isKnownContainer reports whether t is such a class. Inline namespaces, which implementations use for versions, do not
// matter.
func (cl *classes) isKnownContainer(t *ctype.Type) bool {
	name, _, _ := strings.Cut(t.Name, "<")
	if !slices.Contains(containers, name) {
		return false
	}
	u := cl.entries.UnitOf(t.Offset)
	if u == nil || !u.HasScopes() {
		return false
	}
	scopes := cl.entries.ScopeNames(u, t.Offset)
	return len(scopes) > 0 && scopes[0] == "std" && !slices.ContainsFunc(scopes[1:], func(s string) bool { return !strings.HasPrefix(s, "__") })
}

// isAtRegister reports whether the compiler describes a parameter as memory at the address in a register that is not
// the frame's: the caller passed its address. Objects that are passed by value are copied into the frame.
func (cv *Rules) isAtRegister(fn *function.Function, e *dwarf.Entry) bool {
	loc, ok, err := cv.locations.Of(fn.Unit, e, fn.Low)
	const breg0, breg31 = 0x70, 0x8f
	return err == nil && ok && len(loc.Expr) == 2 && loc.Expr[0] >= breg0 && loc.Expr[0] <= breg31 && loc.Expr[1] == 0 && !cv.locations.UsesFrame(loc.Expr)
}

// Clang without optimisation also leaves out parameters: those that are passed by reference and not used. The name in
// the symbol table of a function of C++ says how many there are.

// Incomplete returns an error if the debug information lacks some of a function's parameters. It cannot tell for
// functions that are extern "C".
func (cv *Rules) Incomplete(fn *function.Function, params []*dwarf.Entry) error {
	if cv.isIncomplete(fn, params) {
		return errIncomplete
	}
	return nil
}

// isIncomplete is Incomplete as a truth value.
func (cv *Rules) isIncomplete(fn *function.Function, params []*dwarf.Entry) bool {
	producer, _ := fn.Unit.Entry.Val(dwarf.AttrProducer).(string)
	if !fn.Unit.IsCPlusPlus() || !strings.Contains(producer, "clang") {
		return false
	}
	at, _, err := cv.entries.Attr(fn.DIE, dwarf.AttrLinkageName)
	if err != nil || at == nil {
		return false
	}
	name, _ := at.Val.(string)
	count, ok := mangledParams(name)
	for _, e := range params {
		if artificial, _, _ := cv.entries.Attr(e, dwarf.AttrArtificial); artificial == nil {
			count--
		}
	}
	return ok && count > 0
}

// mangledParams returns the number of parameters in a mangled name of C++; ok is false where it is not known.
func mangledParams(name string) (n int, ok bool) {
	if len(name) > maxCloneName || !strings.HasPrefix(name, "_Z") {
		return 0, false
	}
	tree, err := demangle.ToAST(name)
	if err != nil {
		return 0, false
	}
	typed, isTyped := tree.(*demangle.Typed)
	if !isTyped {
		return 0, false
	}
	inner := typed.Type
	if method, is := inner.(*demangle.MethodWithQualifiers); is {
		inner = method.Method
	}
	signature, isFunction := inner.(*demangle.FunctionType)
	if !isFunction {
		return 0, false
	}
	for _, arg := range signature.Args {
		switch arg := arg.(type) {
		case *demangle.ArgumentPack, *demangle.PackExpansion:
			return 0, false
		case *demangle.BuiltinType:
			if arg.Name == "void" || arg.Name == "..." {
				continue
			}
		}
		n++
	}
	return n, true
}
