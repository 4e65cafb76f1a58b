package js

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"gotap/compile/diag"
	"gotap/runtime"
)

// number is a number of the text. Its digits decide, not what JavaScript makes of them: all 64 bits of an integer count, and a number
// with a point or an exponent is a float.
func (l *lowering) number(n *ast.NumberLiteral) *expr {
	at := l.at(n)
	v, f, isFloat, ok := parseNumber(n.Literal)
	switch {
	case !ok:
		l.errorf(at, "integers have 64 bits", "the number %s does not fit", n.Literal)
		return poison(at)
	case isFloat:
		return constant(at, kindFloat, math.Float64bits(f))
	case v > 1<<63 && n.Literal[0] != '0': // 2^63 itself is what a minus stands before
		l.warnf(at, "ult(a, b) compares unsigned values; bits are written as 0x…", "integers have 64 bits and a sign: this is %d", int64(v))
	}
	return constant(at, kindInt, v)
}

// parseNumber reads a number literal. Integers up to 2^64-1 are taken; from 2^63 on they wrap.
func parseNumber(s string) (v uint64, f float64, isFloat, ok bool) {
	digits := strings.ToLower(strings.ReplaceAll(s, "_", ""))
	digits = strings.TrimSuffix(digits, "n")
	if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' && !strings.ContainsAny(digits, "89.e") {
		digits = "0o" + digits[1:]
	}
	if len(digits) > 1 && digits[0] == '0' && strings.ContainsRune("xob", rune(digits[1])) {
		v, err := strconv.ParseUint(digits, 0, 64)
		return v, 0, false, err == nil
	}
	if !strings.ContainsAny(digits, ".e") {
		v, err := strconv.ParseUint(digits, 10, 64)
		return v, 0, false, err == nil
	}
	f, err := strconv.ParseFloat(digits, 64)
	return 0, f, true, err == nil || errors.Is(err, strconv.ErrRange) // 1e999 is Infinity
}

// IsFloat reports whether a number of the text is a float in programs, from how it is written.
func IsFloat(literal string) bool {
	_, _, isFloat, ok := parseNumber(literal)
	return isFloat && ok
}

// operation is how an operator works on each type; an operation that is OpNop there is refused.
type operation struct{ int, float runtime.Op }

var operations = map[token.Token]operation{
	token.PLUS:                 {runtime.OpAdd, runtime.OpFadd},
	token.MINUS:                {runtime.OpSub, runtime.OpFsub},
	token.MULTIPLY:             {runtime.OpMul, runtime.OpFmul},
	token.SLASH:                {runtime.OpQuo, runtime.OpFdiv},
	token.REMAINDER:            {runtime.OpRem, runtime.OpFrem},
	token.AND:                  {int: runtime.OpAnd},
	token.OR:                   {int: runtime.OpOr},
	token.EXCLUSIVE_OR:         {int: runtime.OpXor},
	token.SHIFT_LEFT:           {int: runtime.OpShl},
	token.SHIFT_RIGHT:          {int: runtime.OpSar},
	token.UNSIGNED_SHIFT_RIGHT: {int: runtime.OpShr},
	token.LESS:                 {runtime.OpLt, runtime.OpFlt},
	token.LESS_OR_EQUAL:        {runtime.OpLe, runtime.OpFle},
	token.GREATER:              {runtime.OpGt, runtime.OpFlt}, // floats: with the sides exchanged
	token.GREATER_OR_EQUAL:     {runtime.OpGe, runtime.OpFle},
	token.EQUAL:                {runtime.OpEq, runtime.OpFeq},
	token.STRICT_EQUAL:         {runtime.OpEq, runtime.OpFeq},
	token.NOT_EQUAL:            {runtime.OpNe, runtime.OpFne},
	token.STRICT_NOT_EQUAL:     {runtime.OpNe, runtime.OpFne},
}

func isComparison(t token.Token) bool {
	return t >= token.EQUAL && t <= token.GREATER || t >= token.NOT_EQUAL && t <= token.GREATER_OR_EQUAL
}

// binary is an operator between two expressions.
func (l *lowering) binary(e *ast.BinaryExpression) *expr {
	at := l.at(e)
	switch e.Operator {
	case token.LOGICAL_AND, token.LOGICAL_OR:
		return l.logicalValue(e)
	case token.COALESCE:
		return l.coalesce(e)
	case token.EXPONENT, token.INSTANCEOF, token.IN:
		return l.refuse(e)
	}
	if isEquality(e.Operator) && (isNothing(e.Left) || isNothing(e.Right)) {
		return l.compareNothing(e)
	}
	left, right := l.value(e.Left), l.value(e.Right)
	l.surprise(e.Operator, at, left, right)
	if isComparison(e.Operator) {
		return l.compare(e.Operator, at, left, right)
	}
	return l.arithmetic(e.Operator, at, left, right)
}

func isEquality(t token.Token) bool {
	return t == token.EQUAL || t == token.STRICT_EQUAL || t == token.NOT_EQUAL || t == token.STRICT_NOT_EQUAL
}

