package script

import (
	"errors"

	"github.com/dop251/goja"

	"gotap/compile/diag"
)

// errStop interrupts the callback that called stop.
var errStop = errors.New("the script ends the run")

// isStop reports whether a callback ended because it called stop.
func (s *Script) isStop(err error) bool {
	var e *goja.InterruptedError
	return errors.As(err, &e) && e.Value() == errStop
}

func isHeap(err error) bool {
	var e *goja.InterruptedError
	if !errors.As(err, &e) {
		return false
	}
	_, ok := e.Value().(errHeap)
	return ok
}

// fnArgument is argument n as a callback.
func (s *Script) fnArgument(at site, call goja.FunctionCall, n int, usage string) goja.Callable {
	obj, ok := call.Argument(n).(*goja.Object)
	if ok {
		_, ok = goja.AssertFunction(obj)
	}
	if !ok {
		s.reject(at.argSpan(n), usage, "%s is no function", describe(call.Argument(n)))
		return nil
	}
	return s.callbackOf(obj, at.argSpan(n))
}

// jsBegin is begin(fn).
func (s *Script) jsBegin(call goja.FunctionCall) goja.Value {
	if fn := s.fnArgument(s.site(), call, 0, "begin(() => { … })"); fn != nil {
		s.begins = append(s.begins, fn)
	}
	return nil
}

// jsEnd is end(fn).
func (s *Script) jsEnd(call goja.FunctionCall) goja.Value {
	if fn := s.fnArgument(s.site(), call, 0, "end(() => { … })"); fn != nil {
		s.ends = append(s.ends, fn)
	}
	return nil
}

// EventKind is something that happens to processes and that on() listens to. The table serves the machine, and whoever writes
// typings or help.
type EventKind struct {
	Name   string
	Fields string // what its event has besides pid, tid and time, as TypeScript declares members
	Doc    string
}

// EventKinds lists the table.
func EventKinds() []EventKind { return append([]EventKind(nil), lifecycle...) }

var lifecycle = []EventKind{
	{"exec", "path: string", "a process goes on with another program"},
	{"exit", "status: number; signal: number", "a process has ended: with a status, or by a signal when that is not 0"},
	{"fork", "child: number", "a process has made another, by fork, vfork or clone"},
	{"thread", "child: number", "a process has started a thread"},
	{"signal", "signal: number", "a thread gets a signal"},
	{"module", "path: string", "a process has loaded a library"},
}

var eventKinds = kindsOfEvents()

func kindsOfEvents() []string {
	var names []string
	for _, k := range lifecycle {
		names = append(names, k.Name)
	}
	return names
}

// jsStop is stop(code): nothing is delivered after it, and the callback that calls it ends there.
func (s *Script) jsStop(call goja.FunctionCall) goja.Value {
	code := int64(0)
	if v := call.Argument(0); !goja.IsUndefined(v) {
		n, ok := toInt(v)
		if !ok || n < 0 || n > 255 {
			at := s.site()
			s.reject(at.argSpan(0), "", "a status is from 0 to 255, not %s", describe(v))
			return nil
		}
		code = n
	}
	if !s.stopped.Swap(true) {
		s.status = int(code)
		if s.tracer != nil {
			s.outside(func() { s.tracer.Stop(int(code)) })
		}
	}
	s.vm.Interrupt(errStop)
	return nil
}

// trackRejection keeps promises that were rejected and that nothing handles.
func (s *Script) trackRejection(p *goja.Promise, op goja.PromiseRejectionOperation) {
	if op == goja.PromiseRejectionReject {
		s.rejected = append(s.rejected, p)
		return
	}
	for i, r := range s.rejected {
		if r == p {
			s.rejected = append(s.rejected[:i], s.rejected[i+1:]...)
			return
		}
	}
}

// rejection explains a promise that was rejected.
func (s *Script) rejection(p *goja.Promise) diag.Diagnostic {
	d := diag.Diagnostic{Text: "a promise was rejected: " + describe(p.Result())}
	if obj, ok := p.Result().(*goja.Object); ok {
		d.Text = "a promise was rejected: " + s.message(obj)
		d.Span = s.stackPlace(property(obj, "stack"))
	}
	return d
}
