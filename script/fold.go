package script

import (
	"math/big"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"

	"gotap/compile/js"
	"gotap/script/load"
	"gotap/script/scope"
)

// names is what the free names of one function mean, as plain data. It is immutable once made.
type names struct {
	bindings map[string]js.Binding
	visible  []string
}

// Lookup finds a binding.
func (n *names) Lookup(name string) (js.Binding, bool) {
	b, ok := n.bindings[name]
	return b, ok
}

// Names lists what a misspelt name could have meant.
func (n *names) Names() []string { return n.visible }

// folding is one traversal from a function value to everything it refers to. It ends: each function value is visited once.
type folding struct {
	s    *Script
	done map[*goja.Object]*js.Function
	objs map[*goja.Object]*names
}

func (s *Script) newFolding() *folding {
	return &folding{s, map[*goja.Object]*js.Function{}, map[*goja.Object]*names{}}
}

// register is the function behind every wrapped literal: (number, function, getter of captures).
func (s *Script) register(call goja.FunctionCall) goja.Value {
	fn := call.Argument(1).(*goja.Object)
	fn.DefineDataPropertySymbol(s.symFunction, call.Argument(0), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	if len(call.Arguments) > 2 {
		fn.DefineDataPropertySymbol(s.symGetter, call.Argument(2), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	}
	return fn
}

// literal finds the literal that a function value came from.
func (s *Script) literal(fn *goja.Object) (*function, bool) {
	v := fn.GetSymbol(s.symFunction)
	if v == nil || goja.IsUndefined(v) {
		return nil, false
	}
	return s.functions[v.ToInteger()], true
}

// function folds a function value.
func (f *folding) function(obj *goja.Object) (*js.Function, bool) {
	if fn := f.done[obj]; fn != nil {
		return fn, true
	}
	lit, ok := f.s.literal(obj)
	if !ok {
		return nil, false
	}
	n := &names{bindings: map[string]js.Binding{}, visible: lit.lit.Scope.Names()}
	fn := &js.Function{Node: lit.lit.Node, Scope: n, Source: lit.src.file.Source, Base: load.Base}
	f.done[obj] = fn
	f.captures(lit, obj, n)
	f.slots(lit, n)
	f.hostNames(lit, n)
	return fn, true
}

// captures folds what a function has captured, reading each variable by its getter.
func (f *folding) captures(lit *function, obj *goja.Object, n *names) {
	get, _ := goja.AssertFunction(obj.GetSymbol(f.s.symGetter))
	for i, v := range lit.lit.Captures {
		if get == nil {
			return
		}
		value, err := get(goja.Undefined(), f.s.vm.ToValue(i))
		switch {
		case err != nil:
			n.bindings[v.Name] = js.Binding{Kind: js.BindUnusable, Reason: "is not declared yet", Hint: "move the declaration before the probe"}
		case v.Assigned > 0:
			n.bindings[v.Name] = changing(v)
		default:
			n.bindings[v.Name] = f.value(value, v)
		}
	}
}

// changing is the binding of a variable that would not be the same at the hit as it was at registration.
func changing(v *scope.Variable) js.Binding {
	hint := "copy it first: const copy = " + v.Name
	if v.Top {
		hint = "declare it by itself, with let and an integer or text, and programs share it"
	}
	return js.Binding{Kind: js.BindUnusable, Reason: "changes after the probe is registered", Hint: hint}
}

// slots binds the shared variables a function can see.
func (f *folding) slots(lit *function, n *names) {
	for _, sl := range f.s.vars.slots {
		if sl.src == lit.src && lit.lit.Scope.Lookup(sl.v.Name) == sl.v && mentions(lit.lit.Node, sl.v.Name) {
			n.bindings[sl.v.Name] = f.slot(sl)
		}
	}
}

// slot shares a variable. A var that is never assigned is a constant of joined modules, which have no let and const; so is a float, which
// programs cannot share.
func (f *folding) slot(sl *slot) js.Binding {
	if sl.v.Assigned == 0 && sl.kind == slotPlain && (sl.v.Kind == scope.Var || sl.value != nil && sl.v.Fractional(js.IsFloat)) {
		return f.value(sl.value, sl.v)
	}
	return f.s.bind(sl)
}

// mentions is a quick look at a function's text, so that a variable becomes shared only when a program uses it.
func mentions(fn ast.Expression, name string) bool {
	switch fn := fn.(type) {
	case *ast.FunctionLiteral:
		return strings.Contains(fn.Source, name)
	case *ast.ArrowFunctionLiteral:
		return strings.Contains(fn.Source, name)
	}
	return true
}

// hostNames explains names of the host that mean nothing in programs, unless the script has its own of that name.
func (f *folding) hostNames(lit *function, n *names) {
	for name, b := range hostOnly {
		if lit.lit.Scope.Lookup(name) == nil {
			n.bindings[name] = b
		}
	}
}

// fold is what a value that never changes is to programs.
func (s *Script) fold(value goja.Value, v *scope.Variable) js.Binding {
	return s.newFolding().value(value, v)
}

// value folds one value. The variable that holds it may be nil.
func (f *folding) value(value goja.Value, v *scope.Variable) js.Binding {
	if v != nil && goja.IsNumber(value) && v.Fractional(js.IsFloat) {
		return js.Binding{Kind: js.BindFloat, Float: value.ToFloat()}
	}
	if rounded(value) {
		return foldRounded(v)
	}
	switch n := value.Export().(type) {
	case int64, *big.Int:
		return foldInt(value)
	case float64:
		if _, whole := toInt(value); whole {
			return foldInt(value)
		}
		return js.Binding{Kind: js.BindFloat, Float: n}
	case bool:
		return js.Binding{Kind: js.BindBool, Int: boolInt(n)}
	case string:
		if !goja.IsString(value) {
			return js.Binding{Kind: js.BindUnusable, Reason: "a symbol", Hint: "give it a number or a text"}
		}
		return js.Binding{Kind: js.BindText, Text: value.String()}
	}
	obj, ok := value.(*goja.Object)
	if !ok {
		return js.Binding{Kind: js.BindUnusable, Reason: "is " + describe(value), Hint: "give it a number or a text"}
	}
	return f.object(obj, v)
}

// foldInt folds an integer.
func foldInt(value goja.Value) js.Binding {
	n, ok := toInt(value)
	if !ok {
		return js.Binding{Kind: js.BindUnusable, Reason: "an integer of more than 64 bits"}
	}
	return js.Binding{Kind: js.BindInt, Int: n}
}

// foldRounded folds a number that JavaScript may have rounded: what its initialiser says counts, if it is a plain number.
func foldRounded(v *scope.Variable) js.Binding {
	if v != nil {
		if n, ok := literalInt(v.Init); ok {
			return js.Binding{Kind: js.BindInt, Int: n}
		}
	}
	return imprecise()
}

// imprecise is the binding of a number that lost digits in JavaScript.
func imprecise() js.Binding {
	return js.Binding{Kind: js.BindUnusable, Reason: "a number beyond 2^53, which JavaScript has rounded",
		Hint: "write it as a BigInt: 0x7fffffffffffffffn"}
}

// literalInt is the exact value of a number as it is written.
func literalInt(e ast.Expression) (int64, bool) {
	lit, ok := e.(*ast.NumberLiteral)
	if !ok {
		return 0, false
	}
	n, ok := new(big.Int).SetString(strings.TrimSuffix(strings.ReplaceAll(lit.Literal, "_", ""), "n"), 0)
	if !ok || !n.IsUint64() && !n.IsInt64() {
		return 0, false
	}
	if n.IsInt64() {
		return n.Int64(), true
	}
	return int64(n.Uint64()), true
}

// object folds functions, aggregations, and plain objects whose members do not change.
func (f *folding) object(obj *goja.Object, v *scope.Variable) js.Binding {
	if agg := f.s.aggregateOf(obj); agg != nil {
		return js.Binding{Kind: agg.binding(), Object: agg.id}
	}
	if _, ok := goja.AssertFunction(obj); ok {
		return f.callable(obj)
	}
	if b, ok := f.namespace(obj, v); ok {
		return b
	}
	return js.Binding{Kind: js.BindUnusable, Reason: describe(obj), Hint: hintFor(obj)}
}

func hintFor(obj *goja.Object) string {
	switch obj.ClassName() {
	case "Array":
		return "use a map(), or separate variables"
	case "RegExp":
		return "compare with === or startsWith, or look at the text in the exit callback"
	case "Object":
		return "use separate variables, a map() or this"
	}
	return "use it in a callback"
}

// callable folds a function value.
func (f *folding) callable(obj *goja.Object) js.Binding {
	lit, ok := f.s.literal(obj)
	if !ok {
		if name := f.s.builtinOf(obj); name != "" {
			if b, host := hostOnly[name]; host {
				return b
			}
			return js.Binding{Kind: js.BindBuiltin, Text: name}
		}
		return js.Binding{Kind: js.BindUnusable, Reason: "a function of host JavaScript", Hint: "call it in a callback"}
	}
	if lit.lit.Why != "" {
		return js.Binding{Kind: js.BindUnusable, Reason: lit.lit.Why, Hint: "use a plain function"}
	}
	fn, _ := f.function(obj)
	return js.Binding{Kind: js.BindFunction, Func: fn}
}

// namespace folds a plain object: an imported module, or a constant record of settings.
func (f *folding) namespace(obj *goja.Object, v *scope.Variable) (js.Binding, bool) {
	if obj.ClassName() != "Object" || v != nil && v.Mutated {
		return js.Binding{}, false
	}
	if proto := obj.Prototype(); proto != nil && proto != f.s.objectPrototype {
		return js.Binding{}, false
	}
	if n := f.objs[obj]; n != nil {
		return js.Binding{Kind: js.BindNamespace, Scope: n}, true
	}
	n := &names{bindings: map[string]js.Binding{}, visible: obj.Keys()}
	f.objs[obj] = n
	for _, key := range n.visible {
		value, err := f.s.get(obj, key)
		if err != nil || value == nil {
			continue
		}
		var member *scope.Variable
		if v != nil {
			member = v.Member(key)
		}
		n.bindings[key] = f.value(value, member)
	}
	return js.Binding{Kind: js.BindNamespace, Scope: n}, true
}

// get reads a property, whose getter may throw.
func (s *Script) get(obj *goja.Object, key string) (v goja.Value, err error) {
	if ex := s.vm.Try(func() { v = obj.Get(key) }); ex != nil {
		return nil, ex
	}
	return v, nil
}
