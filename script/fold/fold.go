package fold

import (
	"math/big"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"

	"gotap/compile/js"
	"gotap/script/aggregate"
	"gotap/script/jsvm"
	"gotap/script/load"
	"gotap/script/scope"
	"gotap/script/source"
	"gotap/script/variable"
)

// names are the meanings of the free names of one function, as plain data. They do not change once made.
type names struct {
	bindings map[string]js.Binding
	visible  []string
}

// Lookup finds a binding.
func (n *names) Lookup(name string) (js.Binding, bool) {
	b, ok := n.bindings[name]
	return b, ok
}

// Names lists the visible names, for hints.
func (n *names) Names() []string { return n.visible }

// Folder folds the function values of one script.
type Folder struct {
	HostOnly map[string]js.Binding // names of the host that mean nothing in programs

	m     *jsvm.Machine
	files *source.Files
	aggs  *aggregate.Aggregates
	vars  *variable.Variables

	symFunction, symGetter *goja.Symbol
}

// New makes a Folder.
func New(m *jsvm.Machine, aggs *aggregate.Aggregates, vars *variable.Variables, hostOnly map[string]js.Binding) *Folder {
	return &Folder{HostOnly: hostOnly, m: m, files: m.Files, aggs: aggs, vars: vars,
		symFunction: goja.NewSymbol("function"), symGetter: goja.NewSymbol("getter")}
}

// Register implements the function around every function literal in rewritten code: (number, function, getter of
// captures).
func (f *Folder) Register(call goja.FunctionCall) goja.Value {
	fn := call.Argument(1).(*goja.Object)
	f.m.Hide(fn, f.symFunction, call.Argument(0))
	if len(call.Arguments) > 2 {
		f.m.Hide(fn, f.symGetter, call.Argument(2))
	}
	return fn
}

// Literal finds the literal that a function value came from.
func (f *Folder) Literal(fn *goja.Object) (*source.Function, bool) {
	v := fn.GetSymbol(f.symFunction)
	if v == nil || goja.IsUndefined(v) {
		return nil, false
	}
	return f.files.Functions[v.ToInteger()], true
}

// Folding is one traversal from function values to everything they refer to. It ends, because it visits each value
// once.
type Folding struct {
	f       *Folder
	done    map[*goja.Object]*js.Function
	objects map[*goja.Object]*names
}

// Begin starts a traversal.
func (f *Folder) Begin() *Folding {
	return &Folding{f, map[*goja.Object]*js.Function{}, map[*goja.Object]*names{}}
}

// Function folds a function value; ok is false when it does not come from a literal of the script.
func (f *Folding) Function(obj *goja.Object) (*js.Function, bool) {
	if fn := f.done[obj]; fn != nil {
		return fn, true
	}
	lit, ok := f.f.Literal(obj)
	if !ok {
		return nil, false
	}
	n := &names{bindings: map[string]js.Binding{}, visible: lit.Scope.Names()}
	fn := &js.Function{Node: lit.Node, Scope: n, Source: lit.File.Source, Base: load.Base}
	f.done[obj] = fn
	f.captures(lit, obj, n)
	f.slots(lit, n)
	f.hostNames(lit, n)
	return fn, true
}

