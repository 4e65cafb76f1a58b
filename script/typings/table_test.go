package typings

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotap/compile/js/builtin"
	"gotap/script"
)

// declared is what the text declares, as a reader of the file sees it.
type declared struct {
	functions  map[string][]string        // signatures by full name
	interfaces map[string]map[string]bool // members, and whether they are readonly
	extends    map[string][]string
}

var (
	functionLine  = regexp.MustCompile(`^(?:declare )?function (\w+)(.*);$`)
	spaceLine     = regexp.MustCompile(`^declare namespace (\w+) \{$`)
	interfaceLine = regexp.MustCompile(`^interface (\w+)(?:<[^{]*>)?(?: extends ([\w, ]+))? \{(?: (.*) \})?$`)
	memberLine    = regexp.MustCompile(`^(readonly )?(\w+)(\??:|\()`)
)

// read reads a text of declarations line by line.
func read(text string) declared {
	d := declared{map[string][]string{}, map[string]map[string]bool{}, map[string][]string{}}
	space, face := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		inner := strings.TrimSpace(line)
		if m := interfaceLine.FindStringSubmatch(line); m != nil {
			face = m[1]
			d.interfaces[face] = map[string]bool{}
			d.extends[face] = strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' || r == ' ' })
			if inner = m[3]; inner == "" {
				continue
			}
		}
		switch m := spaceLine.FindStringSubmatch(line); {
		case m != nil:
			space = m[1] + "."
		case line == "}":
			space, face = "", ""
		case face != "":
			d.member(face, inner)
		default:
			if m := functionLine.FindStringSubmatch(inner); m != nil {
				d.functions[space+m[1]] = append(d.functions[space+m[1]], m[2])
			}
		}
		if strings.HasSuffix(line, " }") {
			face = ""
		}
	}
	return d
}

func (d declared) member(face, line string) {
	if m := memberLine.FindStringSubmatch(line); m != nil {
		d.interfaces[face][m[2]] = m[1] != ""
	}
}

// members are those of an interface with what it extends.
func (d declared) members(face string) []string {
	list := sorted(d.interfaces[face])
	for _, base := range d.extends[face] {
		list = append(list, d.members(base)...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func sorted[V any](m map[string]V) []string {
	var list []string
	for name := range m {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// same fails with the names that are in one list alone.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("%s: %s is declared, and there is no such thing", what, name)
		}
	}
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%s: %s is not declared", what, name)
		}
	}
}

// require is the one function that no table has: it belongs to modules.
const require = "require"

func TestFunctionsAreThoseOfTheTables(t *testing.T) {
	text := Text()
	d := read(text)
	want := []string{require}
	for _, b := range append(script.Builtins(), script.Console()...) {
		want = append(want, b.Name)
		if !strings.Contains(text, "/** "+b.Doc) {
			t.Errorf("the documentation of %s is missing", b.Name)
		}
		for _, s := range strings.Split(b.Signature, "\n") {
			if !slices.Contains(d.functions[b.Name], s) {
				t.Errorf("%s%s is not declared", b.Name, s)
			}
		}
	}
	for _, b := range builtin.All() {
		switch {
		case isJavaScript(b.Name):
			if !strings.Contains(text, "//   "+b.Usage+" ") {
				t.Errorf("%s is not listed", b.Name)
			}
		default:
			want = append(want, b.Name)
			if !slices.Contains(d.functions[b.Name], signature(b.Type)) {
				t.Errorf("%s%s is not declared", b.Name, signature(b.Type))
			}
		}
	}
	same(t, "functions", sorted(d.functions), want)
}

func TestContextIsThatOfTheCompiler(t *testing.T) {
	d := read(Text())
	want := map[string][]string{}
	for _, m := range builtin.Members() {
		face := "Context"
		if m.Leave {
			face = "LeaveContext"
		} else if m.Fault {
			face = "FaultContext"
		}
		want[face] = append(want[face], m.Name)
	}
	for face, members := range want {
		same(t, face, sorted(d.interfaces[face]), members)
	}
}

func TestHandlersAreThoseOfProbe(t *testing.T) {
	var want []string
	for _, o := range script.ProbeOptions() {
		want = append(want, o.Name)
		if o.Doc == "" || !strings.Contains(Text(), "  /** "+o.Doc+" */\n  "+o.Name+"?: "+o.Type+";\n") {
			t.Errorf("%s is not documented", o.Name)
		}
	}
	same(t, "Handlers", sorted(read(Text()).interfaces["Handlers"]), want)
}

func TestEventsAreThoseOfOn(t *testing.T) {
	var want []string
	for _, k := range script.EventKinds() {
		want = append(want, k.Name)
	}
	same(t, "LifecycleEvents", sorted(read(Text()).interfaces["LifecycleEvents"]), want)
}

// Scripts of users name these types in comments, so they stay.
func TestTypesThatScriptsName(t *testing.T) {
	text := Text()
	for _, name := range []string{"Context", "Handlers", "Program", "Event", "Probe", "Aggregation", "KeyedAggregation", "TraceMap",
		"PerThread", "Stack", "Timer", "Stats", "Histogram", "LifecycleEvent", "Pointer", "Int", "Bytes"} {
		if !regexp.MustCompile(`(?m)^(interface|type) ` + name + `\b`).MatchString(text) {
			t.Errorf("there is no type %s", name)
		}
	}
}

// Every type that a table names has to be there; TypeScript's own are few.
func TestTypesOfTablesAreDeclared(t *testing.T) {
	text := Text()
	own := []string{"K", "T", "C", "P", "N", "F", "Record", "Omit", "NonNullable", "Uint8Array", "RegExp"}
	code := regexp.MustCompile(`(?s)/\*\*.*?\*/|//[^\n]*|"[^"\n]*"|\x60[^\x60\n]*\x60`).ReplaceAllString(text, "")
	for _, name := range regexp.MustCompile(`\b[A-Z]\w*`).FindAllString(code, -1) {
		if !slices.Contains(own, name) && !regexp.MustCompile(`(?m)^(interface|type) `+name+`\b`).MatchString(text) {
			t.Errorf("type %s is used and not declared", name)
		}
	}
}
