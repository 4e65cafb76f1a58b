package lower

import (
	"github.com/dop251/goja/ast"

	"gotap/compile/js"
	"gotap/compile/js/builtin"
	"gotap/compile/js/operand"
	"gotap/compile/js/tree"
)

// handlerParams binds the parameters of a handler: one is the context, or a pattern of what is wanted of it;
// several mirror the parameters of the function that is probed.
func (n *binder) handlerParams(p *ast.ParameterList) {
	if p.Rest != nil {
		n.l.Errorf(n.l.At(p.Rest), "name the arguments that are wanted, or take the context: c => …", "a program cannot have a rest parameter")
	}
	if len(p.List) == 1 {
		n.contextParam(p.List[0])
		return
	}
	for i, b := range p.List {
		n.mirror(i, b)
	}
}

func (n *binder) contextParam(b *ast.Binding) {
	if b.Initializer != nil {
		n.l.Errorf(n.l.At(b.Initializer), "drop it: the context is always there", "the context cannot have a default")
	}
	n.bindPattern(b.Target, operand.Context{}, true)
}

// mirror binds parameter i of a handler that mirrors the probed function: it is argument i.
func (n *binder) mirror(i int, b *ast.Binding) {
	at := n.l.At(b.Target)
	id, ok := b.Target.(*ast.Identifier)
	switch {
	case !ok:
		n.l.Errorf(at, "with one parameter alone it is the context: ({ arg0, arg1 }) => …", "a parameter that stands for an argument has a plain name")
		n.bindBad(b.Target)
		return
	case b.Initializer != nil:
		n.l.Errorf(n.l.At(b.Initializer), "drop the default", "an argument is always there")
	case n.l.fetch.Handler == js.Leave:
		n.l.Errorf(at, "take the context alone: leave(c) { … c.ret … }", "the arguments are not available when the function returns")
		n.bindBad(b.Target)
		return
	case i >= builtin.MaxArgs:
		n.l.Errorf(at, "read the stack: u64(c.sp + …)", "only %d arguments are available", builtin.MaxArgs)
		n.bindBad(b.Target)
		return
	}
	sym := n.declare(id.Name.String(), at)
	n.initialise(sym, n.l.fetch.Argument(i, at), n.assigned(id.Name.String()))
}

// functionVars declares what var declares in a function: the whole function knows it, and it is 0 at first.
func (n *binder) functionVars(vars []*ast.VariableDeclaration) {
	for _, v := range vars {
		for _, b := range v.List {
			n.patternNames(b.Target, func(id *ast.Identifier) {
				name := id.Name.String()
				if n.scope.Names[name] == nil {
					sym := n.declare(name, n.l.At(id))
					sym.Slot = n.l.ops.Slots.Take(tree.KindNone)
					n.zero(sym)
				}
			})
		}
	}
}

// zero makes a variable without initialiser 0, whatever its type turns out to be.
func (n *binder) zero(sym *operand.Symbol) {
	z := &tree.Expr{Code: tree.CodeZero, Kind: tree.KindInt, At: sym.At, Slot: sym.Slot, StackNeed: 1}
	n.l.stmts.add(tree.Eval(tree.Set(sym.At, sym.Slot, z)))
}
