package arm64

import "sync"

// Loads and stores of structures: LD1 to LD4, ST1 to ST4, LD1R to LD4R (Arm ARM DDI 0487, C4.1.93, "Advanced SIMD
// load/store").

var structRows = sync.OnceValue(structTable)

// structKinds are the opcodes of multiple structures: how often registers repeat, and elements in a structure.
var structKinds = []struct {
	opcode, name   string
	repeat, fields uint
}{
	{"0000", "ld4, st4", 1, 4}, {"0010", "ld1, st1 (4 registers)", 4, 1}, {"0100", "ld3, st3", 1, 3},
	{"0110", "ld1, st1 (3 registers)", 3, 1}, {"0111", "ld1, st1 (1 register)", 1, 1}, {"1000", "ld2, st2", 1, 2},
	{"1010", "ld1, st1 (2 registers)", 2, 1},
}

// structTable makes the rows of all kinds, each with and without post-index.
func structTable() (out []row) {
	for _, k := range structKinds {
		// Structures of several elements in registers of a single one do not exist.
		lone := func(w uint32) bool { return k.fields > 1 && !q(w) && w>>10&3 == 3 }
		x := multiple(k.repeat, k.fields)
		out = append(out,
			vrow("0 x 0011000 x 000000 "+k.opcode+" xx xxxxx xxxxx", k.name, x, lone),
			vrow("0 x 0011001 x 0 xxxxx "+k.opcode+" xx xxxxx xxxxx", k.name+", post-index", x, lone))
	}
	for fields, name := range []string{"ld1, st1", "ld2, st2", "ld3, st3", "ld4, st4"} {
		r, odd := bitText(fields&1), bitText(fields>>1)
		for scale, opcode := range []string{"00", "01", "10"} {
			out = append(out,
				vrow("0 x 0011010 x "+r+" 00000 "+opcode+odd+" x xx xxxxx xxxxx", name+" (lane)", single, badLane(scale)),
				vrow("0 x 0011011 x "+r+" xxxxx "+opcode+odd+" x xx xxxxx xxxxx", name+" (lane), post-index", single, badLane(scale)))
		}
		out = append(out,
			vrow("0 x 0011010 1 "+r+" 00000 11"+odd+" 0 xx xxxxx xxxxx", name+" (replicate)", replicate),
			vrow("0 x 0011011 1 "+r+" xxxxx 11"+odd+" 0 xx xxxxx xxxxx", name+" (replicate), post-index", replicate))
	}
	return out
}

// bitText returns the lowest bit of b for a pattern.
func bitText(b int) string { return string(rune('0' + b&1)) }

// badLane reports the combinations of size and S that select no lane.
func badLane(scale int) func(w uint32) bool {
	return func(w uint32) bool {
		switch scale {
		case 1:
			return w>>10&1 == 1
		case 2:
			return w>>11&1 == 1 || w>>10&1 == 1 && w>>12&1 == 1
		}
		return false
	}
}

// postIndex updates the base after an access of n bytes, in the post-index forms.
func (c *cpu) postIndex(w uint32, n int) {
	if w>>23&1 == 0 {
		return
	}
	step := uint64(n)
	if rm(w) != 31 {
		step = c.reg(rm(w))
	}
	c.setSP(rn(w), c.regSP(rn(w))+step)
}

// multiple moves whole registers. Element e of register r is at byte (e×fields + r)×size of the run, and runs
// repeat.
func multiple(repeat, fields uint) exec {
	return func(c *cpu, w uint32) error {
		if err := c.checkSP(rn(w)); err != nil {
			return err
		}
		s := uint(w >> 10 & 3)
		bytes := uint(8)
		if q(w) {
			bytes = 16
		}
		total := int(repeat * fields * bytes)
		base := c.regSP(rn(w))
		load := isLoadOne(w)
		if load {
			if _, err := c.read(base, total); err != nil {
				return err
			}
		}
		for run := range repeat {
			for f := range fields {
				v := &c.v.V[(uint(rd(w))+run+f)&31]
				p := c.buf[run*bytes : run*bytes+fields*bytes]
				if load {
					gather(v, p, s, f, fields, bytes)
				} else {
					scatter(v, p, s, f, fields, bytes)
				}
			}
		}
		if !load {
			if err := c.write(base, c.buf[:total]); err != nil {
				return err
			}
		}
		c.postIndex(w, total)
		return nil
	}
}

// gather fills a register with field f of the structures in p.
func gather(v *vec, p []byte, s, f, fields, bytes uint) {
	*v = vec{}
	for i := range bytes {
		put(v, 0, i, uint64(p[structAt(i, s, f, fields)]))
	}
}

// scatter is the reverse of gather.
func scatter(v *vec, p []byte, s, f, fields, bytes uint) {
	for i := range bytes {
		p[structAt(i, s, f, fields)] = byte(get(v, 0, i))
	}
}

// structAt returns the offset in memory of byte i of a register that holds field f of structures.
func structAt(i, s, f, fields uint) uint {
	return (i>>s*fields+f)<<s + i&(1<<s-1)
}

// structFields returns the elements of a single structure.
func structFields(w uint32) uint { return uint(w>>12&2|w>>21&1) + 1 }

// single moves one lane of each register.
func single(c *cpu, w uint32) error {
	if err := c.checkSP(rn(w)); err != nil {
		return err
	}
	s := uint(w >> 14 & 3)
	index := uint(w>>30&1<<3 | w>>10&7) // Q:S:size
	if s == 2 && w>>10&1 == 1 {
		s = 3
	}
	index >>= s
	fields := structFields(w)
	total := int(fields << s)
	base := c.regSP(rn(w))
	load := isLoadOne(w)
	if load {
		if _, err := c.read(base, total); err != nil {
			return err
		}
	}
	for f := range fields {
		v := &c.v.V[(uint(rd(w))+f)&31]
		for b := range uint(1) << s {
			p := &c.buf[f<<s+b]
			if load {
				put(v, 0, index<<s+b, uint64(*p))
			} else {
				*p = byte(get(v, 0, index<<s+b))
			}
		}
	}
	if !load {
		if err := c.write(base, c.buf[:total]); err != nil {
			return err
		}
	}
	c.postIndex(w, total)
	return nil
}

// replicate loads one structure and copies each element to all lanes of its register.
func replicate(c *cpu, w uint32) error {
	if err := c.checkSP(rn(w)); err != nil {
		return err
	}
	s, fields := uint(w>>10&3), structFields(w)
	total := int(fields << s)
	p, err := c.read(c.regSP(rn(w)), total)
	if err != nil {
		return err
	}
	for f := range fields {
		element := vecOf(p[f<<s : (f+1)<<s])[0]
		v := &c.v.V[(uint(rd(w))+f)&31]
		*v = vec{}
		for i := range lanes(w, s) {
			put(v, s, i, element)
		}
	}
	c.postIndex(w, total)
	return nil
}