// arithmetic is + - * / % & | ^ << >> >>> on two values.
func (l *lowering) arithmetic(op token.Token, at diag.Span, a, b *expr) *expr {
	ops, known := operations[op]
	switch {
	case a.kind == kindBad || b.kind == kindBad:
		return poison(at)
	case !known:
		l.errorf(at, "", "%s cannot be used in a program", op)
		return poison(at)
	case op == token.PLUS && (a.kind == kindText || b.kind == kindText):
		return l.concat(at, a, b)
	case !l.numbers(op, at, a, b):
		return poison(at)
	case a.kind == kindFloat || b.kind == kindFloat:
		if x, y, ok := bothWhole(a, b); ok && ops.float == runtime.OpNop {
			return fold(apply(at, kindInt, ops.int, x, y))
		}
		if ops.float == runtime.OpNop {
			l.errorf(at, "make an integer of the float with trunc(x)", "%s works on integers only", op)
			return poison(at)
		}
		return fold(apply(at, kindFloat, ops.float, toFloat(a), toFloat(b)))
	}
	if (op == token.SLASH || op == token.REMAINDER) && b.isConst() && b.cmd.V == 0 {
		l.warnf(at, "", "division by zero: every hit that comes here ends with a trap")
	}
	return fold(apply(at, kindInt, ops.int, a, b))
}

// numbers checks that both sides of an operator are numbers.
func (l *lowering) numbers(op token.Token, at diag.Span, a, b *expr) bool {
	for _, e := range []*expr{a, b} {
		if !e.kind.number() && !e.kind.silent() {
			l.errorf(at, numberHint(e.kind), "%s works on numbers: here is %s", op, e.kind)
			return false
		}
	}
	return true
}

// numberHint says how to get a number out of something.
func numberHint(k kind) string {
	switch k {
	case kindText:
		return "text has a .length and a hash(s)"
	case kindStack:
		return "a stack can only be logged, or be a key"
	}
	return "read numbers with u8(p), u32(p), …"
}

// concat is a + b where one is text.
func (l *lowering) concat(at diag.Span, a, b *expr) *expr {
	if a.code == codeText && b.isConst() && b.kind != kindFloat || b.code == codeText && a.isConst() && a.kind != kindFloat ||
		a.code == codeText && b.code == codeText {
		x, _ := textOf(a)
		y, _ := textOf(b)
		return l.constText(at, x.text+y.text)
	}
	for _, e := range []*expr{a, b} {
		if _, ok := textOf(e); !ok {
			l.errorf(e.at, "log it as an argument of its own, or in a template: log(`${…}`)", "cannot make text of %s here", e.kind)
			return poison(at)
		}
	}
	x, _ := textOf(l.shown(a))
	y, _ := textOf(l.shown(b))
	return apply(at, kindText, runtime.OpScat, x, y)
}

// compare is a comparison of two values: of numbers by size, of text by content.
func (l *lowering) compare(op token.Token, at diag.Span, a, b *expr) *expr {
	ops := operations[op]
	switch {
	case a.kind == kindBad || b.kind == kindBad:
		return poison(at)
	case a.kind == kindText && b.kind == kindText:
		return compareText(op, at, a, b)
	case a.kind == b.kind && (a.kind == kindBytes || a.kind == kindStack) && isEquality(op):
		return compareText(op, at, a, b)
	case a.kind.silent() || b.kind.silent():
		return apply(at, kindBool, ops.int, a, b)
	case l.meantText(a, b) || l.meantText(b, a):
		return poison(at)
	case !a.kind.number() || !b.kind.number():
		l.errorf(at, compareHint(a, b), "cannot compare %s with %s", a.kind, b.kind)
		return poison(at)
	}
	if x, y, ok := bothWhole(a, b); ok {
		return fold(apply(at, kindBool, ops.int, x, y))
	}
	a, b = toFloat(a), toFloat(b)
	if a.isConst() && b.isConst() {
		return boolean(at, compareFloats(op, float(a), float(b)))
	}
	if op == token.GREATER || op == token.GREATER_OR_EQUAL {
		return l.swapped(at, ops.float, a, b)
	}
	return apply(at, kindBool, ops.float, a, b)
}

// swapped is op on b and a, which are computed in the order they were written in.
func (l *lowering) swapped(at diag.Span, op runtime.Op, a, b *expr) *expr {
	if l.steady(a) || l.steady(b) {
		return apply(at, kindBool, op, b, a)
	}
	return apply(at, kindBool, op, (&expr{code: codeSwap, kind: kindFloat, at: at, args: []*expr{a, b}}).close())
}

func compareHint(a, b *expr) string {
	if a.kind == kindText || b.kind == kindText {
		return "read text from a pointer with str(p), a number from text is not possible"
	}
	return "compare values of one type"
}

