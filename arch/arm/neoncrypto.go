package arm

import (
	"math/bits"
	"sync"
)

// NEON's cryptography (Arm ARM DDI 0487, F6.1 AESD to SHA256SU1 and the shared functions they name).

// crypto2 makes the executor of an instruction on a quad and its destination, crypto3 of one on two quads and the
// destination.
func crypto2(op func(d, m [2]uint64) [2]uint64) exec {
	return func(c *cpu, w uint32) error {
		d := doubleD(w)
		c.setQ(d, op(c.q(d), c.q(doubleM(w))))
		return nil
	}
}

// crypto3 passes the operands as words, lowest first.
func crypto3(op func(d, n, m [4]uint32) [4]uint32) exec {
	return func(c *cpu, w uint32) error {
		d := doubleD(w)
		r := op(wordsOf(c.q(d)), wordsOf(c.q(doubleN(w))), wordsOf(c.q(doubleM(w))))
		c.setQ(d, quadOf(r))
		return nil
	}
}

// wordsOf returns the words of a quad, quadOf the quad of words.
func wordsOf(q [2]uint64) [4]uint32 {
	return [4]uint32{uint32(q[0]), uint32(q[0] >> 32), uint32(q[1]), uint32(q[1] >> 32)}
}

func quadOf(w [4]uint32) [2]uint64 {
	return [2]uint64{uint64(w[0]) | uint64(w[1])<<32, uint64(w[2]) | uint64(w[3])<<32}
}

// sha1 computes four rounds of SHA-1 with one of its three functions.
func sha1(f func(x, y, z uint32) uint32) exec {
	return crypto3(func(x, n, w [4]uint32) [4]uint32 {
		y := n[0]
		for _, word := range w {
			y += bits.RotateLeft32(x[0], 5) + f(x[1], x[2], x[3]) + word
			x[1] = bits.RotateLeft32(x[1], 30)
			x, y = [4]uint32{y, x[0], x[1], x[2]}, x[3]
		}
		return x
	})
}

// sha1Choose, sha1Parity and sha1Majority are the functions of SHA-1 (FIPS 180-4, 4.1.1); SHA-256 has the first and
// the last as well.
func sha1Choose(x, y, z uint32) uint32   { return (y^z)&x ^ z }
func sha1Parity(x, y, z uint32) uint32   { return x ^ y ^ z }
func sha1Majority(x, y, z uint32) uint32 { return x&y | (x|y)&z }

// sha1Schedule0 and sha1Schedule1 compute the halves of four steps of the message schedule: SHA1SU0 and SHA1SU1.
func sha1Schedule0(d, n, m [4]uint32) [4]uint32 {
	return [4]uint32{d[2] ^ d[0] ^ m[0], d[3] ^ d[1] ^ m[1], n[0] ^ d[2] ^ m[2], n[1] ^ d[3] ^ m[3]}
}

// The last word of sha1Schedule1 depends on the first one of the same call, so that one is rotated again.
func sha1Schedule1(dq, mq [2]uint64) [2]uint64 {
	d, m := wordsOf(dq), wordsOf(mq)
	t := [4]uint32{d[0] ^ m[1], d[1] ^ m[2], d[2] ^ m[3], d[3]}
	for i := range d {
		d[i] = bits.RotateLeft32(t[i], 1)
	}
	d[3] ^= bits.RotateLeft32(t[0], 2)
	return quadOf(d)
}

// sha1Rotate computes SHA1H.
func sha1Rotate(_, m [2]uint64) [2]uint64 {
	return [2]uint64{uint64(bits.RotateLeft32(uint32(m[0]), 30))}
}

// sha256Hash1 computes SHA256H, which gives the first half of the state; Vd holds that half.
func sha256Hash1(d, n, m [4]uint32) [4]uint32 {
	x, _ := sha256Rounds(d, n, m)
	return x
}

// sha256Hash2 computes SHA256H2, for the second half; Vd holds that one.
func sha256Hash2(d, n, m [4]uint32) [4]uint32 {
	_, y := sha256Rounds(n, d, m)
	return y
}

// sha256Rounds computes four rounds of SHA-256 on the halves of its state.
func sha256Rounds(x, y, w [4]uint32) (_, _ [4]uint32) {
	for _, word := range w {
		t := y[3] + sigma(y[0], 6, 11, 25) + sha1Choose(y[0], y[1], y[2]) + word
		x3 := t + x[3]
		y3 := t + sigma(x[0], 2, 13, 22) + sha1Majority(x[0], x[1], x[2])
		x, y = [4]uint32{y3, x[0], x[1], x[2]}, [4]uint32{x3, y[0], y[1], y[2]}
	}
	return x, y
}

