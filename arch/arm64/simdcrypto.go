package arm64

import (
	"math/bits"
	"sync"
)

// The cryptographic instructions (Arm ARM DDI 0487, C4.1.95, "Cryptographic …"; the functions are those of FIPS
// 197, FIPS 180-4, FIPS 202 and the Chinese standards GB/T 32905 and GB/T 32907).

var cryptoRows = sync.OnceValue(func() []row {
	return []row{
		vrow("01001110 00 10100 00100 10 xxxxx xxxxx", "aese", aesEncrypt),
		vrow("01001110 00 10100 00101 10 xxxxx xxxxx", "aesd", aesDecrypt),
		vrow("01001110 00 10100 00110 10 xxxxx xxxxx", "aesmc", mixColumns([4]byte{2, 3, 1, 1})),
		vrow("01001110 00 10100 00111 10 xxxxx xxxxx", "aesimc", mixColumns([4]byte{14, 11, 13, 9})),
		vrow("01011110 000 xxxxx 0 000 00 xxxxx xxxxx", "sha1c", sha1(choose)),
		vrow("01011110 000 xxxxx 0 001 00 xxxxx xxxxx", "sha1p", sha1(parity)),
		vrow("01011110 000 xxxxx 0 010 00 xxxxx xxxxx", "sha1m", sha1(majority)),
		vrow("01011110 000 xxxxx 0 011 00 xxxxx xxxxx", "sha1su0", sha1Schedule0),
		vrow("01011110 000 xxxxx 0 100 00 xxxxx xxxxx", "sha256h", sha256First),
		vrow("01011110 000 xxxxx 0 101 00 xxxxx xxxxx", "sha256h2", sha256Second),
		vrow("01011110 000 xxxxx 0 110 00 xxxxx xxxxx", "sha256su1", sha256Schedule1),
		vrow("01011110 00 10100 00000 10 xxxxx xxxxx", "sha1h", sha1Rotate),
		vrow("01011110 00 10100 00001 10 xxxxx xxxxx", "sha1su1", sha1Schedule1),
		vrow("01011110 00 10100 00010 10 xxxxx xxxxx", "sha256su0", sha256Schedule0),
		vrow("11001110 011 xxxxx 1 0 00 00 xxxxx xxxxx", "sha512h", sha512First),
		vrow("11001110 011 xxxxx 1 0 00 01 xxxxx xxxxx", "sha512h2", sha512Second),
		vrow("11001110 011 xxxxx 1 0 00 10 xxxxx xxxxx", "sha512su1", sha512Schedule1),
		vrow("11001110 011 xxxxx 1 0 00 11 xxxxx xxxxx", "rax1", logical(func(n, m, _ uint64) uint64 { return n ^ bits.RotateLeft64(m, 1) })),
		vrow("11001110 011 xxxxx 1 1 00 00 xxxxx xxxxx", "sm3partw1", sm3Part1),
		vrow("11001110 011 xxxxx 1 1 00 01 xxxxx xxxxx", "sm3partw2", sm3Part2),
		vrow("11001110 011 xxxxx 1 1 00 10 xxxxx xxxxx", "sm4ekey", sm4Key),
		vrow("11001110 110 00000 1 0 00 00 xxxxx xxxxx", "sha512su0", sha512Schedule0),
		vrow("11001110 110 00000 1 0 00 01 xxxxx xxxxx", "sm4e", sm4Encrypt),
		vrow("11001110 000 xxxxx 0 xxxxx xxxxx xxxxx", "eor3", logical(func(n, m, a uint64) uint64 { return n ^ m ^ a })),
		vrow("11001110 001 xxxxx 0 xxxxx xxxxx xxxxx", "bcax", logical(func(n, m, a uint64) uint64 { return n ^ m&^a })),
		vrow("11001110 010 xxxxx 0 xxxxx xxxxx xxxxx", "sm3ss1", sm3Sum),
		vrow("11001110 010 xxxxx 10 xx 00 xxxxx xxxxx", "sm3tt1a", sm3Round(parity, false)),
		vrow("11001110 010 xxxxx 10 xx 01 xxxxx xxxxx", "sm3tt1b", sm3Round(majority, false)),
		vrow("11001110 010 xxxxx 10 xx 10 xxxxx xxxxx", "sm3tt2a", sm3Round(parity, true)),
		vrow("11001110 010 xxxxx 10 xx 11 xxxxx xxxxx", "sm3tt2b", sm3Round(choose, true)),
		vrow("11001110 100 xxxxx xxxxxx xxxxx xxxxx", "xar", xar),
	}
})

