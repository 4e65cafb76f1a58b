package variable

import (
	"fmt"

	"github.com/dop251/goja"

	"gotap/compile/js"
	"gotap/runtime/object"
	rtvalue "gotap/runtime/value"
	"gotap/script/jsvm"
	"gotap/script/scope"
	"gotap/script/shared"
	"gotap/script/source"
	"gotap/script/value"
)

// Slot is a top-level variable that programs may share. Until a program that uses it is registered it is an ordinary
// variable; from then on its value is in the arena.
type Slot struct {
	File   *source.File
	Var    *scope.Variable
	value  goja.Value // while not shared; nil before the declaration has run
	kind   slotKind
	object shared.Object

	carried bool // the value is that of an earlier version of the script
}

// slotKind is the type of a shared variable's value.
type slotKind uint8

const (
	slotPlain slotKind = iota // not shared
	slotInt
	slotBool
	slotText
)

func (k slotKind) String() string { return [...]string{"", "integers", "booleans", "text"}[k] }

// Variables are all slots of a script. To JavaScript they are the array that rewritten code indexes.
type Variables struct {
	m        *jsvm.Machine
	table    *shared.Table
	slots    []*Slot
	previous *Variables
}

// New makes an empty list. previous is that of the running version of a watched script, or nil.
func New(m *jsvm.Machine, table *shared.Table, previous *Variables) *Variables {
	return &Variables{m: m, table: table, previous: previous}
}

// Slots lists the slots in the order of their numbers.
func (v *Variables) Slots() []*Slot { return v.slots }

// Add makes the next slot, for a variable of a file.
func (v *Variables) Add(f *source.File, variable *scope.Variable) {
	sl := &Slot{File: f, Var: variable}
	if variable.Kind == scope.Var {
		sl.value = goja.Undefined()
	}
	v.slots = append(v.slots, sl)
}

// Len returns the number of slots.
func (v *Variables) Len() int { return len(v.slots) }

// SetLen refuses: no script can reach the array itself.
func (v *Variables) SetLen(int) bool { return false }

// Get reads a variable.
func (v *Variables) Get(i int) goja.Value {
	sl := v.slots[i]
	switch {
	case sl.kind != slotPlain:
		return v.load(sl)
	case sl.value == nil:
		panic(v.m.ReferenceError(fmt.Sprintf("cannot use %s before its declaration has run", sl.Var.Name)))
	}
	return sl.value
}

// Set writes a variable.
func (v *Variables) Set(i int, value goja.Value) bool {
	sl := v.slots[i]
	if sl.kind == slotPlain {
		sl.value = value
		return true
	}
	v.store(sl, value)
	return true
}

// load reads a shared variable from the arena.
func (v *Variables) load(sl *Slot) goja.Value {
	d, _ := v.table.Get(sl.object, nil)
	switch sl.kind {
	case slotText:
		return v.m.VM.ToValue(value.Valid(d.Text, d.Cut))
	case slotBool:
		return v.m.VM.ToValue(d.Int != 0)
	}
	return v.m.Integer(d.Int)
}

// store writes a shared variable. A value of another type is an error of the script.
func (v *Variables) store(sl *Slot, value goja.Value) {
	switch sl.kind {
	case slotText:
		if goja.IsString(value) {
			v.m.Must(sl.object.Handle.Set(rtvalue.Text(value.String())))
			return
		}
	case slotBool:
		if b, ok := value.Export().(bool); ok {
			v.m.Must(sl.object.Handle.Set(rtvalue.Int(jsvm.BoolInt(b))))
			return
		}
	default:
		if n, ok := jsvm.ToInt(value); ok {
			v.m.Must(sl.object.Handle.Set(rtvalue.Int(n)))
			return
		}
	}
	v.m.Throwf("cannot assign %s to %s: programs share it, and it holds %s", jsvm.Describe(value), sl.Var.Name, sl.kind)
}

