package script

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/dop251/goja"

	"gotap/compile/js"
	"gotap/runtime"
	"gotap/script/scope"
)

// slot is a top-level variable that programs may share. Until a program that uses it is registered it is an ordinary
// variable; from then on its value is in the arena.
type slot struct {
	src    *source
	v      *scope.Variable
	value  goja.Value // while not shared; nil before the declaration has run
	kind   slotKind
	object int
	handle *runtime.Handle

	carried bool // the value is that of an earlier version of the script
}

// slotKind is what a shared variable holds.
type slotKind uint8

const (
	slotPlain slotKind = iota // not shared
	slotInt
	slotBool
	slotText
)

func (k slotKind) String() string { return [...]string{"", "integers", "booleans", "text"}[k] }

// vars are all slots of a script; to JavaScript they are the array that rewritten code indexes.
type vars struct {
	s     *Script
	slots []*slot
}

func (v *vars) add(src *source, variable *scope.Variable) {
	sl := &slot{src: src, v: variable}
	if variable.Kind == scope.Var {
		sl.value = goja.Undefined()
	}
	v.slots = append(v.slots, sl)
}

// Len is the number of slots.
func (v *vars) Len() int { return len(v.slots) }

// SetLen refuses: no script can reach the array itself.
func (v *vars) SetLen(int) bool { return false }

// Get reads a variable.
func (v *vars) Get(i int) goja.Value {
	sl := v.slots[i]
	switch {
	case sl.kind != slotPlain:
		return v.s.load(sl)
	case sl.value == nil:
		panic(v.s.referenceError(fmt.Sprintf("cannot use %s before its declaration has run", sl.v.Name)))
	}
	return sl.value
}

// Set writes a variable.
func (v *vars) Set(i int, value goja.Value) bool {
	sl := v.slots[i]
	if sl.kind == slotPlain {
		sl.value = value
		return true
	}
	v.s.store(sl, value)
	return true
}

func (s *Script) referenceError(text string) goja.Value {
	e, err := s.vm.New(s.vm.Get("ReferenceError"), s.vm.ToValue(text))
	if err != nil {
		return s.vm.ToValue(text)
	}
	return e
}

// shared is the slot's object as it was declared.
func (sl *slot) shared() runtime.Object {
	if sl.kind == slotText {
		return runtime.Object{Name: sl.v.Name, Kind: runtime.KindText}
	}
	return runtime.Object{Name: sl.v.Name, Kind: runtime.KindInt}
}

// load reads a shared variable from the arena.
func (s *Script) load(sl *slot) goja.Value {
	d, _ := s.lookAt(sl.shared(), sl.object, sl.handle, nil)
	switch sl.kind {
	case slotText:
		return s.vm.ToValue(cutMark(strings.ToValidUTF8(d.Text, "\ufffd"), d.Cut))
	case slotBool:
		return s.vm.ToValue(d.Int != 0)
	}
	return s.integer(d.Int)
}

// store writes a shared variable; what does not fit its type is an error of the script.
func (s *Script) store(sl *slot, value goja.Value) {
	switch sl.kind {
	case slotText:
		if goja.IsString(value) {
			s.must(sl.handle.Set(runtime.Text(value.String())))
			return
		}
	case slotBool:
		if b, ok := value.Export().(bool); ok {
			s.must(sl.handle.Set(runtime.Int(boolInt(b))))
			return
		}
	default:
		if n, ok := toInt(value); ok {
			s.must(sl.handle.Set(runtime.Int(n)))
			return
		}
	}
	s.throwf("cannot assign %s to %s: programs share it, and it holds %s", describe(value), sl.v.Name, sl.kind)
}

// must raises an error of the arena as an exception.
func (s *Script) must(err error) {
	if err != nil {
		s.throwf("%v", err)
	}
}

// addVar is the function behind ++, --, += and -= on a slot: (slot, amount, old value wanted).
func (s *Script) addVar(call goja.FunctionCall) goja.Value {
	sl, amount, old := s.vars.slots[call.Argument(0).ToInteger()], call.Argument(1), call.Argument(2).ToBoolean()
	if sl.kind == slotInt {
		n, ok := toInt(amount)
		if !ok {
			s.throwf("cannot add %s to %s: programs share it, and it holds integers", describe(amount), sl.v.Name)
		}
		// Other threads may add between the two steps: no addition is lost, only this expression's own value is a moment late.
		s.must(sl.handle.Add(n))
		d, _ := s.lookAt(sl.shared(), sl.object, sl.handle, nil)
		if old {
			d.Int -= n
		}
		return s.integer(d.Int)
	}
	before := s.vars.Get(int(call.Argument(0).ToInteger()))
	after, err := s.plus(goja.Undefined(), before, amount)
	if err != nil {
		panic(err)
	}
	s.vars.Set(int(call.Argument(0).ToInteger()), after)
	if old {
		return before
	}
	return after
}

