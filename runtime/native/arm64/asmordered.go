package arm64

// orderedAsm makes code with instructions, too, that keep accesses of several threads in order.
type orderedAsm struct{ asm }

// ldar and stlr load and store in the order of the program, ldaxr and stlxr do so exclusively; stlxr sets s to 0 if it
// stored.
func (a *orderedAsm) ldar(t, n reg)     { a.word(0xc8dffc00 | uint32(n)<<5 | uint32(t)) }
func (a *orderedAsm) stlr(t, n reg)     { a.word(0xc89ffc00 | uint32(n)<<5 | uint32(t)) }
func (a *orderedAsm) ldaxr(t, n reg)    { a.word(0xc85ffc00 | uint32(n)<<5 | uint32(t)) }
func (a *orderedAsm) stlxr(s, t, n reg) { a.three(0xc800fc00, t, n, s) }

// ldaxp and stlxp are the same for two words, which begin at a multiple of 16.
func (a *orderedAsm) ldaxp(t, u, n reg) {
	a.word(0xc87f8000 | uint32(u)<<10 | uint32(n)<<5 | uint32(t))
}
func (a *orderedAsm) stlxp(s, t, u, n reg) { a.three(0xc8208000|uint32(u)<<10, t, n, s) }
func (a *orderedAsm) clrex()               { a.word(0xd5033f5f) }

// ldaddal adds s to memory in one operation and loads what was there (FEAT_LSE).
func (a *orderedAsm) ldaddal(s, t, n reg) { a.three(0xf8e00000, t, n, s) }

// Instructions without operands: a barrier between all accesses before and behind it (dmb ish), between loads before
// and all accesses behind it (dmb ishld), and between instructions (isb). Those with a register alone: the one that
// leads to the thread's own data (tpidr_el0), and the counter that tells the time (cntvct_el0).
const (
	dmb        = 0xd5033bbf
	dmbLoad    = 0xd50339bf
	isb        = 0xd5033fdf
	mrsThread  = 0xd53bd040
	mrsCounter = 0xd53be040
)