// Change implements ++, --, += and -= on a slot: (slot, amount, old value wanted).
func (v *Variables) Change(call goja.FunctionCall) goja.Value {
	sl, amount, old := v.slots[call.Argument(0).ToInteger()], call.Argument(1), call.Argument(2).ToBoolean()
	if sl.kind == slotInt {
		n, ok := jsvm.ToInt(amount)
		if !ok {
			v.m.Throwf("cannot add %s to %s: programs share it, and it holds integers", jsvm.Describe(amount), sl.Var.Name)
		}
		// A program may add between the two steps: no addition is lost, but the value of this expression may include
		// it.
		v.m.Must(sl.object.Handle.Add(n))
		d, _ := v.table.Get(sl.object, nil)
		if old {
			d.Int -= n
		}
		return v.m.Integer(d.Int)
	}
	before := v.Get(int(call.Argument(0).ToInteger()))
	after := v.m.Plus(before, amount)
	v.Set(int(call.Argument(0).ToInteger()), after)
	if old {
		return before
	}
	return after
}

// Fold is the binding of a value that never changes. One traversal uses one Fold, which visits each function once:
// functions may refer to themselves.
type Fold func(value goja.Value, v *scope.Variable) js.Binding

// Bind shares a variable with programs; the result is what they see. A var that is never assigned is a constant, since
// joined modules have no let and const, and so is a float, which programs cannot share.
func (v *Variables) Bind(sl *Slot, fold Fold) js.Binding {
	if sl.Var.Assigned == 0 && sl.kind == slotPlain && (sl.Var.Kind == scope.Var || sl.value != nil && sl.Var.Fractional(js.IsFloat)) {
		return fold(sl.value, sl.Var)
	}
	if sl.kind == slotPlain {
		if b, ok := v.share(sl, fold); !ok {
			return b
		}
	}
	switch sl.kind {
	case slotText:
		return js.Binding{Kind: js.BindSharedText, Object: sl.object.ID}
	case slotBool:
		return js.Binding{Kind: js.BindSharedBool, Object: sl.object.ID}
	}
	return js.Binding{Kind: js.BindShared, Object: sl.object.ID}
}

// share declares a slot's object. When the value cannot be shared, the binding says why.
func (v *Variables) share(sl *Slot, fold Fold) (js.Binding, bool) {
	if sl.value == nil {
		return js.Binding{Kind: js.BindUnusable, Reason: "is not declared yet", Hint: "move the declaration before the probe"}, false
	}
	o := object.Object{Name: sl.Var.Name}
	kind := slotInt
	if jsvm.Rounded(sl.value) {
		return Imprecise(), false
	}
	if n, ok := jsvm.ToInt(sl.value); ok {
		o.Kind, o.Init = object.KindInt, n
	} else if b, ok := sl.value.Export().(bool); ok {
		kind, o.Kind, o.Init, o.Value = slotBool, object.KindInt, jsvm.BoolInt(b), rtvalue.KindBool
	} else if goja.IsString(sl.value) {
		kind, o.Kind, o.Text = slotText, object.KindText, sl.value.String()
	} else {
		return unshared(sl, fold), false
	}
	if err := v.declare(sl, o); err != nil {
		return js.Binding{Kind: js.BindUnusable, Reason: err.Error()}, false
	}
	sl.kind = kind
	return js.Binding{}, true
}

// Imprecise returns the binding of a number that JavaScript has rounded.
func Imprecise() js.Binding {
	return js.Binding{Kind: js.BindUnusable, Reason: "a number beyond 2^53, which JavaScript has rounded",
		Hint: "write it as a BigInt: 0x7fffffffffffffffn"}
}

// declare gives a slot its object, or the one that the running version of the script has for it.
func (v *Variables) declare(sl *Slot, o object.Object) error {
	was := v.before(sl)
	setting := sl.Var.Assigned == 0 && !was.mayDiffer()
	object, adopted, err := v.table.Declare(o, setting)
	if err != nil {
		return fmt.Errorf("cannot share %s: %w", o.Name, err)
	}
	sl.carried = adopted && was.mayDiffer()
	sl.object = object
	return nil
}

// unshared returns the binding of a variable of another type: a constant when it never changes.
func unshared(sl *Slot, fold Fold) js.Binding {
	if sl.Var.Assigned == 0 {
		return fold(sl.value, sl.Var)
	}
	hint := "programs share integers, booleans and text"
	reason := "a variable that holds " + jsvm.Describe(sl.value)
	if goja.IsUndefined(sl.value) {
		hint = "give it a value where it is declared: 0 or \"\""
		reason = "a variable without a value"
	}
	return js.Binding{Kind: js.BindUnusable, Reason: reason, Hint: hint}
}
