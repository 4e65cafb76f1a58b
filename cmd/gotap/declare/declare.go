package declare

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gotap/engine/image/debuginfo"
)

// writer writes the declarations of one program.
type writer struct {
	strings.Builder
	program string            // its namespace
	structs map[string]string // identifiers by name
}

// Text returns the declarations of a program as TypeScript. Constants that are named in taken are left out: other
// declarations have them.
func Text(program string, d *debuginfo.Declarations, taken func(name string) bool) string {
	w := &writer{program: identifier(program), structs: map[string]string{}}
	used := map[string]bool{}
	for _, s := range d.Structs {
		name := identifier(s.Name)
		for n := 2; used[name]; n++ {
			name = identifier(s.Name) + "_" + strconv.Itoa(n)
		}
		used[name], w.structs[s.Name] = true, name
	}
	fmt.Fprintf(w, "// Types of %s for gotap scripts. Written by gotap init; it is overwritten by the next.\n\n", oneLine(program))
	w.namespace(d.Structs)
	w.places(program, d.Functions)
	w.members("Globals", d.Globals)
	w.namedTypes(d.Structs)
	w.constants(d.Constants, taken)
	return w.String()
}

// identifier makes a name an identifier.
func identifier(name string) string {
	name = notWord().ReplaceAllString(name, "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	if reserved[name] {
		name += "_"
	}
	return name
}

var notWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9_]+`) })

// reserved are identifiers that cannot name an interface or a namespace.
var reserved = map[string]bool{"any": true, "unknown": true, "never": true, "number": true, "bigint": true, "boolean": true,
	"string": true, "symbol": true, "void": true, "object": true, "undefined": true, "null": true, "class": true, "enum": true,
	"function": true, "import": true, "in": true, "new": true, "this": true, "typeof": true, "with": true, "default": true,
	"delete": true, "do": true, "else": true, "for": true, "if": true, "switch": true, "try": true, "var": true, "while": true}

// oneLine makes text fit a comment.
func oneLine(text string) string {
	return strings.ReplaceAll(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x2028 || r == 0x2029 {
			return '?'
		}
		return r
	}, text), "*/", "* /")
}

// quoted returns a name as a property. JSON's escapes are JavaScript's.
func quoted(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(oneLine(name)) + `"`
}

// namespace writes the structs.
func (w *writer) namespace(structs []debuginfo.DeclaredStruct) {
	fmt.Fprintf(w, "declare namespace %s {\n", w.program)
	for _, s := range structs {
		fmt.Fprintf(w, "  /** %s */\n  interface %s {\n", oneLine(s.Name), w.structs[s.Name])
		elem := w.structName(s.Name)
		switch {
		case s.Unclear:
			w.WriteString("    [member: string]: any;\n  }\n")
			continue
		case s.Indexed:
			elem = "any"
		}
		for _, m := range s.Members {
			w.member("    ", m)
		}
		fmt.Fprintf(w, "    readonly [index: number]: %s;\n  }\n", elem)
	}
	w.WriteString("}\n\n")
}

// member writes a member of an interface.
func (w *writer) member(indent string, m debuginfo.DeclaredName) {
	if m.Type.C != "" {
		fmt.Fprintf(w, "%s/** %s */\n", indent, oneLine(m.Type.C))
	}
	fmt.Fprintf(w, "%sreadonly %s: %s;\n", indent, quoted(m.Name), w.typed(m.Type))
}

// structName returns the type of a struct, and of a pointer to it.
func (w *writer) structName(name string) string {
	return "number & " + w.program + "." + w.structs[name]
}

// typed returns a type.
func (w *writer) typed(t debuginfo.DeclaredType) string {
	switch t.Kind {
	case debuginfo.DeclaredNothing:
		return "void"
	case debuginfo.DeclaredNumber:
		return "number"
	case debuginfo.DeclaredMembers:
		return w.structName(t.Struct)
	case debuginfo.DeclaredElements:
		return "Elements<" + w.typed(*t.Elem) + ">"
	}
	return "any"
}

// places writes the functions: a name that several have has the types of all of them.
func (w *writer) places(program string, functions []debuginfo.DeclaredFunction) {
	w.WriteString("interface Places {\n")
	for i := 0; i < len(functions); {
		name := functions[i].Name
		var all []string
		for ; i < len(functions) && functions[i].Name == name; i++ {
			if text := w.function(&functions[i]); !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
		fmt.Fprintf(w, "  %s: %s;\n", quoted(name), strings.Join(all, " | "))
		fmt.Fprintf(w, "  %s: Places[%s];\n", quoted(program+":"+name), quoted(name))
	}
	w.WriteString("}\n\n")
}

// function returns the type of a place.
func (w *writer) function(f *debuginfo.DeclaredFunction) string {
	var args []string
	for _, p := range f.Params {
		args = append(args, quoted(p.Name)+": "+w.typed(p.Type))
	}
	ret, rets := "void", []string{}
	for i, r := range f.Results {
		if rets = append(rets, w.typed(r)); i == 0 {
			ret = rets[0]
		}
	}
	return fmt.Sprintf("{ args: { %s }, ret: %s, rets: [%s] }", strings.Join(args, "; "), ret, strings.Join(rets, ", "))
}

// members writes an interface of variables. Of several with a name nothing is known.
func (w *writer) members(name string, all []debuginfo.DeclaredName) {
	fmt.Fprintf(w, "interface %s {\n", name)
	for i := 0; i < len(all); {
		m := all[i]
		for i++; i < len(all) && all[i].Name == m.Name; i++ {
			if w.typed(all[i].Type) != w.typed(m.Type) {
				m.Type = debuginfo.DeclaredType{}
			}
		}
		w.member("  ", m)
	}
	w.WriteString("}\n\n")
}

// namedTypes writes the names that cast takes.
func (w *writer) namedTypes(structs []debuginfo.DeclaredStruct) {
	w.WriteString("interface NamedTypes {\n")
	for _, s := range structs {
		if !strings.HasPrefix(s.Name, "type at ") {
			fmt.Fprintf(w, "  %s: %s;\n", quoted(s.Name+" *"), w.structName(s.Name))
		}
	}
	w.WriteString("}\n")
}

// constant is the name of a constant that scripts can use: it begins with a capital.
var constant = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z][A-Za-z0-9_]*$`) })

// constants writes the constants of enumerations.
func (w *writer) constants(names []string, taken func(string) bool) {
	for _, name := range names {
		if constant().MatchString(name) && !taken(name) {
			fmt.Fprintf(w, "declare const %s: number;\n", name)
		}
	}
}
