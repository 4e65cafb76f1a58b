package jsvm

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"

	"gotap/compile/diag"
	"gotap/script/load"
	"gotap/script/source"
)

// diagnosed carries a diagnostic through JavaScript as part of an exception, so that it keeps its place and hint.
type diagnosed struct{ d diag.Diagnostic }

// Site returns the call in the script that is being executed.
func (m *Machine) Site() source.Site { return m.Files.Site(m.VM.CaptureCallStack(0, nil)) }

// Blame returns the place to report: where the user's own text called the standard library, if the error is at a place
// in the library.
func (m *Machine) Blame(at diag.Span) diag.Span {
	if !source.InLibrary(at) {
		return at
	}
	return m.Files.UserPlace(m.VM.CaptureCallStack(0, nil))
}

// Reject reports a wrong use of a built-in function. While the script is loaded the error is only noted, so that all
// are reported at once; later it is an exception.
func (m *Machine) Reject(at diag.Span, hint, format string, args ...any) {
	d := diag.Diagnostic{Span: m.Blame(at), Text: fmt.Sprintf(format, args...), Hint: hint}
	if m.Loading {
		m.Diags = append(m.Diags, d)
		return
	}
	m.Throw(d)
}

// Throw raises a diagnostic as a TypeError.
func (m *Machine) Throw(d diag.Diagnostic) {
	e := m.VM.NewTypeError(d.Text)
	m.Hide(e, m.symDiag, &diagnosed{d})
	panic(e)
}

// Throwf raises a TypeError at the call being executed.
func (m *Machine) Throwf(format string, args ...any) {
	m.Throw(diag.Diagnostic{Span: m.Site().Span(), Text: fmt.Sprintf(format, args...)})
}

// Must raises an error as a TypeError.
func (m *Machine) Must(err error) {
	if err != nil {
		m.Throwf("%v", err)
	}
}

// Explain turns the error of a call into JavaScript into a diagnostic.
func (m *Machine) Explain(err error) diag.Diagnostic {
	var interrupted *goja.InterruptedError
	if errors.As(err, &interrupted) {
		return diag.Diagnostic{Span: m.Files.Place(interrupted.Stack()), Text: interruption(interrupted)}
	}
	var overflow *goja.StackOverflowError
	if errors.As(err, &overflow) {
		return diag.Diagnostic{Span: m.Files.Place(overflow.Stack()), Text: "calls nested too deeply",
			Hint: "does a function call itself without end?"}
	}
	var ex *goja.Exception
	if errors.As(err, &ex) {
		return m.explainException(ex)
	}
	return diag.Diagnostic{Text: err.Error()}
}

func interruption(e *goja.InterruptedError) string {
	if reason, ok := e.Value().(error); ok {
		return reason.Error()
	}
	return fmt.Sprint(e.Value())
}

// explainException makes a diagnostic of an exception: ours have their own place and hint, others the place where they
// were thrown.
func (m *Machine) explainException(ex *goja.Exception) diag.Diagnostic {
	obj, _ := ex.Value().(*goja.Object)
	if obj == nil {
		return diag.Diagnostic{Span: m.Files.Place(ex.Stack()), Text: "uncaught " + Describe(ex.Value())}
	}
	if c, ok := Hidden[*diagnosed](obj, m.symDiag); ok {
		return c.d
	}
	at := m.Files.Place(ex.Stack())
	if strings.HasPrefix(property(obj, "message"), load.StdPrefix) { // a module of the library reports how it was called
		at = m.Files.UserPlace(ex.Stack())
	}
	if name := unknownName(obj); name != "" {
		return diag.Diagnostic{Span: widened(at, name), Text: m.message(obj), Hint: cmp.Or(placeHint(name, at), m.nameHint(name, ex.Stack()))}
	}
	return diag.Diagnostic{Span: at, Text: m.message(obj), Hint: cmp.Or(bigIntHint(obj), m.memberHint(obj, at))}
}

// propertyOfNothing is the machine's message for members of undefined, and of null, which it does not tell apart.
var propertyOfNothing = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Cannot read property '.*' of undefined$`) })

// message returns the text of an error object, with its class unless that is the plain Error.
func (m *Machine) message(obj *goja.Object) string {
	name, text := property(obj, "name"), property(obj, "message")
	if name == "TypeError" && propertyOfNothing().MatchString(text) {
		text += " or null"
	}
	switch {
	case text == "" && name == "":
		return "uncaught " + m.Inspect(obj)
	case name == "" || name == "Error" || name == "GoError":
		return FirstLine(text)
	}
	return name + ": " + FirstLine(text)
}

// FirstLine returns the first line of a text, with a mark when there are more.
func FirstLine(s string) string {
	first, _, more := strings.Cut(s, "\n")
	if more {
		return first + " …"
	}
	return first
}

// property returns a property as text; "" when its getter throws.
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

// Describe names a value in messages.
func Describe(v goja.Value) string {
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
var stackLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*at (?:.*\()?([^()\n]+):(\d+):(\d+)\(\d+\)`) })

// stackPlace returns the innermost place of the script in the text of a stack.
func (m *Machine) stackPlace(stack string) diag.Span {
	for _, match := range stackLine().FindAllStringSubmatch(stack, -1) {
		f := m.Files.At(match[1])
		line, err1 := strconv.Atoi(match[2])
		col, err2 := strconv.Atoi(match[3])
		if f != nil && err1 == nil && err2 == nil {
			return f.FrameSpan(file.Position{Line: line, Column: col})
		}
	}
	return diag.Span{}
}
