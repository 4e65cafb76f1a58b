package script

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/script/load"
)

// complaint is a diagnostic on its way through JavaScript as an exception, so that it keeps its place and hint.
type complaint struct{ d diag.Diagnostic }

func (c *complaint) Error() string { return c.d.Text }

// reject reports a wrong use of a builtin. While the script is loaded the error is only noted, so that all are told at
// once; later it is an exception.
func (s *Script) reject(at diag.Span, hint, format string, args ...any) {
	d := diag.Diagnostic{Span: s.blame(at), Text: fmt.Sprintf(format, args...), Hint: hint}
	if s.loading {
		s.diags = append(s.diags, d)
		return
	}
	s.throw(d)
}

// throw raises a diagnostic as a TypeError.
func (s *Script) throw(d diag.Diagnostic) {
	e := s.vm.NewTypeError(d.Text)
	e.DefineDataPropertySymbol(s.symComplaint, s.vm.ToValue(&complaint{d}), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	panic(e)
}

// throwf raises a TypeError at the call being executed.
func (s *Script) throwf(format string, args ...any) {
	c := s.site()
	s.throw(diag.Diagnostic{Span: c.span(), Text: fmt.Sprintf(format, args...)})
}

// explain turns what a call into JavaScript returned into a diagnostic.
func (s *Script) explain(err error) diag.Diagnostic {
	var interrupted *goja.InterruptedError
	if errors.As(err, &interrupted) {
		return diag.Diagnostic{Span: s.place(interrupted.Stack()), Text: interruption(interrupted)}
	}
	var overflow *goja.StackOverflowError
	if errors.As(err, &overflow) {
		return diag.Diagnostic{Span: s.place(overflow.Stack()), Text: "calls nested too deeply",
			Hint: "does a function call itself without end?"}
	}
	var ex *goja.Exception
	if errors.As(err, &ex) {
		return s.explainException(ex)
	}
	return diag.Diagnostic{Text: err.Error()}
}

func interruption(e *goja.InterruptedError) string {
	if reason, ok := e.Value().(error); ok {
		return reason.Error()
	}
	return fmt.Sprint(e.Value())
}

// explainException words an exception: ours with their own place and hint, others with the place they were thrown at.
func (s *Script) explainException(ex *goja.Exception) diag.Diagnostic {
	obj, _ := ex.Value().(*goja.Object)
	if obj == nil {
		return diag.Diagnostic{Span: s.place(ex.Stack()), Text: "uncaught " + describe(ex.Value())}
	}
	if v := obj.GetSymbol(s.symComplaint); v != nil {
		if c, ok := v.Export().(*complaint); ok {
			return c.d
		}
	}
	at := s.place(ex.Stack())
	if strings.HasPrefix(property(obj, "message"), load.StdPrefix) { // a module of the library speaks of how it was called
		at = s.placeOfUser(ex.Stack())
	}
	if name := unknownName(obj); name != "" {
		return diag.Diagnostic{Span: widened(at, name), Text: s.message(obj), Hint: s.nearName(name, ex.Stack())}
	}
	return diag.Diagnostic{Span: at, Text: s.message(obj), Hint: cmp.Or(largeInteger(obj), s.nearMember(obj, at))}
}

// largeInteger is a hint for arithmetic of numbers with integers that are none: what a program tells may be either, by its size.
func largeInteger(obj *goja.Object) string {
	switch property(obj, "message") {
	case "Cannot mix BigInt and other types, use explicit conversions", "Cannot convert a BigInt value to a number":
		return "an integer of a program that is beyond 2^53 is a BigInt here: Number(x) rounds it, BigInt(x) + 1n is exact"
	}
	return ""
}

// widened is the whole of a name whose first character is at a place.
func widened(at diag.Span, name string) diag.Span {
	if at.Source != nil && strings.HasPrefix(at.Source.Text[at.Start:], name) {
		at.End = at.Start + len(name)
	}
	return at
}

// shortName is the length of names that are like too many others.
const shortName = 3

// foreign are names that other tracers' scripts begin with, with what stands here in their place.
var foreign = map[string]string{
	"Interceptor":    `Frida's Interceptor.attach is probe("libc:open", { enter(c) { … }, leave(c) { … } }) here`,
	"Process":        "Frida's Process is gotap/proc and gotap/module here; `gotap list` shows what can be probed",
	"Module":         `a function is named by text here, "libc:open"; gotap list 'libc:open*' shows what there is`,
	"Memory":         "in programs memory is read with u32(p), str(p) and so on, in callbacks with memory(pid, address, size)",
	"NativePointer":  "addresses are integers here, read with u32(p), str(p) and so on",
	"NativeFunction": "functions of the target cannot be called",
	"Stalker":        `every instruction of a function is "f+*" here: probe("libc:open+*", …)`,
	"DebugSymbol":    "sym(address) names an address",
	"send":           "exit({ … }) sends a record to the probe's exit callback",
	"BEGIN":          "begin(() => { … })",
	"END":            "end(() => { … })",
	"interval":       `every("1s", () => { … })`,
	"tick":           `every("1s", () => { … })`,
	"uretprobe":      `probe("libc:malloc", { leave(c) { … } })`,
	"usdt":           `probe("usdt:PROVIDER:NAME", c => { … })`,
	"tracepoint":     `probe("syscall:openat", c => { … }); the kernel's own code is not traced`,
	"kprobe":         `probe("syscall:openat", c => { … }); the kernel's own code is not traced`,
	"getopt":         `option("name", default, "help")`,
	"argv":           "option(name, default) reads --arg name=value",
	"$1":             "option(name, default) reads --arg name=value",
	"args":           "option(name, default) reads --arg name=value; arguments of a probed function are c.args in its program",
	"self":           "SIGUSR1 makes gotap print what there is, and the run goes on",
	"rpc":            "gotap ctl talks to a running session",
}

// undefinedName is the machine's message for a name that nothing has.
var undefinedName = regexp.MustCompile(`^(\S+) is not defined$`)

// unknownName is the name that nothing has, if that is what an error is about.
func unknownName(obj *goja.Object) string {
	m := undefinedName.FindStringSubmatch(property(obj, "message"))
	if m == nil || property(obj, "name") != "ReferenceError" {
		return ""
	}
	return m[1]
}

// nearName is a hint at a builtin, or at a name of the file that was running, that looks like one which nothing has.
func (s *Script) nearName(name string, stack []goja.StackFrame) string {
	if instead := cmp.Or(elsewhere[name], foreign[name]); instead != "" {
		return instead
	}
	if len(name) <= shortName {
		return "" // nearly every short word is near another
	}
	known := s.vm.GlobalObject().GetOwnPropertyNames()
	if src, _ := s.frame(stack); src != nil {
		known = append(src.info.Names(), known...)
	}
	if near := compile.Nearest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// elsewhere says what takes the place of what browsers and Node have and a script has not.
var elsewhere = map[string]string{
	"setImmediate": "use setTimeout(fn)", "queueMicrotask": "use setTimeout(fn)",
	"process": "option(name, default) reads --arg name=value, stop(status) ends the run", "fetch": "a script has no network: print, and read that elsewhere",
	"performance": "now() is monotonic nanoseconds", "TextDecoder": "String.fromCharCode(...bytes); exit({ s: str(p) }) sends text at once",
	"TextEncoder": "text goes into records and maps as it is", "structuredClone": "JSON.parse(JSON.stringify(value)) copies plain data",
	"window": "the global object is globalThis", "Buffer": "bytes(p, n) of a program is a Uint8Array here",
}

// unknownMember is the machine's message for a call of a member that its object has not.
var unknownMember = regexp.MustCompile(`^Object has no member '(.+)'$`)

// nearMember is a hint at a member that looks like the one which an object has not. The machine does not tell which object that
// is, so the members of all that gotap gives to a script are compared.
func (s *Script) nearMember(obj *goja.Object, at diag.Span) string {
	m := unknownMember.FindStringSubmatch(property(obj, "message"))
	if m == nil {
		return ""
	}
	if at.Source != nil && strings.HasSuffix(at.Source.Text[:at.Start], "console.") {
		return consoleHint(m[1])
	}
	known := []string{"enable", "disable", "remove", "stop"} // of handles, which have no prototype
	known = append(known, matcherNames()...)
	for _, of := range []goja.Value{s.aggProto, s.mapProto, s.vm.Get("console"), s.prototype("Array"), s.prototype("String"), s.prototype("Map")} {
		if of, ok := of.(*goja.Object); ok && of != nil {
			known = append(known, of.GetOwnPropertyNames()...)
		}
	}
	if near := compile.Nearest(m[1], known); near != "" {
		return "did you mean " + near + "?"
	}
	if strings.HasPrefix(m[1], "toBe") || strings.HasPrefix(m[1], "toHave") || m[1] == "toThrow" { // of expect elsewhere
		return "expect(x) has " + strings.Join(matcherNames(), ", ")
	}
	return ""
}

// consoleHint says what takes the place of a member that console has in browsers and Node.
func consoleHint(name string) string {
	if name == "table" {
		return `import { table } from "gotap/table"; console.log(table(rows, { head: […] }))`
	}
	var names []string
	for _, m := range consoleMethods {
		names = append(names, strings.TrimPrefix(m.Name, "console."))
	}
	return "console has " + strings.Join(names, ", ")
}

// matcherNames are the methods of what expect gives, and the word before them that turns them round.
func matcherNames() []string {
	names := []string{"not"}
	for _, m := range matchers {
		names = append(names, m.name)
	}
	return names
}

// prototype is that of a class of the language.
func (s *Script) prototype(class string) goja.Value {
	if c, ok := s.vm.Get(class).(*goja.Object); ok {
		return c.Get("prototype")
	}
	return nil
}

// propertyOfNothing is the machine's message for members of undefined, and of null, which it does not tell apart.
var propertyOfNothing = regexp.MustCompile(`^Cannot read property '.*' of undefined$`)

// message is what an error object says, with its class unless that is the plain Error.
func (s *Script) message(obj *goja.Object) string {
	name, text := property(obj, "name"), property(obj, "message")
	if name == "TypeError" && propertyOfNothing.MatchString(text) {
		text += " or null"
	}
	switch {
	case text == "" && name == "":
		return "uncaught " + s.inspect(obj)
	case name == "" || name == "Error" || name == "GoError":
		return firstLine(text)
	}
	return name + ": " + firstLine(text)
}

func firstLine(s string) string {
	first, _, more := strings.Cut(s, "\n")
	if more {
		return first + " …"
	}
	return first
}

// property is a property as text; exceptions of getters count as "".
func property(obj *goja.Object, name string) (text string) {
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	if v := obj.Get(name); v != nil && !goja.IsUndefined(v) {
		return v.String()
	}
	return ""
}

// place is the innermost frame that is in the user's own text, the standard library and built-ins passed over if possible.
func (s *Script) place(stack []goja.StackFrame) diag.Span {
	src, at := s.frame(stack)
	if src == nil {
		return diag.Span{}
	}
	return src.frameSpan(at)
}

// placeOfUser is the innermost frame of a stack in a text of the user's, if there is one.
func (s *Script) placeOfUser(stack []goja.StackFrame) diag.Span {
	for _, frame := range stack {
		if src := s.sources[frame.SrcName()]; src != nil {
			if at := src.frameSpan(frame.Position()); !ofLibrary(at) {
				return at
			}
		}
	}
	return s.place(stack)
}

// ofLibrary reports whether a place is in a module of the standard library.
func ofLibrary(at diag.Span) bool {
	return at.Source != nil && strings.HasPrefix(at.Source.Name, load.StdPrefix)
}

// blame is where the user's own text called what went wrong at a place in the standard library, if it did.
func (s *Script) blame(at diag.Span) diag.Span {
	if !ofLibrary(at) {
		return at
	}
	return s.placeOfUser(s.vm.CaptureCallStack(0, nil))
}

// frame is the innermost frame in a text of the script; nil when none is.
func (s *Script) frame(stack []goja.StackFrame) (*source, file.Position) {
	for _, frame := range stack {
		if src := s.sources[frame.SrcName()]; src != nil {
			return src, frame.Position()
		}
	}
	return nil, file.Position{}
}

// describe names a value in messages.
func describe(v goja.Value) string {
	switch {
	case v == nil || goja.IsUndefined(v):
		return "undefined"
	case goja.IsNull(v):
		return "null"
	case goja.IsString(v):
		return fmt.Sprintf("%q", v.String())
	case goja.IsNumber(v), goja.IsBigInt(v):
		return v.String()
	}
	if obj, ok := v.(*goja.Object); ok {
		return describeObject(obj)
	}
	return v.String()
}

func describeObject(obj *goja.Object) string {
	if _, ok := goja.AssertFunction(obj); ok {
		return "a function"
	}
	switch class := obj.ClassName(); class {
	case "Array":
		return "an array"
	case "Object":
		return "an object"
	default:
		return "a " + class
	}
}

// stackLine is a line of an error's stack property: "at f (script.js:3:10(12))".
var stackLine = regexp.MustCompile(`(?m)^\s*at (?:.*\()?([^()\n]+):(\d+):(\d+)\(\d+\)`)

// stackPlace is the innermost place of the script in the text of a stack.
func (s *Script) stackPlace(stack string) diag.Span {
	for _, m := range stackLine.FindAllStringSubmatch(stack, -1) {
		src := s.sources[m[1]]
		line, err1 := strconv.Atoi(m[2])
		col, err2 := strconv.Atoi(m[3])
		if src != nil && err1 == nil && err2 == nil {
			return src.frameSpan(file.Position{Line: line, Column: col})
		}
	}
	return diag.Span{}
}