// words returns a register as four words of 32 bits, low first.
type words [4]uint32

func wordsOf(v vec) words {
	return words{uint32(v[0]), uint32(v[0] >> 32), uint32(v[1]), uint32(v[1] >> 32)}
}

func (w words) vec() vec {
	return vec{uint64(w[0]) | uint64(w[1])<<32, uint64(w[2]) | uint64(w[3])<<32}
}

func (c *vectorUnit) words(n uint32) words { return wordsOf(c.v.V[n]) }

func rol(v uint32, n int) uint32 { return bits.RotateLeft32(v, n) }

// right returns the exclusive or of v rotated right by three counts.
func right(v uint32, a, b, d int) uint32 { return rol(v, -a) ^ rol(v, -b) ^ rol(v, -d) }

func right64(v uint64, a, b, d int) uint64 {
	return bits.RotateLeft64(v, -a) ^ bits.RotateLeft64(v, -b) ^ bits.RotateLeft64(v, -d)
}

type bitwise func(x, y, z uint32) uint32

func choose(x, y, z uint32) uint32   { return x&y | z&^x }
func parity(x, y, z uint32) uint32   { return x ^ y ^ z }
func majority(x, y, z uint32) uint32 { return x&y | x&z | y&z }

// logical computes on the bits of Rn, Rm and Ra.
func logical(op func(n, m, a uint64) uint64) exec {
	return func(c *cpu, w uint32) error {
		n, m, a := &c.v.V[rn(w)], &c.v.V[rm(w)], &c.v.V[ra(w)]
		c.v.V[rd(w)] = vec{op(n[0], m[0], a[0]), op(n[1], m[1], a[1])}
		return nil
	}
}

// xar rotates the exclusive or of two registers to the right.
func xar(c *cpu, w uint32) error {
	n, m, count := &c.v.V[rn(w)], &c.v.V[rm(w)], -int(field(w, 10, 6))
	c.v.V[rd(w)] = vec{bits.RotateLeft64(n[0]^m[0], count), bits.RotateLeft64(n[1]^m[1], count)}
	return nil
}

// The substitution boxes are computed at first use from their definition: an inverse in a field of 256 elements
// between affine maps. That takes milliseconds.
var (
	aesBoxes = sync.OnceValues(makeAESBoxes)
	sm4Box   = sync.OnceValue(makeSM4Box)
)

// fieldMul multiplies in the field of bytes with a polynomial.
func fieldMul(a, b byte, poly uint) byte {
	out, x := uint(0), uint(a)
	for ; b != 0; b >>= 1 {
		out ^= x * uint(b&1)
		x <<= 1
		if x&0x100 != 0 {
			x ^= poly
		}
	}
	return byte(out)
}

// fieldInverse returns the inverse, and 0 for 0: the 254th power.
func fieldInverse(a byte, poly uint) byte {
	out := byte(1)
	for range 254 {
		out = fieldMul(out, a, poly)
	}
	return out
}

// affine multiplies with the circulant matrix whose first row is given, and adds a constant.
func affine(x, row, constant byte) byte {
	out := byte(0)
	for i := range 8 {
		out |= byte(bits.OnesCount8(bits.RotateLeft8(row, i)&x)&1) << i
	}
	return out ^ constant
}

