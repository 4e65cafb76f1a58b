package limits

import (
	"fmt"
	"math/big"

	"github.com/dop251/goja"

	"gotap/script/jsvm"
	"gotap/script/scope"
)

// maxBigBits is the size beyond which ** and shifts refuse a BigInt: the engine computes one in a single step, which
// cannot be interrupted.
const maxBigBits = 1 << 24

// powers makes the functions that ** and shifts become in rewritten scripts: of (base, exponent), (object, key,
// exponent) and (places).
const powers = `(checkPower, checkShift) => {
	const numeric = v => typeof v === "object" || typeof v === "function" ? -(-v) : v;
	const power = (a, b) => {
		a = numeric(a), b = numeric(b);
		checkPower(a, b);
		return a ** b;
	};
	return [power, (o, k, b) => o[k] = power(o[k], b), n => (checkShift(n = numeric(n)), n)];
}`

// installPowers defines them.
func (l *limiter) installPowers() {
	// This cannot fail: the text is ours.
	v, _ := l.vm.RunString(`"use strict"; ` + powers)
	makeAll, _ := goja.AssertFunction(v)
	all := jsvm.OrThrow(makeAll(nil, l.vm.ToValue(l.m.Guarded("", l.checkPower)), l.vm.ToValue(l.m.Guarded("", l.checkShift)))).(*goja.Object)
	for i, name := range []string{scope.NamePower, scope.NamePowerAt, scope.NameShift} {
		l.vm.Set(name, all.Get(fmt.Sprint(i)))
	}
}

// checkPower refuses a power that would be too large. 0, 1 and -1 stay small, whatever the exponent.
func (l *limiter) checkPower(c goja.FunctionCall) goja.Value {
	base, isBig := c.Argument(0).Export().(*big.Int)
	exponent, areBig := c.Argument(1).Export().(*big.Int)
	if isBig && areBig && base.BitLen() > 1 && (!exponent.IsInt64() || exponent.Int64() > maxBigBits/int64(base.BitLen()-1)) {
		panic(l.tooManyBits())
	}
	return nil
}

// checkShift refuses to shift by more places than a BigInt may have.
func (l *limiter) checkShift(c goja.FunctionCall) goja.Value {
	if n, ok := c.Argument(0).Export().(*big.Int); ok && (!n.IsInt64() || n.Int64() > maxBigBits || n.Int64() < -maxBigBits) {
		panic(l.tooManyBits())
	}
	return nil
}

func (l *limiter) tooManyBits() goja.Value {
	return l.m.RangeError(fmt.Sprintf("the BigInt would have more than %d bits", maxBigBits))
}
