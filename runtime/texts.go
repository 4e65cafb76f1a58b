package runtime

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"unsafe"

	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/value"
)

func floatWord(f float64) uint64    { return math.Float64bits(f) }
func float32Of(bits uint32) float32 { return math.Float32frombits(bits) }

// text returns the bytes of a reference, which the caller must not change. ok is false for a word that is not a
// reference. References are ordinary words, and an unverified program may have made one up. So all spaces are checked
// against their current contents: constants by number and length, scratch by what this run has used, texts of the place
// by their length. No data of an earlier hit can be named.
func (m *Machine) text(ref uint64) (p []byte, ok bool) {
	r := Ref(ref)
	n, at := r.Len(), r.offset()
	switch {
	case n == 0:
		return nil, true
	case r.space() == spaceScratch:
		if at < 0 || at+n > m.scratch.used {
			return nil, false
		}
		return m.scratch.bytes[at : at+n], true
	case r.space() == spacePlace:
		return m.placeText(TextField(at), n)
	case r.space() != spaceConst || uint(at) >= uint(len(m.code.Texts)) || n > len(m.code.Texts[at]):
		return nil, false
	}
	// This makes the constant a byte slice without a copy. That is sound because nothing writes through the result of
	// text: it is compared, hashed, and copied from. An operation that changes text in place would break it.
	return unsafe.Slice(unsafe.StringData(m.code.Texts[at]), n), true
}

// placeTexts are copies of texts that are the same at every hit of a place.
type placeTexts [NumTextFields][value.DefaultText]byte

// placeText returns the first n bytes of a text of the place. ok is false if the text is not that long, or not one of
// the place. The copy stays what it is when another text is read, also when it is read again.
func (m *Machine) placeText(f TextField, n int) (p []byte, ok bool) {
	if !f.OfPlace() || n > value.DefaultText {
		return nil, false
	}
	p = m.place[f][:]
	return p[:n], m.ctx.Thread.Text(f, p) >= n
}

// popText pops a reference. A word that is not a reference traps like an exhausted scratch. Only unverified programs
// have such words.
func (m *Machine) popText() (p []byte, cut bool, trap outcome.Trap) {
	ref := m.pop()
	p, ok := m.text(ref)
	if !ok {
		return nil, false, outcome.TrapText
	}
	return p, Ref(ref).Cut(), outcome.NoTrap
}

// scratch is the text memory of one run. It is allocated in order and never freed within a run: after 64 KiB comes
// TrapText. A program bounded to 10,000 steps rarely makes more than a few texts, and an allocator would cost time for
// each of them.
type scratch struct {
	bytes [ScratchSize]byte
	used  int
}

// room returns n free bytes of the scratch memory, or nil. pushText reserves them.
func (m *Machine) room(n int) []byte {
	s := &m.scratch
	if n > len(s.bytes)-s.used {
		return nil
	}
	return s.bytes[s.used : s.used+n : s.used+n]
}

// pushText makes the first n free bytes of the scratch memory a text and pushes its reference.
func (m *Machine) pushText(n int, cut bool) {
	m.push(makeRef(spaceScratch, m.scratch.used, n, cut))
	m.scratch.used += n
}

// texts executes the operations on texts.
func (m textOps) texts(in *Inst) outcome.Trap {
	switch in.Op {
	case opcode.PushS:
		return m.pushConst(in.A)
	case opcode.Str:
		return m.str()
	case opcode.Bytes:
		return m.bytes()
	case opcode.Stack:
		return m.callStack()
	case opcode.Scmp, opcode.Seq, opcode.Sprefix:
		return m.compare(in.Op)
	case opcode.Scat:
		return m.concat()
	case opcode.Sdec:
		p := m.room(20)
		if p == nil {
			return outcome.TrapText
		}
		m.pushText(len(strconv.AppendInt(p[:0], int64(m.pop()), 10)), false)
		return outcome.NoTrap
	case opcode.Sudec:
		p := m.room(20)
		if p == nil {
			return outcome.TrapText
		}
		m.pushText(len(strconv.AppendUint(p[:0], m.pop(), 10)), false)
		return outcome.NoTrap
	case opcode.Shex:
		p := m.room(18)
		if p == nil {
			return outcome.TrapText
		}
		m.pushText(len(strconv.AppendUint(append(p[:0], "0x"...), m.pop(), 16)), false)
		return outcome.NoTrap
	case opcode.Sfloat:
		p := m.room(40)
		if p == nil {
			return outcome.TrapText
		}
		m.pushText(len(value.AppendNumber(p[:0], float(m.pop()))), false)
		return outcome.NoTrap
	case opcode.Sflags:
		return m.flags(in.A)
	case opcode.Units:
		return m.units(value.Units(min(in.A, uint32(value.NumUnits))))
	case opcode.Swide:
		return m.wide(value.Wide(min(in.A, uint32(value.NumWide))))
	}
	return m.measure(in.Op)
}