// makeAESBoxes makes the box of FIPS 197, 5.1.1, and its inverse.
func makeAESBoxes() (box, inverse *[256]byte) {
	box, inverse = new([256]byte), new([256]byte)
	for i := range 256 {
		box[i] = affine(fieldInverse(byte(i), 0x11b), 0xf1, 0x63)
		inverse[box[i]] = byte(i)
	}
	return box, inverse
}

// makeSM4Box applies the affine map before and after the inverse.
func makeSM4Box() *[256]byte {
	box := new([256]byte)
	for i := range 256 {
		box[i] = affine(fieldInverse(affine(byte(i), 0xa7, 0xd3), 0x1f5), 0xa7, 0xd3)
	}
	return box
}

// substitute applies ShiftRows, by step columns for each row, and a substitution box.
func (c *vectorUnit) substitute(w uint32, box *[256]byte, step uint) error {
	n, d := &c.v.V[rn(w)], &c.v.V[rd(w)]
	state := vec{n[0] ^ d[0], n[1] ^ d[1]}
	var out vec
	for i := range uint(16) {
		put(&out, 0, i, uint64(box[get(&state, 0, (i+step*4*(i&3))&15)]))
	}
	c.v.V[rd(w)] = out
	return nil
}

// aesEncrypt executes AddRoundKey, ShiftRows and SubBytes. Three columns forward are one column back.
func aesEncrypt(c *cpu, w uint32) error {
	box, _ := aesBoxes()
	return c.substitute(w, box, 1)
}

func aesDecrypt(c *cpu, w uint32) error {
	_, inverse := aesBoxes()
	return c.substitute(w, inverse, 3)
}

// mixColumns multiplies each column with the circulant matrix whose first row is given.
func mixColumns(row [4]byte) exec {
	return func(c *cpu, w uint32) error {
		x := c.v.V[rn(w)]
		var out vec
		for i := range uint(16) {
			sum := byte(0)
			for k := range uint(4) {
				sum ^= fieldMul(byte(get(&x, 0, i&^3+((i+k)&3))), row[k], 0x11b)
			}
			put(&out, 0, i, uint64(sum))
		}
		c.v.V[rd(w)] = out
		return nil
	}
}

// sha1 computes four rounds on abcd in Rd, e in Rn and scheduled words in Rm.
func sha1(f bitwise) exec {
	return func(c *cpu, w uint32) error {
		x, y, words := c.words(rd(w)), uint32(c.v.V[rn(w)][0]), c.words(rm(w))
		for _, word := range words {
			y += rol(x[0], 5) + f(x[1], x[2], x[3]) + word
			x[1] = rol(x[1], 30)
			x[0], x[1], x[2], x[3], y = y, x[0], x[1], x[2], x[3]
		}
		c.v.V[rd(w)] = x.vec()
		return nil
	}
}

// sha1Rotate computes e after a group of four rounds.
func sha1Rotate(c *cpu, w uint32) error {
	c.setScalar(rd(w), uint64(rol(uint32(c.v.V[rn(w)][0]), 30)))
	return nil
}

// sha1Schedule0 computes the first half of the schedule: the exclusive or of words 16, 14 and 8 back.
func sha1Schedule0(c *cpu, w uint32) error {
	d, n, m := c.v.V[rd(w)], c.v.V[rn(w)], c.v.V[rm(w)]
	c.v.V[rd(w)] = vec{d[0] ^ d[1] ^ m[0], d[1] ^ n[0] ^ m[1]}
	return nil
}

// sha1Schedule1 computes the second half: the word 3 back, and the rotation. The last word needs the first one
// computed here.
func sha1Schedule1(c *cpu, w uint32) error {
	d, n := c.words(rd(w)), c.words(rn(w))
	first := d[0] ^ n[1]
	c.v.V[rd(w)] = words{rol(first, 1), rol(d[1]^n[2], 1), rol(d[2]^n[3], 1), rol(d[3], 1) ^ rol(first, 2)}.vec()
	return nil
}

