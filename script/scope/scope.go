package scope

import (
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// Kind is the kind of a declaration.
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
	Init     ast.Expression // the initialiser, if the declaration is a plain name
	Simple   bool           // declared by a plain name, not by a pattern
	Assigned int            // number of assignments after the declaration, without the update of its own for loop
	Top      bool           // declared at the top level of its file
	Mutated  bool           // a member of its value is assigned somewhere
	Slot     int            // number of the shared slot, or -1

	scope  *Scope
	loop   *ast.ForStatement // the loop whose head declares it
	inFunc bool              // used in a function that may become a program
}

// Scope is a region of text with its own names.
type Scope struct {
	Outer *Scope
	vars  map[string]*Variable
	fn    *Function // the function whose body contains it, nil at the top level
	top   bool      // the top level of the file
	hoist bool      // var declarations belong to this scope
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
	Scope    *Scope         // the enclosing scope
	Captures []*Variable    // outer variables that it uses, without those in slots, in order of first use
	Why      string         // not empty: why it cannot be a program ("an async function")
	Callback bool           // certainly a callback: it is not registered

	outer *Function
	seen  map[*Variable]bool
}

// Call is a call expression with information about its surroundings.
type Call struct {
	Node *ast.CallExpression
	Name string // the variable its result initialises, or ""
}

// Info is the result of the analysis of one tree.
type Info struct {
	Top       *Scope
	Functions []*Function
	Slots     []*Variable          // shared slots by number, counted from the options' first
	Calls     map[file.Idx]Call    // by the position of the opening parenthesis
	RegExps   []*ast.RegExpLiteral // all in the tree
	Numbers   []*ast.NumberLiteral // all in the tree
	Texts     []string             // literal texts, including those of templates
	Unfilled  []*ast.StringLiteral // formats followed by values, passed to functions that do not interpret formats
	edits     []func()             // changes to the tree, inner nodes before outer ones
	stmts     []func()             // changes to statement lists, after the edits
}

// Names returns, sorted, the variables of the text that its functions can see. They are the candidates for a misspelt
// name.
func (i *Info) Names() []string {
	names := i.Top.Names()
	for _, f := range i.Functions {
		names = append(names, f.Scope.Names()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Options contain the first numbers for this file's functions and slots, which are unique in a script of several files.
type Options struct {
	FirstFunction, FirstSlot int

	// Keep also gives slots to variables that no program uses, so that the next version of the script can keep their
	// values.
	Keep bool
}

// lasting reports whether a script may count or store something in a variable: its initial value is a number, text or
// truth value. It need not change here: the next version of a script may only print what this one counted.
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
	order  int // its place among the edits
}

// isUpdate reports whether an operator is += or -=, which become atomic on shared variables.
func isUpdate(op token.Token) bool { return op == token.PLUS || op == token.MINUS }