// sigma returns the exclusive or of three rotations to the right.
func sigma(x uint32, a, b, c int) uint32 {
	return bits.RotateLeft32(x, -a) ^ bits.RotateLeft32(x, -b) ^ bits.RotateLeft32(x, -c)
}

// shiftedSigma is sigma with a shift as the third operation.
func shiftedSigma(x uint32, a, b, c int) uint32 {
	return bits.RotateLeft32(x, -a) ^ bits.RotateLeft32(x, -b) ^ x>>c
}

// sha256Schedule0 computes SHA256SU0, the smaller sigma of the message schedule.
func sha256Schedule0(dq, mq [2]uint64) [2]uint64 {
	d, m := wordsOf(dq), wordsOf(mq)
	t := [4]uint32{d[1], d[2], d[3], m[0]}
	for i := range d {
		d[i] += shiftedSigma(t[i], 7, 18, 3)
	}
	return quadOf(d)
}

// sha256Schedule1 computes SHA256SU1. Its last two words depend on its first two.
func sha256Schedule1(d, n, m [4]uint32) (r [4]uint32) {
	t0 := [4]uint32{n[1], n[2], n[3], m[0]}
	t1 := [2]uint32{m[2], m[3]}
	for i := range r {
		r[i] = shiftedSigma(t1[i&1], 17, 19, 10) + d[i] + t0[i]
		t1[i&1] = r[i]
	}
	return r
}

// aesBoxes returns the substitution of AES and its inverse. The first call computes them: the inverse in GF(2^8), then
// an affine map (FIPS 197, 5.1.1).
var aesBoxes = sync.OnceValues(func() (box, unbox *[256]byte) {
	box, unbox = new([256]byte), new([256]byte)
	for i := range 256 {
		inverse := byte(0)
		for j := range 256 {
			if aesTimes(byte(i), byte(j)) == 1 {
				inverse = byte(j)
			}
		}
		v := byte(0x63)
		for turn := range 5 {
			v ^= bits.RotateLeft8(inverse, turn)
		}
		box[i], unbox[v] = v, byte(i)
	}
	return box, unbox
})

// aesTimes multiplies in GF(2^8).
func aesTimes(a, b byte) (r byte) {
	for ; b != 0; b >>= 1 {
		r ^= a & -(b & 1)
		a = a<<1 ^ 0x1b&-(a>>7)
	}
	return r
}

// aesRound substitutes the bytes of d^m by those of a box, and rotates row r of the 4×4 bytes by r columns, times
// turn.
func aesRound(d, m [2]uint64, box *[256]byte, turn uint) (r [2]uint64) {
	e, x := elem{bits: 8}, [2]uint64{d[0] ^ m[0], d[1] ^ m[1]}
	for i := uint(0); i < 16; i++ {
		from := (i + i%4*turn*4) % 16
		r = withElement(e, r, i, uint64(box[element(e, x, from)]))
	}
	return r
}

// aesEncrypt computes AESE.
func aesEncrypt(d, m [2]uint64) [2]uint64 {
	box, _ := aesBoxes()
	return aesRound(d, m, box, 1)
}

// aesDecrypt computes AESD. A rotation by three columns reverses one by one.
func aesDecrypt(d, m [2]uint64) [2]uint64 {
	_, unbox := aesBoxes()
	return aesRound(d, m, unbox, 3)
}

// aesColumns multiplies every column by a matrix, given by its first row.
func aesColumns(m [2]uint64, by [4]byte) (r [2]uint64) {
	e := elem{bits: 8}
	for i := uint(0); i < 16; i++ {
		v := byte(0)
		for j := uint(0); j < 4; j++ {
			v ^= aesTimes(byte(element(e, m, i&^3+(i+j)%4)), by[j])
		}
		r = withElement(e, r, i, uint64(v))
	}
	return r
}

// aesMix computes AESMC and aesUnmix AESIMC, which do not read the destination.
func aesMix(_, m [2]uint64) [2]uint64   { return aesColumns(m, [4]byte{2, 3, 1, 1}) }
func aesUnmix(_, m [2]uint64) [2]uint64 { return aesColumns(m, [4]byte{14, 11, 13, 9}) }
