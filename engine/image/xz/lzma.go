package xz

// prob is the probability, of 2048, that the next bit is 0.
type prob = uint16

// rangeCoder decodes bits by their probabilities.
type rangeCoder struct {
	in     input
	length uint32 // of the range
	code   uint32 // position in it
}

func (c *rangeCoder) start() {
	c.in.byte()
	c.length, c.code = 0xffffffff, 0
	for range 4 {
		c.code = c.code<<8 | uint32(c.in.byte())
	}
}

func (c *rangeCoder) normalise() {
	if c.length < 1<<24 {
		c.length <<= 8
		c.code = c.code<<8 | uint32(c.in.byte())
	}
}

// bit decodes a bit and adapts its probability.
func (c *rangeCoder) bit(p *prob) int {
	c.normalise()
	bound := c.length >> 11 * uint32(*p)
	if c.code < bound {
		c.length = bound
		*p += (2048 - *p) >> 5
		return 0
	}
	c.length -= bound
	c.code -= bound
	*p -= *p >> 5
	return 1
}

// direct decodes n bits of even probability.
func (c *rangeCoder) direct(n int) (v uint32) {
	for range n {
		c.normalise()
		c.length >>= 1
		v <<= 1
		if c.code >= c.length {
			c.code -= c.length
			v |= 1
		}
	}
	return v
}

// tree decodes a number of n bits, the highest first.
func (c *rangeCoder) tree(probs []prob, n int) int {
	m := 1
	for range n {
		m = m<<1 | c.bit(&probs[m])
	}
	return m - 1<<n
}

// reverse decodes a number of n bits, the lowest first.
func (c *rangeCoder) reverse(probs []prob, n int) (v uint32) {
	m := 1
	for i := range n {
		b := c.bit(&probs[m])
		m = m<<1 | b
		v |= uint32(b) << i
	}
	return v
}

// lengths are the probabilities of the lengths of matches.
type lengths struct {
	choice, choice2 prob
	low, mid        [16][8]prob
	high            [256]prob
}

func (l *lengths) decode(c *rangeCoder, position int) int {
	if c.bit(&l.choice) == 0 {
		return 2 + c.tree(l.low[position][:], 3)
	}
	if c.bit(&l.choice2) == 0 {
		return 10 + c.tree(l.mid[position][:], 3)
	}
	return 18 + c.tree(l.high[:], 8)
}

// model are the probabilities that do not depend on the properties.
type model struct {
	isMatch, isRep0Long           [12][16]prob
	isRep, isRep0, isRep1, isRep2 [12]prob
	slots                         [4][64]prob // the highest bits of distances, by the length of the match
	distances                     [14][64]prob
	align                         [16]prob
	match, rep                    lengths
}

// decoder decodes LZMA into out, which is its dictionary from floor on.
type decoder struct {
	out   []byte
	floor int
	coder rangeCoder

	lc, lp, pb int // properties: bits of the last byte and of positions that choose probabilities
	literals   []prob
	model      model
	state      int       // the kinds of the last symbols
	reps       [4]uint32 // the last distances, less 1
}

// setProperties sets lc, lp and pb from their byte.
func (d *decoder) setProperties(b byte) error {
	d.lc, d.lp, d.pb = int(b)%9, int(b)/9%5, int(b)/45
	if d.pb > 4 || d.lc+d.lp > 4 {
		return ErrFormat
	}
	d.literals = make([]prob, 0x300<<(d.lc+d.lp))
	return nil
}

// reset makes all bits equally likely.
func (d *decoder) reset() {
	d.state, d.reps = 0, [4]uint32{}
	even(d.literals)
	m := &d.model
	for i := range m.isMatch {
		even(m.isMatch[i][:])
		even(m.isRep0Long[i][:])
	}
	for _, p := range [][]prob{m.isRep[:], m.isRep0[:], m.isRep1[:], m.isRep2[:], m.align[:]} {
		even(p)
	}
	for i := range m.slots {
		even(m.slots[i][:])
	}
	for i := range m.distances {
		even(m.distances[i][:])
	}
	for _, l := range []*lengths{&m.match, &m.rep} {
		l.choice, l.choice2 = 1024, 1024
		for i := range l.low {
			even(l.low[i][:])
			even(l.mid[i][:])
		}
		even(l.high[:])
	}
}

