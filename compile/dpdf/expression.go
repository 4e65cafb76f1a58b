package dpdf

import (
	"strconv"
	"strings"

	"gotap/compile/diag"
)

// number is the value of an expression: a constant, added to a symbol when there is one.
// Symbols are not resolved here: the file may be built where the module is not.
type number struct {
	symbol string
	value  int64
}

// evaluator reads one expression; operators have C's precedence.
// Recursive descent, one function for all levels of binary operators.
type evaluator struct {
	l       line
	at      int
	symbols bool // words may be symbols
	diags   *diag.List
	failed  bool
	depth   int // brackets and signs around what is being read
	dead    int // operators around it that do not use its value: 0 && 1/0 is not an error
}

// maxDepth is how many brackets and signs may stand around a number.
// Reading recurses; the limit keeps a file from exhausting Go's stack.
const maxDepth = 100

// levels are the binary operators, the loosest first.
var levels = [][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", "<=", ">", ">="}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

// evaluate is the value of a whole line of tokens; ok is false when an error was reported.
func evaluate(l line, at diag.Span, symbols bool, diags *diag.List) (n number, ok bool) {
	e := evaluator{l: l, symbols: symbols, diags: diags}
	if len(l) == 0 {
		diags.Errorf(at, "", "a number is missing")
		return number{}, false
	}
	n = e.choice()
	if e.at < len(l) {
		e.fail(l[e.at].span, "%q does not belong here", l[e.at].text)
	}
	return n, !e.failed
}

// fail reports the first error of the expression.
func (e *evaluator) fail(at diag.Span, format string, args ...any) {
	hint := ""
	if e.symbols {
		hint = "a symbol with other characters, as of C++, stands in quotes"
	}
	if !e.failed {
		e.diags.Errorf(at, hint, format, args...)
	}
	e.failed, e.at = true, len(e.l)
}

// accept takes one of several marks.
func (e *evaluator) accept(marks ...string) (token, bool) {
	if e.at < len(e.l) && e.l[e.at].kind == markToken {
		for _, m := range marks {
			if e.l[e.at].text == m {
				e.at++
				return e.l[e.at-1], true
			}
		}
	}
	return token{}, false
}

// choice reads "c ? a : b", or what has no such operator.
func (e *evaluator) choice() number {
	n := e.binary(0)
	if _, ok := e.accept("?"); !ok {
		return n
	}
	if e.depth++; e.depth > maxDepth {
		e.fail(e.l[0].span, "more than %d brackets and signs are nested", maxDepth)
		return number{}
	}
	defer func() { e.depth-- }()
	a := e.deadIf(n.value == 0, e.choice)
	if _, ok := e.accept(":"); !ok {
		e.fail(e.l[min(e.at, len(e.l)-1)].span, "this ? has no :")
		return number{}
	}
	b := e.deadIf(n.value != 0, e.choice)
	if n.value != 0 {
		return a
	}
	return b
}

// deadIf reads what has no value when the condition holds.
func (e *evaluator) deadIf(dead bool, read func() number) number {
	if !dead {
		return read()
	}
	e.dead++
	defer func() { e.dead-- }()
	return read()
}

// binary reads operators of a level and tighter ones.
func (e *evaluator) binary(level int) number {
	if level == len(levels) {
		return e.unary()
	}
	a := e.binary(level + 1)
	for {
		op, ok := e.accept(levels[level]...)
		if !ok {
			return a
		}
		decided := op.text == "&&" && a.value == 0 || op.text == "||" && a.value != 0
		a = e.apply(op, a, e.deadIf(decided, func() number { return e.binary(level + 1) }))
	}
}

// apply works out one operator. A symbol may only be added to. A place is a symbol and a
// distance. Products and differences of symbols are numbers only when the module is loaded.
func (e *evaluator) apply(op token, a, b number) number {
	switch {
	case op.text == "+" && (a.symbol == "" || b.symbol == ""):
		return number{a.symbol + b.symbol, a.value + b.value}
	case op.text == "-" && b.symbol == "":
		return number{a.symbol, a.value - b.value}
	case a.symbol != "" || b.symbol != "":
		e.fail(op.span, "only a number can be added to a symbol or taken from it")
		return number{}
	case (op.text == "/" || op.text == "%") && b.value == 0:
		if e.dead == 0 {
			e.fail(op.span, "division by 0")
		}
		return number{}
	}
	return number{value: constant(op.text, a.value, b.value)}
}

// constant works out an operator on numbers; divisors are not 0.
// Arithmetic wraps at 64 bits, and >> is logical, as the machine's shr is.
func constant(op string, a, b int64) int64 {
	switch op {
	case "|":
		return a | b
	case "^":
		return a ^ b
	case "&":
		return a & b
	case "<<":
		return a << (uint64(b) & 63)
	case ">>":
		return int64(uint64(a) >> (uint64(b) & 63))
	case "*":
		return a * b
	case "/":
		return a / b
	case "%":
		return a % b
	}
	return truth(op, a, b)
}

// truth works out an operator whose value is 0 or 1. Numbers are signed.
func truth(op string, a, b int64) int64 {
	var is bool
	switch op {
	case "||":
		is = a != 0 || b != 0
	case "&&":
		is = a != 0 && b != 0
	case "==":
		is = a == b
	case "!=":
		is = a != b
	case "<":
		is = a < b
	case "<=":
		is = a <= b
	case ">":
		is = a > b
	default:
		is = a >= b
	}
	if is {
		return 1
	}
	return 0
}

// unary reads signs, brackets, numbers and symbols.
func (e *evaluator) unary() number {
	e.depth++
	defer func() { e.depth-- }()
	if e.depth > maxDepth {
		e.fail(e.l[0].span, "more than %d brackets and signs are nested", maxDepth)
		return number{}
	}
	if op, ok := e.accept("-", "~", "+", "!"); ok {
		n := e.unary()
		if n.symbol != "" && op.text != "+" {
			e.fail(op.span, "only a number can be added to a symbol or taken from it")
		}
		switch op.text {
		case "-":
			n.value = -n.value
		case "~":
			n.value = ^n.value
		case "!":
			n.value = truth("==", n.value, 0)
		}
		return n
	}
	if open, ok := e.accept("("); ok {
		n := e.choice()
		if _, ok := e.accept(")"); !ok {
			e.fail(open.span, "the closing bracket is missing")
		}
		return n
	}
	return e.leaf()
}

// leaf reads a number or a symbol.
func (e *evaluator) leaf() number {
	if e.at >= len(e.l) {
		if len(e.l) > 0 {
			e.fail(e.l[len(e.l)-1].span, "a number is missing after this")
		}
		return number{}
	}
	t := e.l[e.at]
	e.at++
	switch {
	case t.kind == numberToken:
		return number{value: e.literal(t)}
	case t.kind == wordToken && e.symbols:
		return number{symbol: t.text + e.tail()}
	case t.kind == wordToken:
		e.fail(t.span, "%q is not a number, and not defined", t.text)
	default:
		e.fail(t.span, "expected a number, found %q", t.text)
	}
	return number{}
}

// tail is the rest of a symbol of C++ or of the linker: "::bar", ".part.0", "@GLIBC".
func (e *evaluator) tail() (text string) {
	for e.at < len(e.l) && e.l[e.at].glued {
		t := e.l[e.at]
		joins := t.kind == wordToken || t.kind == numberToken || t.text == ":" || t.text == "." || t.text == "@" || t.text == "$"
		if !joins {
			break
		}
		text += t.text
		e.at++
	}
	return text
}

// literal is the value of a number: decimal, 0x hexadecimal, 0 octal, or a character. What C puts behind a number
// to give it a type is passed over: files share their constants with programs.
func (e *evaluator) literal(t token) int64 {
	if t.text[0] == '\'' {
		if t.text[1] == '\\' {
			return int64(characters[t.text[2]])
		}
		return int64(t.text[1])
	}
	v, err := strconv.ParseUint(strings.TrimRight(t.text, "uUlL"), 0, 64)
	if err != nil {
		e.fail(t.span, "%q is not a 64-bit number", t.text)
	}
	return int64(v)
}