// bind makes a slot shared if its value can be; the binding says what programs see.
func (s *Script) bind(sl *slot) js.Binding {
	if sl.kind == slotPlain {
		if b, ok := s.share(sl); !ok {
			return b
		}
	}
	switch sl.kind {
	case slotText:
		return js.Binding{Kind: js.BindSharedText, Object: sl.object}
	case slotBool:
		return js.Binding{Kind: js.BindSharedBool, Object: sl.object}
	}
	return js.Binding{Kind: js.BindShared, Object: sl.object}
}

// share declares a slot's object. When that cannot be, the binding is what the name is instead.
func (s *Script) share(sl *slot) (js.Binding, bool) {
	if sl.value == nil {
		return js.Binding{Kind: js.BindUnusable, Reason: "is not declared yet", Hint: "move the declaration before the probe"}, false
	}
	o := runtime.Object{Name: sl.v.Name}
	kind := slotInt
	if rounded(sl.value) {
		return imprecise(), false
	}
	if n, ok := toInt(sl.value); ok {
		o.Kind, o.Init = runtime.KindInt, n
	} else if b, ok := sl.value.Export().(bool); ok {
		kind, o.Kind, o.Init = slotBool, runtime.KindInt, boolInt(b)
	} else if goja.IsString(sl.value) {
		kind, o.Kind, o.Text = slotText, runtime.KindText, sl.value.String()
	} else {
		return s.unshared(sl), false
	}
	if err := s.declareVar(sl, o); err != nil {
		return js.Binding{Kind: js.BindUnusable, Reason: err.Error()}, false
	}
	sl.kind = kind
	return js.Binding{}, true
}

// declareVar gives a slot its object: the one of the running version of the script if it has it.
func (s *Script) declareVar(sl *slot, o runtime.Object) error {
	was := s.before(sl)
	changed := sl.v.Assigned > 0 || was.mayDiffer()
	id, ok := s.adopted(o, !changed)
	if !ok {
		var err error
		if id, err = s.arena.Declare(o); err != nil {
			return fmt.Errorf("cannot share %s: %w", o.Name, err)
		}
	}
	sl.carried = ok && was.mayDiffer()
	sl.object, sl.handle = id, s.arena.Handle(id)
	s.keepShared(sharedObject{o, id})
	return nil
}

// unshared is what a variable of another type is to programs: a constant when it never changes.
func (s *Script) unshared(sl *slot) js.Binding {
	if sl.v.Assigned == 0 {
		return s.fold(sl.value, sl.v)
	}
	hint := "programs share integers, booleans and text"
	reason := "a variable that holds " + describe(sl.value)
	if goja.IsUndefined(sl.value) {
		hint = "give it a value where it is declared: 0 or \"\""
		reason = "a variable without a value"
	}
	return js.Binding{Kind: js.BindUnusable, Reason: reason, Hint: hint}
}

// integer is a 64-bit integer as JavaScript has it: a Number when that is exact, else a BigInt.
func (s *Script) integer(n int64) goja.Value {
	if n >= -maxSafe && n <= maxSafe {
		return s.vm.ToValue(n)
	}
	return s.vm.ToValue(big.NewInt(n))
}

// unsigned is the same for values without a sign.
func (s *Script) unsigned(n uint64) goja.Value {
	if n <= maxSafe {
		return s.vm.ToValue(int64(n))
	}
	return s.vm.ToValue(new(big.Int).SetUint64(n))
}

// maxSafe is the largest integer up to which a Number is exact.
const maxSafe = 1<<53 - 1

// toInt is an integral Number or a BigInt of at most 64 bits as a word; unsigned BigInts keep their bits.
func toInt(v goja.Value) (int64, bool) {
	if v == nil {
		return 0, false
	}
	switch n := v.Export().(type) {
	case int64:
		return n, true
	case float64:
		if n != math.Trunc(n) || math.Abs(n) >= 1<<63 || n == 0 && math.Signbit(n) {
			return 0, false
		}
		return int64(n), true
	case *big.Int:
		if n.IsInt64() {
			return n.Int64(), true
		}
		if n.IsUint64() {
			return int64(n.Uint64()), true
		}
	}
	return 0, false
}

// rounded reports a Number that is whole and so large that JavaScript may have rounded it, of the size of a 64-bit integer.
func rounded(v goja.Value) bool {
	switch n := v.Export().(type) {
	case int64:
		return n > maxSafe || n < -maxSafe
	case float64:
		return math.Abs(n) > maxSafe && math.Abs(n) <= 1<<64
	}
	return false
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
