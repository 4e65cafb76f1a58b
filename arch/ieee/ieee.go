package ieee

// Format is a binary interchange format. Raw values are in the low bits of a uint64; the bits above are ignored in
// operands and zero in results.
type Format uint8

// The formats: binary16, binary32, binary64, and the upper half of binary32.
const (
	Half Format = iota
	Single
	Double
	BFloat16
)

// shape holds the parameters of a format.
type shape struct {
	frac uint  // bits of the stored significand
	exp  int32 // bits of the exponent
	bias int32
	bits uint
}

var shapes = [...]shape{
	Half:     {frac: 10, exp: 5, bias: 15, bits: 16},
	Single:   {frac: 23, exp: 8, bias: 127, bits: 32},
	Double:   {frac: 52, exp: 11, bias: 1023, bits: 64},
	BFloat16: {frac: 7, exp: 8, bias: 127, bits: 16},
}

// Bits returns the width of the format: 16, 32 or 64.
func (f Format) Bits() int { return int(shapes[f&3].bits) }

// shape returns the parameters of the format, and those of a valid one for an invalid format.
func (f Format) shape() *shape { return &shapes[f&3] }

func (s *shape) sign() uint64    { return 1 << (s.bits - 1) }
func (s *shape) mask() uint64    { return s.sign()<<1 - 1 }
func (s *shape) inf() uint64     { return (1<<s.exp - 1) << s.frac }
func (s *shape) quiet() uint64   { return 1 << (s.frac - 1) }
func (s *shape) nan() uint64     { return s.inf() | s.quiet() }
func (s *shape) fracOf() uint64  { return 1<<s.frac - 1 }
func (s *shape) maxExp() int32   { return 1<<s.exp - 1 }
func (s *shape) largest() uint64 { return s.inf() - 1 }

// signed returns the value v with the sign bit set if neg is.
func (s *shape) signed(neg bool, v uint64) uint64 {
	if neg {
		v |= s.sign()
	}
	return v
}

// Neg changes the sign bit, of NaNs too, and raises nothing.
func (f Format) Neg(a uint64) uint64 { return (a ^ f.shape().sign()) & f.shape().mask() }

// Abs clears the sign bit, of NaNs too, and raises nothing.
func (f Format) Abs(a uint64) uint64 { return a & (f.shape().sign() - 1) }

// Trim clears the bits above the format.
func (f Format) Trim(a uint64) uint64 { return a & f.shape().mask() }

// DefaultNaN returns the NaN that invalid operations produce.
func (f Format) DefaultNaN() uint64 { return f.shape().nan() }

// Infinity returns the positive infinity.
func (f Format) Infinity() uint64 { return f.shape().inf() }

// IsNaN reports quiet and signalling NaNs.
func (f Format) IsNaN(a uint64) bool { return f.Abs(a) > f.shape().inf() }

// Rounding is a rounding rule. The first four have the numbers of FPCR.RMode.
type Rounding uint8

// The rounding rules. Odd sets the lowest bit of an inexact result and overflows to the largest finite number;
// OddInf does so too but overflows to infinity.
const (
	NearestEven Rounding = iota
	Up
	Down
	Zero
	NearestAway
	Odd
	OddInf
)

// Flags are cumulative exception flags, at their positions in FPSR (and FPSCR).
type Flags uint32

// The exception flags.
const (
	IOC Flags = 1 << 0 // invalid operation
	DZC Flags = 1 << 1 // division by zero
	OFC Flags = 1 << 2 // overflow
	UFC Flags = 1 << 3 // underflow
	IXC Flags = 1 << 4 // inexact
	IDC Flags = 1 << 7 // input denormal, only of FlushToZero
)

// Env holds the modes that operations obey and the flags that they raise. Operations only add flags. The zero value
// has IEEE's default modes.
type Env struct {
	Round       Rounding
	FlushToZero bool // FPCR.FZ: single and double precision, BFloat16
	FlushHalf   bool // FPCR.FZ16: half precision
	DefaultNaN  bool // FPCR.DN
	AltHalf     bool // FPCR.AHP: Half is the alternative format, in Convert only
	Flags       Flags
}

// raise adds to the cumulative flags.
func (e *Env) raise(f Flags) { e.Flags |= f }

// flushes reports whether tiny results of a format become zeros.
func (e *Env) flushes(f Format) bool {
	if f == Half {
		return e.FlushHalf
	}
	return e.FlushToZero
}