// wide makes the digits of a wide number.
func (m textOps) wide(w value.Wide) outcome.Trap {
	high, low := m.pop(), m.pop()
	p := m.room(value.MaxWideText)
	switch {
	case w >= value.NumWide:
		return outcome.TrapOp
	case p == nil:
		return outcome.TrapText
	}
	m.pushText(len(w.Append(p[:0], low, high)), false)
	return outcome.NoTrap
}

// flags makes the names of bits.
func (m textOps) flags(index uint32) outcome.Trap {
	if uint64(index) >= uint64(len(m.code.Texts)) {
		return outcome.TrapIndex
	}
	names := m.code.Texts[index]
	most := len(names) + value.MaxFlags
	p := m.room(most)
	if p == nil || most > value.MaxText {
		return outcome.TrapText
	}
	m.pushText(len(value.AppendFlags(p[:0], names, m.pop())), false)
	return outcome.NoTrap
}

// units makes text of characters of more than a byte. A unit becomes a byte at least, so that no more of them are read
// than the text may have bytes; one more shows whether text that just fits ends there.
func (m textOps) units(u value.Units) outcome.Trap {
	most, _ := m.count(value.MaxText)
	count, addr := m.pop(), m.pop()
	if u >= value.NumUnits {
		return outcome.TrapOp
	}
	n := int(min(count, uint64(most)+1))
	p := m.room(most + n*u.Size())
	if p == nil {
		return outcome.TrapText
	}
	from := p[most:]
	got := max(min(m.ctx.Thread.ReadMemory(addr, from), len(from)), 0)
	text, ended, cut := u.Append(p[:0:most], from[:got], most)
	if got < len(from) && !ended && !cut {
		m.out.Addr = addr + uint64(got)
		return outcome.TrapRead
	}
	m.pushText(len(text), cut)
	return outcome.NoTrap
}

// pushConst pushes a reference to a constant text.
func (m textOps) pushConst(index uint32) outcome.Trap {
	if uint64(index) >= uint64(len(m.code.Texts)) {
		return outcome.TrapIndex
	}
	m.push(uint64(ConstRef(index, len(m.code.Texts[index]))))
	return outcome.NoTrap
}

// count pops a number of bytes or frames and limits it to 0…most. Negative counts become 0, as in JavaScript's slice. A
// count above the limit is cut, and the caller marks the cut where it is visible.
func (m textOps) count(most int) (n int, more bool) {
	v := int64(m.pop())
	return int(min(max(v, 0), int64(most))), v > int64(most)
}

// str reads text up to its NUL. It reads one byte more than requested, to distinguish text that just fits from text
// that is cut. For text of known length, such as the strings of Go and Rust, there is opcode.Bytes. It reads n bytes
// and no terminator, and its result is ordinary text, complete and without a mark.
func (m textOps) str() outcome.Trap {
	n, _ := m.count(value.MaxText)
	addr := m.pop()
	p := m.room(min(n+1, len(m.scratch.bytes)-m.scratch.used))
	got := max(min(m.ctx.Thread.ReadMemory(addr, p), len(p)), 0)
	if end := bytes.IndexByte(p[:got], 0); end >= 0 {
		m.pushText(end, false)
		return outcome.NoTrap
	}
	switch {
	case got > n:
		m.pushText(n, true)
	// The next page is not mapped. n bytes are there, and nothing more is known, so the text counts as complete.
	case got == n && len(p) > n: // the text ends where the memory ends
		m.pushText(n, false)
	case got < len(p):
		m.out.Addr = addr + uint64(got)
		return outcome.TrapRead
	default:
		return outcome.TrapText
	}
	return outcome.NoTrap
}