// compareText compares by content.
func compareText(op token.Token, at diag.Span, a, b *expr) *expr {
	if a.code == codeText && b.code == codeText {
		return boolean(at, folds[operations[op].int](int64(strings.Compare(a.text, b.text)), 0) != 0)
	}
	switch op {
	case token.EQUAL, token.STRICT_EQUAL:
		return apply(at, kindBool, runtime.OpSeq, a, b)
	case token.NOT_EQUAL, token.STRICT_NOT_EQUAL:
		return apply(at, kindBool, runtime.OpLnot, apply(at, kindBool, runtime.OpSeq, a, b))
	}
	return apply(at, kindBool, operations[op].int, apply(at, kindInt, runtime.OpScmp, a, b), integer(at, 0))
}

func compareFloats(op token.Token, a, b float64) bool {
	switch op {
	case token.LESS:
		return a < b
	case token.LESS_OR_EQUAL:
		return a <= b
	case token.GREATER:
		return a > b
	case token.GREATER_OR_EQUAL:
		return a >= b
	case token.NOT_EQUAL, token.STRICT_NOT_EQUAL:
		return a != b
	}
	return a == b
}

// logicalValue is && or || for its value.
func (l *lowering) logicalValue(e *ast.BinaryExpression) *expr {
	at, and := l.at(e), e.Operator == token.LOGICAL_AND
	left, right := l.value(e.Left), l.any(e.Right)
	if right.kind == kindVoid { // x && log(…): an effect with a condition
		test := l.truth(left)
		if !and {
			test = l.not(test)
		}
		return l.choose(at, test, right, sequence(at, nil, nil))
	}
	k, ok := unify(left.kind, right.kind)
	if !ok {
		l.errorf(at, "compare with 0 or \"\" to get true or false", "one side is %s, the other %s", left.kind, right.kind)
		return poison(at)
	}
	left, right = convert(left, k), convert(right, k)
	if left.isConst() || left.code == codeText {
		if t := l.truth(left); t.isConst() {
			if (t.cmd.V != 0) == and {
				return right
			}
			return left
		}
	}
	return logical(and, at, left, right, k)
}

// coalesce is a ?? b. Only what a map gives can be missing; everything else is always there.
func (l *lowering) coalesce(e *ast.BinaryExpression) *expr {
	if isNothing(e.Left) {
		return l.value(e.Right)
	}
	if get, ok := l.mapGet(e.Left); ok {
		return get.orElse(l, l.at(e), e.Right)
	}
	left := l.any(e.Left)
	l.value(e.Right)
	return l.some(left, l.at(e.Left))
}

// isNothing reports whether an expression is written as null or undefined.
func isNothing(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.NullLiteral:
		return true
	case *ast.Identifier:
		return e.Name == "undefined"
	}
	return false
}

// compareNothing compares with undefined or null: a question that makes sense of a map only.
func (l *lowering) compareNothing(e *ast.BinaryExpression) *expr {
	at, other := l.at(e), e.Left
	if isNothing(other) {
		other = e.Right
	}
	if get, ok := l.mapGet(other); ok {
		has := get.has(l, at)
		if e.Operator == token.EQUAL || e.Operator == token.STRICT_EQUAL {
			return l.not(has)
		}
		return has
	}
	l.errorf(at, "an unset field of this reads 0, a missing key of a map too: compare with 0", "nothing in a program is ever undefined or null")
	return poison(at)
}

// unary is an operator before an expression, or ++ and --.
func (l *lowering) unary(e *ast.UnaryExpression) *expr {
	at := l.at(e)
	switch e.Operator {
	case token.INCREMENT, token.DECREMENT:
		return l.step(e, true)
	case token.NOT:
		return l.not(l.test(e.Operand))
	case token.MINUS:
		return l.sign(at, l.value(e.Operand), runtime.OpNeg, runtime.OpFneg)
	case token.BITWISE_NOT:
		operand := l.value(e.Operand)
		l.surpriseTwice(at, operand)
		return l.sign(at, operand, runtime.OpNot, runtime.OpNop)
	case token.PLUS:
		return l.sign(at, l.value(e.Operand), runtime.OpNop, runtime.OpNop)
	}
	return l.refuse(e)
}

// sign is an operator on one number; OpNop does nothing, and is no operation on floats for ~.
func (l *lowering) sign(at diag.Span, e *expr, ints, floats runtime.Op) *expr {
	switch {
	case e.kind.silent():
		return e
	case !e.kind.number():
		l.errorf(at, numberHint(e.kind), "this works on numbers: here is %s", e.kind)
		return poison(at)
	case e.kind == kindFloat && ints == runtime.OpNot:
		l.errorf(at, "make an integer of the float with trunc(x)", "~ works on integers only")
		return poison(at)
	case e.kind == kindFloat && floats != runtime.OpNop:
		return fold(apply(at, kindFloat, floats, e))
	case e.kind != kindFloat && ints != runtime.OpNop:
		return fold(apply(at, kindInt, ints, e))
	case e.kind == kindBool: // +true is 1
		return apply(at, kindInt, runtime.OpBool, e)
	}
	return e
}