func even(probs []prob) {
	for i := range probs {
		probs[i] = 1024
	}
}

// decode decodes symbols until out has end bytes. It returns false for data that no compressor writes.
func (d *decoder) decode(end int) bool {
	m, c := &d.model, &d.coder
	for len(d.out) < end {
		if c.in.short {
			return false
		}
		position := (len(d.out) - d.floor) & (1<<d.pb - 1)
		if c.bit(&m.isMatch[d.state][position]) == 0 {
			if !d.literal() {
				return false
			}
			continue
		}
		var length int
		if c.bit(&m.isRep[d.state]) == 0 {
			length = m.match.decode(c, position)
			d.reps = [4]uint32{d.distance(length), d.reps[0], d.reps[1], d.reps[2]}
			d.state = after(d.state, 7)
		} else if length = d.repeated(position); length == 1 {
			d.state = after(d.state, 9)
		} else {
			d.state = after(d.state, 8)
		}
		if !d.copy(length, end) {
			return false
		}
	}
	c.normalise() // a chunk ends with this
	return true
}

// after is the state behind a match of a kind.
func after(state, kind int) int {
	if state < 7 {
		return kind
	}
	if kind == 7 {
		return 10
	}
	return 11
}

// literal decodes a byte. Behind a match, the byte at the last distance predicts it.
func (d *decoder) literal() bool {
	at := len(d.out) - d.floor
	last := 0
	if at > 0 {
		last = int(d.out[len(d.out)-1])
	}
	context := (at&(1<<d.lp-1))<<d.lc | last>>(8-d.lc)
	probs := d.literals[0x300*context:][:0x300]
	m := 1
	if d.state >= 7 {
		if int(d.reps[0]) >= at {
			return false
		}
		expected := int(d.out[len(d.out)-1-int(d.reps[0])])
		for m < 0x100 {
			want := expected >> 7 & 1
			expected <<= 1
			got := d.coder.bit(&probs[(1+want)<<8+m])
			m = m<<1 | got
			if got != want {
				break
			}
		}
	}
	for m < 0x100 {
		m = m<<1 | d.coder.bit(&probs[m])
	}
	d.out = append(d.out, byte(m))
	switch {
	case d.state < 4:
		d.state = 0
	case d.state < 10:
		d.state -= 3
	default:
		d.state -= 6
	}
	return true
}

// distance decodes the distance, less 1, of a match.
func (d *decoder) distance(length int) uint32 {
	slot := d.coder.tree(d.model.slots[min(length-2, 3)][:], 6)
	if slot < 4 {
		return uint32(slot)
	}
	bits := slot>>1 - 1
	high := uint32(2|slot&1) << bits
	if slot < 14 {
		return high + d.coder.reverse(d.model.distances[slot][:], bits)
	}
	return high + d.coder.direct(bits-4)<<4 + d.coder.reverse(d.model.align[:], 4)
}

// repeated decodes a match at one of the last distances, which becomes the last one, and returns its length.
func (d *decoder) repeated(position int) int {
	c, m := &d.coder, &d.model
	r := &d.reps
	switch {
	case c.bit(&m.isRep0[d.state]) == 0:
		if c.bit(&m.isRep0Long[d.state][position]) == 0 {
			return 1
		}
	case c.bit(&m.isRep1[d.state]) == 0:
		r[0], r[1] = r[1], r[0]
	case c.bit(&m.isRep2[d.state]) == 0:
		r[0], r[1], r[2] = r[2], r[0], r[1]
	default:
		r[0], r[1], r[2], r[3] = r[3], r[0], r[1], r[2]
	}
	return m.rep.decode(c, position)
}

// copy repeats length bytes at the last distance. A match does not leave its chunk.
func (d *decoder) copy(length, end int) bool {
	from := len(d.out) - 1 - int(d.reps[0])
	if from < d.floor || length > end-len(d.out) {
		return false
	}
	for i := range length {
		d.out = append(d.out, d.out[from+i])
	}
	return true
}