// bytes reads exactly as many bytes as requested, or traps. Half a structure is useless, so a range that cannot be read
// completely is an error and not a short text.
func (m textOps) bytes() outcome.Trap {
	n, more := m.count(value.MaxText)
	addr := m.pop()
	p := m.room(n)
	if p == nil {
		return outcome.TrapText
	}
	if got := m.ctx.Thread.ReadMemory(addr, p); got < n {
		m.out.Addr = addr + uint64(max(got, 0))
		return outcome.TrapRead
	}
	m.pushText(n, more)
	return outcome.NoTrap
}

// callStack makes a text of return addresses. Addresses are stored as bytes, 8 each, so that the code for text can log
// and compare stacks and use them as keys. The host finds the names later.
func (m textOps) callStack() outcome.Trap {
	most, _ := m.count(value.MaxStackDepth)
	p := m.room(8 * most)
	if p == nil {
		return outcome.TrapText
	}
	n := max(min(m.ctx.Thread.Stack(m.pcs[:most]), most), 0)
	for i, pc := range m.pcs[:n] {
		binary.LittleEndian.PutUint64(p[8*i:], pc)
	}
	m.pushText(8*n, n == most) // as many as requested, so there may be more
	return outcome.NoTrap
}

// contextText pushes a text of the context. One that is the same at every hit of the place is read when it is used.
// Others are copied to the scratch memory, because they may change between hits (comm).
func (m textOps) contextText(field uint32) outcome.Trap {
	switch {
	case field >= uint32(NumTextFields):
		return outcome.TrapOp
	case TextField(field).OfPlace():
		m.push(uint64(PlaceRef(TextField(field), m.ctx.Thread.Text(TextField(field), nil))))
		return outcome.NoTrap
	}
	p := m.room(value.DefaultText)
	if p == nil {
		return outcome.TrapText
	}
	n := m.ctx.Thread.Text(TextField(field), p)
	m.pushText(max(min(n, value.DefaultText), 0), n > value.DefaultText)
	return outcome.NoTrap
}

// compare compares two texts by their bytes. It ignores whether one was cut.
func (m textOps) compare(op opcode.Op) outcome.Trap {
	t, _, trap := m.popText()
	if trap != outcome.NoTrap {
		return trap
	}
	s, _, trap := m.popText()
	if trap != outcome.NoTrap {
		return trap
	}
	switch op {
	case opcode.Scmp:
		m.push(uint64(int64(bytes.Compare(s, t))))
	case opcode.Seq:
		m.push(flag(bytes.Equal(s, t)))
	case opcode.Sprefix:
		m.push(flag(bytes.HasPrefix(s, t)))
	}
	return outcome.NoTrap
}

// concat joins two texts. If the first one is cut, its mark stays in the middle of the result. A result longer than
// MaxText is cut. The mark in the middle is visible and part of the length, so a reader of the result sees where
// something is missing.
func (m textOps) concat() outcome.Trap {
	t, cutT, trap := m.popText()
	if trap != outcome.NoTrap {
		return trap
	}
	s, cutS, trap := m.popText()
	if trap != outcome.NoTrap {
		return trap
	}
	mark := ""
	if cutS {
		mark = value.Cutmark
	}
	whole := len(s) + len(mark) + len(t)
	p := m.room(min(whole, value.MaxText))
	if p == nil {
		return outcome.TrapText
	}
	n := copy(p, s)
	n += copy(p[n:], mark)
	n += copy(p[n:], t)
	m.pushText(n, cutT || whole > value.MaxText)
	return outcome.NoTrap
}

// The numbers of FNV-1a, 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/), which opcode.Hash computes: it starts
// with HashStart, and for each byte combines it by exclusive or and multiplies by HashPrime.
const (
	HashStart = 14695981039346656037
	HashPrime = 1099511628211
)

// measure computes a number from a text.
func (m textOps) measure(op opcode.Op) outcome.Trap {
	s, _, trap := m.popText()
	if trap != outcome.NoTrap {
		return trap
	}
	switch op {
	case opcode.Slen:
		m.push(uint64(len(s)))
	case opcode.Hash:
		h := uint64(HashStart)
		for _, b := range s {
			h = (h ^ uint64(b)) * HashPrime
		}
		m.push(h)
	default:
		return outcome.TrapOp
	}
	return outcome.NoTrap
}
