package typings

import (
	"slices"
	"sort"
	"strings"

	"gotap/compile/js/builtin"
	"gotap/script"
)

// A function is one name with all its overloads.
type function struct {
	name      string // "exit", "hold"
	overloads []overload
	members   []*function // of a namespace: exit.hold
}

// An overload is one meaning of a name.
type overload struct {
	signature string // "(p: Pointer): number"
	doc       string
}

// functions holds the names of the tables in order: the host's, then those of programs only.
type functions struct {
	list   []*function
	byName map[string]*function
}

// writeFunctions writes every function and namespace.
func writeFunctions(b *strings.Builder) {
	title(b, "functions")
	fs := functions{byName: map[string]*function{}}
	for _, h := range append(script.Builtins(), script.Console()...) {
		fs.addHost(h)
	}
	var foreign []builtin.Function
	for _, p := range builtin.All() {
		if isJavaScript(p.Name) {
			foreign = append(foreign, p)
			continue
		}
		fs.addProgram(p)
	}
	for _, f := range fs.list {
		f.write(b)
	}
	writeForeign(b, foreign)
}

// isJavaScript reports whether a name belongs to JavaScript's own library, which declares it.
func isJavaScript(name string) bool { return name[0] >= 'A' && name[0] <= 'Z' }

// find returns the function with a full name. It creates the function if necessary.
func (fs *functions) find(full string) *function {
	if f := fs.byName[full]; f != nil {
		return f
	}
	f := &function{name: full}
	fs.byName[full] = f
	if space, name, ok := strings.Cut(full, "."); ok {
		f.name = name
		outer := fs.find(space)
		outer.members = append(outer.members, f)
	} else {
		fs.list = append(fs.list, f)
	}
	return f
}

func (fs *functions) addHost(h script.Builtin) {
	f := fs.find(h.Name)
	doc := h.Doc
	if h.Program != "same" {
		doc += ". Host only"
	}
	for _, s := range strings.Split(h.Signature, "\n") {
		f.overloads = append(f.overloads, overload{s, doc})
	}
}

// addProgram adds the meaning of a name in programs. It goes before the host's meaning, which accepts more, unless it
// accepts any number of arguments.
func (fs *functions) addProgram(p builtin.Function) {
	f := fs.find(p.Name)
	o := overload{signature(p.Type), p.Doc}
	switch {
	case len(f.overloads) == 0:
		o.doc += ". In programs only"
		if p.Unsafe {
			o.doc += ", with --unsafe"
		}
		f.overloads = append(f.overloads, o)
	case slices.ContainsFunc(f.overloads, func(x overload) bool { return x.signature == o.signature }):
	case strings.HasPrefix(o.signature, "(..."):
		f.overloads = append(f.overloads, o)
	default:
		f.overloads = slices.Insert(f.overloads, 0, o)
	}
}

// signature returns the signature of a declaration, "(p: Pointer): number", from the type of a function, "(p: Pointer)
// => number".
func signature(t string) string {
	i := strings.LastIndex(t, ") => ")
	if i < 0 {
		return t
	}
	return t[:i] + "): " + t[i+len(") => "):]
}

// known are overloads for what files of gotap init PROG declare of a program. They go first, because others accept
// more.
var known = map[string]overload{
	"probe":  {"<P extends keyof Places>(place: P, program: Program<At<Context, P>> | PlaceHandlers<P>): Probe", "places a probe at a function of a program whose types are known. Host only"},
	"cast":   {"<T extends keyof NamedTypes>(p: Pointer, type: T): NamedTypes[T]", "p as a value of a type of the program. In programs only"},
	"global": {"<N extends keyof Globals>(name: N): Globals[N]", "a variable of the program whose type is known. In programs only"},
}

func (f *function) write(b *strings.Builder) {
	if o, ok := known[f.name]; ok {
		f.overloads = slices.Insert(f.overloads, 0, o)
	}
	f.writeOverloads(b, "", "declare function ")
	if len(f.members) > 0 {
		b.WriteString("declare namespace " + f.name + " {\n")
		for _, m := range f.members {
			m.writeOverloads(b, "  ", "function ")
		}
		b.WriteString("}\n")
	}
	b.WriteString("\n")
}

func (f *function) writeOverloads(b *strings.Builder, indent, lead string) {
	for _, o := range f.overloads {
		comment(b, indent, o.doc)
		b.WriteString(indent + lead + f.name + o.signature + ";\n")
	}
}

// writeForeign lists the functions of JavaScript's own library that programs support. Their types are declared there.
func writeForeign(b *strings.Builder, list []builtin.Function) {
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	b.WriteString("// Of JavaScript's own functions programs know these:\n//\n")
	for _, p := range list {
		b.WriteString("//   " + p.Usage + strings.Repeat(" ", max(1, 24-len([]rune(p.Usage)))) + p.Doc + "\n")
	}
}
