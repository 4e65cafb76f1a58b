package inline

import (
	"encoding/binary"

	"gotap/arch"
)

// Lengths of jumps in bytes.
const (
	JumpSize  = 5 // the longest one that leads to a stub: that of x86-64
	shortJump = 2 // one that leads to a springboard
	a64Jump   = 4 // on 64-bit ARM
)

// Jump is a place whose code jumps to a stub, or did.
type Jump struct {
	Addr uint64
	Len  int            // in bytes; those below are 0 from there on
	Orig [JumpSize]byte // the bytes that the jump displaces
	Code [JumpSize]byte // the jump

	// Under is what is there without the jump: Orig, with the breakpoints of the session. It need not begin with one.
	// If it does not, a thread may come to a breakpoint at Addr while Insert or Remove write, and has to run the place
	// again.
	Under [JumpSize]byte

	// Via is where the jump leads, if it is a short one; nil: it is not. Copies of the jump share it.
	Via *Springboard

	// Springboard is set if Addr is a springboard, as Left.Jumps finds it.
	Springboard bool
}

// Springboard is a jump to a stub in bytes that no thread executes but those that a short jump has led there. It stays
// when the short jump is removed, because a thread may be between the two.
type Springboard struct {
	Addr uint64
	Orig [JumpSize]byte // padding
	Now  [JumpSize]byte // what is there: Orig, or the latest jump that was written
	Code [JumpSize]byte // the jump that Insert writes
}

// Look finds out what is there, and reports whether it can be read.
func (s *Springboard) Look(mem Memory) bool { return mem.Peek(s.Addr, s.Now[:]) == nil }

// Leads returns where the springboard leads at present, if it does.
func (s *Springboard) Leads() (to uint64, ok bool) {
	j := Jump{Addr: s.Addr, Len: JumpSize, Code: s.Now}
	return j.Leads()
}

// Restore puts back the padding. No thread may be at the springboard, or return there.
func (s *Springboard) Restore(mem Memory, stopped int) error {
	var now [JumpSize]byte
	if err := mem.Peek(s.Addr, now[:]); err != nil || now != s.Now {
		return err
	}
	return mem.Poke(s.Addr, s.Orig[:], stopped)
}

// LeadTo makes the code that of a jump of by to a stub, through the springboard if there is one.
func (j *Jump) LeadTo(stub uint64, by arch.WindowArch) error {
	to := stub
	if j.Via != nil {
		code, err := Windows.Jump(j.Via.Addr, stub)
		if err != nil {
			return err
		}
		copy(j.Via.Code[:], code)
		to = j.Via.Addr
	}
	code, err := by.Jump(j.Addr, to)
	copy(j.Code[:], code)
	return err
}

// Leads returns where the code jumps to, if it is a jump.
func (j *Jump) Leads() (to uint64, ok bool) {
	const jmp, jmpShort, b = 0xe9, 0xeb, 0x14000000
	switch {
	case j.Len == a64Jump:
		w := binary.LittleEndian.Uint32(j.Code[:])
		return j.Addr + uint64(int64(int32(w<<6))>>4), w>>26 == b>>26
	case j.Len == shortJump:
		return j.Addr + shortJump + uint64(int64(int8(j.Code[1]))), j.Code[0] == jmpShort
	}
	return j.Addr + JumpSize + uint64(int64(int32(binary.LittleEndian.Uint32(j.Code[1:])))), j.Code[0] == jmp
}

// IsHalf reports whether what is at the place may be a part of a jump, behind the breakpoint that stands there while a
// jump of several writes is written.
func (j *Jump) IsHalf(now [JumpSize]byte) bool {
	return j.Len != a64Jump && now[0] == breakpoint && now != j.Under
}

// Undo restores the code at a place in one write. The threads of the process are stopped, so that none sees a part of
// the write. A breakpoint in the first byte, as Remove has it, would end a thread that blocks SIGTRAP: nothing has kept
// it from that since the session was killed.
func (j Jump) Undo(mem Memory) error { return mem.Poke(j.Addr, j.Orig[:j.Len], 0) }

// inOnePage reports whether some bytes at an address are in one page, so that the kernel writes them all or none.
func inOnePage(addr uint64, n int) bool {
	const page = 4096
	return addr%page <= page-uint64(n)
}
