package scope

import (
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// Kind is how a variable is declared.
type Kind uint8

// The kinds of declarations.
const (
	Let Kind = iota
	Const
	Var
	Param
	Func
	Class
	Catch
)

// Variable is one declared name.
type Variable struct {
	Name     string
	Kind     Kind
	At       file.Idx
	Init     ast.Expression // the initialiser, when the declaration is a plain name
	Simple   bool           // declared by a plain name, not by a pattern
	Assigned int            // assignments after the declaration, the update of its own for loop not counted
	Top      bool           // declared at the top level of its file
	Mutated  bool           // a member of what it holds is assigned somewhere
	Slot     int            // number of the shared slot, or -1

	scope  *Scope
	loop   *ast.ForStatement // the loop whose head declares it
	inFunc bool              // used in a function that may become a program
}

// Scope is a region of text with its own names.
type Scope struct {
	Outer *Scope
	vars  map[string]*Variable
	fn    *Function // the function whose body it is in, nil at the top level
	top   bool      // the top level of the file
	hoist bool      // var declarations end here
}

// Lookup finds a variable from inside a scope.
func (s *Scope) Lookup(name string) *Variable {
	for ; s != nil; s = s.Outer {
		if v := s.vars[name]; v != nil {
			return v
		}
	}
	return nil
}

// Names lists all variables visible in a scope.
func (s *Scope) Names() []string {
	var names []string
	for ; s != nil; s = s.Outer {
		for name := range s.vars {
			names = append(names, name)
		}
	}
	return names
}

// Function is a function literal.
type Function struct {
	ID       int
	Node     ast.Expression // *ast.FunctionLiteral or *ast.ArrowFunctionLiteral
	Scope    *Scope         // what is around it
	Captures []*Variable    // variables around it that it uses, without those in slots; in the order first met
	Why      string         // not empty: why it can be no program ("an async function")
	Callback bool           // surely a callback: it is not registered

	outer *Function
	seen  map[*Variable]bool
}

// Call is a call expression with what is known about its surroundings.
type Call struct {
	Node *ast.CallExpression
	Name string // the variable its result initialises, or ""
}

// Info is what the analysis of one tree found.
type Info struct {
	Top       *Scope
	Functions []*Function
	Slots     []*Variable          // shared slots by number, counted from the options' first
	Calls     map[file.Idx]Call    // by the place of the opening parenthesis
	RegExps   []*ast.RegExpLiteral // all there are
	Numbers   []*ast.NumberLiteral // all there are
	Texts     []string             // literal texts, those of templates too
	Unfilled  []*ast.StringLiteral // formats with values behind them, given to what fills no formats in
	edits     []func()             // changes to the tree, inner before outer
	stmts     []func()             // changes to statement lists, after them
}

// Names lists the variables of the whole text that functions of it can see, sorted: what a misspelt name may have meant.
func (i *Info) Names() []string {
	names := i.Top.Names()
	for _, f := range i.Functions {
		names = append(names, f.Scope.Names()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Options say where the numbers of this file's functions and slots begin: they are unique in a script of several files.
type Options struct {
	FirstFunction, FirstSlot int

	// Keep gives slots to variables that no program uses, too, so that their values can go on in a next version of the script.
	Keep bool
}

// lasting reports whether a variable is one that a script may count or remember with: it begins with a number, text or truth value.
// It need not change here: the next version of a script may only print what this one counted.
func (v *Variable) lasting() bool {
	if v.Kind != Let && v.Kind != Var {
		return false
	}
	init := v.Init
	if minus, ok := init.(*ast.UnaryExpression); ok && minus.Operator == token.MINUS {
		init = minus.Operand
	}
	switch init.(type) {
	case *ast.NumberLiteral, *ast.StringLiteral, *ast.BooleanLiteral:
		return true
	}
	return false
}

// reference is one use of a name.
type reference struct {
	scope  *Scope
	fn     *Function
	id     *ast.Identifier
	write  bool
	member bool              // a member of it is written
	loop   *ast.ForStatement // inside the update of this loop
	edit   func(slot int) func()
	order  int // place among the edits
}

// isUpdate reports += and -=, which become atomic on shared variables.
func isUpdate(op token.Token) bool { return op == token.PLUS || op == token.MINUS }
