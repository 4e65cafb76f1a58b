package tree

import (
	"gotap/compile"
	"gotap/compile/diag"
)

// Handler is a checked handler.
type Handler struct {
	Body  []Stmt
	Temps int
	At    diag.Span
}

// StmtCode is what a statement of the tree does.
type StmtCode uint8

const (
	StmtEval  StmtCode = iota // e, without its value
	StmtIf                    // e ? body : alt
	StmtLoop                  // loop
	StmtJump                  // to label
	StmtLabel                 // label is here
	StmtEnd                   // the program ends
)

// Stmt is a statement of the tree.
type Stmt struct {
	Code  StmtCode
	At    diag.Span
	Expr  *Expr
	Body  []Stmt
	Alt   []Stmt
	Label *Label
	Loop  *Loop
}

// Loop is any of the loops of the language.
type Loop struct {
	Test     *Expr // nil: for ever
	Body     []Stmt
	Post     []Stmt
	Next     *Label // continue goes there
	Done     *Label // break goes there
	TestLast bool   // do … while
}

// Label is a place in a program that is jumped to.
type Label struct {
	Jumps  int           // jumps to it in the tree
	Target compile.Label // once the emitter has met it
	Made   bool          // target is valid
	Live   bool          // a jump to it was emitted
	Depth  int           // words on the stack there
}

// children calls f for the statement's parts.
func (s *Stmt) children(f func(*Expr), g func([]Stmt)) {
	if s.Expr != nil {
		f(s.Expr)
	}
	g(s.Body)
	g(s.Alt)
	if s.Loop != nil {
		if s.Loop.Test != nil {
			f(s.Loop.Test)
		}
		g(s.Loop.Body)
		g(s.Loop.Post)
	}
}

func (s *Stmt) effects() (all Effect) {
	if s.Code == StmtEnd {
		return Writes
	}
	s.children(func(e *Expr) { all |= e.Effects }, func(list []Stmt) {
		for i := range list {
			all |= list[i].effects()
		}
	})
	return all
}

func (s *Stmt) need() (most int) {
	s.children(func(e *Expr) { most = max(most, e.StackNeed) }, func(list []Stmt) {
		for i := range list {
			most = max(most, list[i].need())
		}
	})
	return most
}

func Eval(e *Expr) Stmt { return Stmt{Code: StmtEval, Expr: e, At: e.At} }

func (l *Label) Jump(at diag.Span) Stmt {
	l.Jumps++
	return Stmt{Code: StmtJump, Label: l, At: at}
}

func (l *Label) Here() Stmt { return Stmt{Code: StmtLabel, Label: l} }

// NeverFallsThrough reports whether control never reaches the end of the statements.
func NeverFallsThrough(list []Stmt) bool {
	dead := false
	for i := range list {
		s := &list[i]
		if s.Code == StmtLabel {
			dead = dead && s.Label.Jumps == 0
			continue
		}
		dead = dead || s.endsHere()
	}
	return dead
}

func (s *Stmt) endsHere() bool {
	switch s.Code {
	case StmtJump, StmtEnd:
		return true
	case StmtEval:
		return s.Expr.Kind == KindNever
	case StmtIf:
		return NeverFallsThrough(s.Body) && NeverFallsThrough(s.Alt)
	case StmtLoop:
		return s.Loop.Test == nil && s.Loop.Done.Jumps == 0
	}
	return false
}
