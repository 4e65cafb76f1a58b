package jsvm

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/script/source"
	"gotap/script/watchdog"
)

// errStop interrupts the callback that called stop.
var errStop = errors.New("the script ends the run")

// Interrupt ends the running callback because the script called stop.
func (m *Machine) Interrupt() { m.VM.Interrupt(errStop) }

// IsStop reports whether a callback ended because it called stop.
func IsStop(err error) bool {
	var e *goja.InterruptedError
	return errors.As(err, &e) && e.Value() == errStop
}

func isHeap(err error) bool {
	var e *goja.InterruptedError
	if !errors.As(err, &e) {
		return false
	}
	_, ok := e.Value().(watchdog.HeapError)
	return ok
}

// Call runs a callback under the watchdog. An exception is reported, the run goes on, and the result is nil.
func (m *Machine) Call(fn goja.Callable, args ...goja.Value) (result goja.Value) {
	if m.disabled {
		return nil
	}
	err := m.protect(false, func() (err error) {
		result, err = fn(goja.Undefined(), args...)
		return err
	})
	if err != nil && !IsStop(err) {
		m.fault(err)
	}
	for _, p := range m.rejected {
		m.Faults.report(m.out, m.rejection(p))
	}
	m.rejected = nil
	return result
}

// RunTop runs the top level of the script. Its errors are added to Diags; ok is false when it did not get to its end.
func (m *Machine) RunTop(prg *goja.Program) (ok bool) {
	m.Loading = true
	err := m.protect(true, func() error {
		_, err := m.VM.RunProgram(prg)
		return err
	})
	m.Loading = false
	ok = err == nil || IsStop(err)
	if !ok {
		m.Diags = append(m.Diags, m.Explain(err))
	}
	for _, p := range m.rejected {
		m.Diags = append(m.Diags, m.rejection(p))
	}
	m.rejected = nil
	return ok
}

// fault reports an exception of a callback. After too much memory no callback runs any more.
func (m *Machine) fault(err error) {
	m.Faults.report(m.out, m.Explain(err))
	if isHeap(err) {
		m.disabled = true
		if m.exhausted != nil {
			m.exhausted()
		}
		m.Stopped.Store(true)
	}
}

// protect runs a callback, or the top level, under the watchdog, and turns a Go panic into an error.
func (m *Machine) protect(top bool, f func() error) (err error) {
	m.Dog.Begin(top)
	defer m.Dog.End()
	defer func() {
		if r := recover(); r != nil {
			err = recovered(r)
		}
	}()
	return f()
}

func recovered(r any) error {
	if err, ok := r.(error); ok {
		return err
	}
	return errors.New(strings.TrimSpace("internal error: " + panicText(r)))
}

func panicText(r any) string {
	if v, ok := r.(goja.Value); ok {
		return "uncaught " + v.String()
	}
	if s, ok := r.(string); ok {
		return s
	}
	return "panic"
}

// Outside does work that the script cannot hurry, with the callback's clock stopped.
func (m *Machine) Outside(f func()) {
	defer m.Dog.Pause()()
	f()
}

// Nested runs callbacks within the running one, each with its own clock. A stop() in one of them ends the running one
// too.
func (m *Machine) Nested(f func()) {
	inside, resume := m.Dog.Within()
	f()
	if resume(); inside && m.Stopped.Load() {
		m.Interrupt()
	}
}

// trackRejection keeps rejected promises that nothing handles.
func (m *Machine) trackRejection(p *goja.Promise, op goja.PromiseRejectionOperation) {
	if op == goja.PromiseRejectionReject {
		m.rejected = append(m.rejected, p)
		return
	}
	for i, r := range m.rejected {
		if r == p {
			m.rejected = append(m.rejected[:i], m.rejected[i+1:]...)
			return
		}
	}
}

// rejection explains a rejected promise.
func (m *Machine) rejection(p *goja.Promise) diag.Diagnostic {
	d := diag.Diagnostic{Text: "a promise was rejected: " + Describe(p.Result())}
	if obj, ok := p.Result().(*goja.Object); ok {
		d.Text = "a promise was rejected: " + m.message(obj)
		d.Span = m.stackPlace(property(obj, "stack"))
	}
	return d
}

// FnArgument is argument n of a call as a callback; nil when it is not a function, which has been reported then.
func (m *Machine) FnArgument(at source.Site, call goja.FunctionCall, n int, usage string) goja.Callable {
	obj, ok := call.Argument(n).(*goja.Object)
	if ok {
		_, ok = goja.AssertFunction(obj)
	}
	if !ok {
		m.Reject(at.ArgSpan(n), usage, "%s is not a function", Describe(call.Argument(n)))
		return nil
	}
	return m.callback(obj, at.ArgSpan(n))
}

// callback checks a function that the host will call. An async one would go on after its event is over.
func (m *Machine) callback(obj *goja.Object, at diag.Span) goja.Callable {
	fn, _ := goja.AssertFunction(obj)
	switch head := obj.String(); {
	case asyncText().MatchString(head):
		m.Reject(at, "use a plain function; to continue later, use every(…) or setTimeout(…)", "a callback cannot be async")
	case generatorText().MatchString(head):
		m.Reject(at, "use a plain function", "a callback cannot be a generator")
	}
	return fn
}

// The texts that functions of these kinds begin with; a method may itself be called "async".
var (
	asyncText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^async(?:\s+function\b|\s*\*|\s+[\w$\["']|\s*\([^)]*\)\s*=>)`)
	})
	generatorText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:function\s*\*|\*)`) })
)