// sha256 computes four rounds on x = abcd and y = efgh.
func sha256(x, y, schedule words) (words, words) {
	for _, word := range schedule {
		t := y[3] + right(y[0], 6, 11, 25) + choose(y[0], y[1], y[2]) + word
		next := t + right(x[0], 2, 13, 22) + majority(x[0], x[1], x[2])
		x, y = words{next, x[0], x[1], x[2]}, words{t + x[3], y[0], y[1], y[2]}
	}
	return x, y
}

// sha256First returns abcd after four rounds, sha256Second efgh. A program uses both on the same operands.
func sha256First(c *cpu, w uint32) error {
	x, _ := sha256(c.words(rd(w)), c.words(rn(w)), c.words(rm(w)))
	c.v.V[rd(w)] = x.vec()
	return nil
}

func sha256Second(c *cpu, w uint32) error {
	_, y := sha256(c.words(rn(w)), c.words(rd(w)), c.words(rm(w)))
	c.v.V[rd(w)] = y.vec()
	return nil
}

// sha256Schedule0 adds σ0 of the following words.
func sha256Schedule0(c *cpu, w uint32) error {
	d, n := c.words(rd(w)), c.words(rn(w))
	t := words{d[1], d[2], d[3], n[0]}
	for i := range d {
		d[i] += rol(t[i], -7) ^ rol(t[i], -18) ^ t[i]>>3
	}
	c.v.V[rd(w)] = d.vec()
	return nil
}

// sha256Schedule1 adds σ1 of the words 2 back, the last two of which are computed here, and the words 7 back.
func sha256Schedule1(c *cpu, w uint32) error {
	d, n, m := c.words(rd(w)), c.words(rn(w)), c.words(rm(w))
	add := words{n[1], n[2], n[3], m[0]}
	for i := range d {
		t := m[2|i&1]
		if i >= 2 {
			t = d[i-2]
		}
		d[i] += (rol(t, -17) ^ rol(t, -19) ^ t>>10) + add[i]
	}
	c.v.V[rd(w)] = d.vec()
	return nil
}

func choose64(x, y, z uint64) uint64 { return x&y | z&^x }

// sha512First computes Ch and Σ1 of two rounds. The second uses the result of the first.
func sha512First(c *cpu, w uint32) error {
	x, y, d := c.v.V[rn(w)], c.v.V[rm(w)], c.v.V[rd(w)]
	hi := choose64(y[1], x[0], x[1]) + right64(y[1], 14, 18, 41) + d[1]
	t := hi + y[0]
	lo := choose64(t, y[1], x[0]) + right64(t, 14, 18, 41) + d[0]
	c.v.V[rd(w)] = vec{lo, hi}
	return nil
}

// sha512Second computes Maj and Σ0 of two rounds.
func sha512Second(c *cpu, w uint32) error {
	x, y, d := c.v.V[rn(w)], c.v.V[rm(w)], c.v.V[rd(w)]
	hi := (x[0]&y[1] ^ x[0]&y[0] ^ y[1]&y[0]) + right64(y[0], 28, 34, 39) + d[1]
	lo := (hi&y[0] ^ hi&y[1] ^ y[1]&y[0]) + right64(hi, 28, 34, 39) + d[0]
	c.v.V[rd(w)] = vec{lo, hi}
	return nil
}

// sha512Schedule0 adds σ0 of the following words.
func sha512Schedule0(c *cpu, w uint32) error {
	sigma := func(v uint64) uint64 { return bits.RotateLeft64(v, -1) ^ bits.RotateLeft64(v, -8) ^ v>>7 }
	d, n := c.v.V[rd(w)], c.v.V[rn(w)]
	c.v.V[rd(w)] = vec{d[0] + sigma(d[1]), d[1] + sigma(n[0])}
	return nil
}