// captures folds what a function has captured, reading each variable by its getter.
func (f *Folding) captures(lit *source.Function, obj *goja.Object, n *names) {
	get, _ := goja.AssertFunction(obj.GetSymbol(f.f.symGetter))
	for i, v := range lit.Captures {
		if get == nil {
			return
		}
		value, err := get(goja.Undefined(), f.f.m.VM.ToValue(i))
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

// changing returns the binding of a variable whose value at a hit may differ from that at registration.
func changing(v *scope.Variable) js.Binding {
	hint := "copy it first: const copy = " + v.Name
	if v.Top {
		hint = "declare it by itself, with let and an integer or text, and programs share it"
	}
	return js.Binding{Kind: js.BindUnusable, Reason: "changes after the probe is registered", Hint: hint}
}

// slots binds the shared variables a function can see.
func (f *Folding) slots(lit *source.Function, n *names) {
	for _, sl := range f.f.vars.Slots() {
		if sl.File == lit.File && lit.Scope.Lookup(sl.Var.Name) == sl.Var && mentions(lit.Node, sl.Var.Name) {
			n.bindings[sl.Var.Name] = f.f.vars.Bind(sl, f.value)
		}
	}
}

// mentions reports whether a function's text contains a name: a variable is shared only when a program uses it.
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
func (f *Folding) hostNames(lit *source.Function, n *names) {
	for name, b := range f.f.HostOnly {
		if lit.Scope.Lookup(name) == nil {
			n.bindings[name] = b
		}
	}
}

// value folds one value. The variable that holds it may be nil.
func (f *Folding) value(value goja.Value, v *scope.Variable) js.Binding {
	if v != nil && goja.IsNumber(value) && v.Fractional(js.IsFloat) {
		return js.Binding{Kind: js.BindFloat, Float: value.ToFloat()}
	}
	if jsvm.Rounded(value) {
		return foldRounded(v)
	}
	switch n := value.Export().(type) {
	case int64, *big.Int:
		return foldInt(value)
	case float64:
		if _, whole := jsvm.ToInt(value); whole {
			return foldInt(value)
		}
		return js.Binding{Kind: js.BindFloat, Float: n}
	case bool:
		return js.Binding{Kind: js.BindBool, Int: jsvm.BoolInt(n)}
	case string:
		if !goja.IsString(value) {
			return js.Binding{Kind: js.BindUnusable, Reason: "a symbol", Hint: "give it a number or a text"}
		}
		return js.Binding{Kind: js.BindText, Text: value.String()}
	}
	obj, ok := value.(*goja.Object)
	if !ok {
		return js.Binding{Kind: js.BindUnusable, Reason: "is " + jsvm.Describe(value), Hint: "give it a number or a text"}
	}
	return f.object(obj, v)
}

// foldInt folds an integer.
func foldInt(value goja.Value) js.Binding {
	n, ok := jsvm.ToInt(value)
	if !ok {
		return js.Binding{Kind: js.BindUnusable, Reason: "an integer of more than 64 bits"}
	}
	return js.Binding{Kind: js.BindInt, Int: n}
}

// foldRounded folds a number that JavaScript may have rounded: the value of its initialiser, if that is a plain number.
func foldRounded(v *scope.Variable) js.Binding {
	if v != nil {
		if n, ok := literalInt(v.Init); ok {
			return js.Binding{Kind: js.BindInt, Int: n}
		}
	}
	return variable.Imprecise()
}

// literalInt returns the exact value of a number as written.
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
func (f *Folding) object(obj *goja.Object, v *scope.Variable) js.Binding {
	if agg := f.f.aggs.Of(obj); agg != nil {
		return agg.Binding()
	}
	if _, ok := goja.AssertFunction(obj); ok {
		return f.callable(obj)
	}
	if b, ok := f.namespace(obj, v); ok {
		return b
	}
	return js.Binding{Kind: js.BindUnusable, Reason: jsvm.Describe(obj), Hint: hintFor(obj)}
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
func (f *Folding) callable(obj *goja.Object) js.Binding {
	lit, ok := f.f.Literal(obj)
	if !ok {
		if name := f.f.m.BuiltinName(obj); name != "" {
			if b, host := f.f.HostOnly[name]; host {
				return b
			}
			return js.Binding{Kind: js.BindBuiltin, Text: name}
		}
		return js.Binding{Kind: js.BindUnusable, Reason: "a function of host JavaScript", Hint: "call it in a callback"}
	}
	if lit.Why != "" {
		return js.Binding{Kind: js.BindUnusable, Reason: lit.Why, Hint: "use a plain function"}
	}
	fn, _ := f.Function(obj)
	return js.Binding{Kind: js.BindFunction, Func: fn}
}

// namespace folds a plain object: an imported module, or a constant record of settings.
func (f *Folding) namespace(obj *goja.Object, v *scope.Variable) (js.Binding, bool) {
	if !f.f.m.IsPlain(obj) || v != nil && v.Mutated {
		return js.Binding{}, false
	}
	if n := f.objects[obj]; n != nil {
		return js.Binding{Kind: js.BindNamespace, Scope: n}, true
	}
	n := &names{bindings: map[string]js.Binding{}, visible: obj.Keys()}
	f.objects[obj] = n
	for _, key := range n.visible {
		value, err := f.f.m.Property(obj, key)
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