// sha512Schedule1 adds σ1 of the words 2 back, and the words 7 back.
func sha512Schedule1(c *cpu, w uint32) error {
	sigma := func(v uint64) uint64 { return bits.RotateLeft64(v, -19) ^ bits.RotateLeft64(v, -61) ^ v>>6 }
	d, n, m := c.v.V[rd(w)], c.v.V[rn(w)], c.v.V[rm(w)]
	c.v.V[rd(w)] = vec{d[0] + sigma(n[0]) + m[0], d[1] + sigma(n[1]) + m[1]}
	return nil
}

// sm3Sum computes SS1 of a round, in the top word.
func sm3Sum(c *cpu, w uint32) error {
	n, m, a := c.words(rn(w)), c.words(rm(w)), c.words(ra(w))
	c.v.V[rd(w)] = words{3: rol(rol(n[3], 12)+m[3]+a[3], 7)}.vec()
	return nil
}

// sm3Round computes half a round: TT1 on abcd, or TT2 on efgh, which also mixes its result.
func sm3Round(f bitwise, second bool) exec {
	return func(c *cpu, w uint32) error {
		d, n, m := c.words(rd(w)), c.words(rn(w))[3], c.words(rm(w))[field(w, 12, 2)]
		t, turn := f(d[3], d[2], d[1])+d[0]+m, 9
		if second {
			t += n
			t ^= rol(t, 9) ^ rol(t, 17)
			turn = 19
		} else {
			t += n ^ rol(d[3], 12)
		}
		c.v.V[rd(w)] = words{d[1], rol(d[2], turn), d[3], t}.vec()
		return nil
	}
}

// sm3Mix returns the permutation P1.
func sm3Mix(v uint32) uint32 { return v ^ rol(v, 15) ^ rol(v, 23) }

// sm3Part1 computes three words of the schedule, and the part of the fourth that does not need the first.
func sm3Part1(c *cpu, w uint32) error {
	d, n, m := c.words(rd(w)), c.words(rn(w)), c.words(rm(w))
	for i := range 3 {
		d[i] = sm3Mix(d[i] ^ n[i] ^ rol(m[i+1], 15))
	}
	d[3] = sm3Mix(d[3] ^ n[3] ^ rol(d[0], 15))
	c.v.V[rd(w)] = d.vec()
	return nil
}

// sm3Part2 adds the remaining parts. The last word has one that depends on the first.
func sm3Part2(c *cpu, w uint32) error {
	d, n, m := c.words(rd(w)), c.words(rn(w)), c.words(rm(w))
	for i := range d {
		n[i] ^= rol(m[i], 7)
		d[i] ^= n[i]
	}
	d[3] ^= sm3Mix(rol(n[0], 15))
	c.v.V[rd(w)] = d.vec()
	return nil
}

// sm4 computes four rounds on a state with the words of keys. mix is the linear map after the substitution box.
func sm4(state, keys words, mix func(uint32) uint32) words {
	box := sm4Box()
	for _, key := range keys {
		t := state[3] ^ state[2] ^ state[1] ^ key
		boxed := uint32(0)
		for shift := 0; shift < 32; shift += 8 {
			boxed |= uint32(box[t>>shift&0xff]) << shift
		}
		state = words{state[1], state[2], state[3], state[0] ^ mix(boxed)}
	}
	return state
}

// sm4Encrypt computes four rounds of encryption with the round keys in Rn.
func sm4Encrypt(c *cpu, w uint32) error {
	c.v.V[rd(w)] = sm4(c.words(rd(w)), c.words(rn(w)), func(v uint32) uint32 {
		return v ^ rol(v, 2) ^ rol(v, 10) ^ rol(v, 18) ^ rol(v, 24)
	}).vec()
	return nil
}

// sm4Key computes four round keys with the constants in Rm.
func sm4Key(c *cpu, w uint32) error {
	c.v.V[rd(w)] = sm4(c.words(rn(w)), c.words(rm(w)), func(v uint32) uint32 { return v ^ rol(v, 13) ^ rol(v, 23) }).vec()
	return nil
}
