package coredump

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"

	"gotap/arch"
	"gotap/arch/x86"
)

// Types of notes (the kernel's include/uapi/linux/elf.h).
const (
	noteStatus   = 1          // NT_PRSTATUS: one thread, with its general registers
	noteFloat    = 2          // NT_PRFPREG, also called NT_FPREGSET
	noteInfo     = 3          // NT_PRPSINFO: the process
	noteAuxv     = 6          // NT_AUXV
	noteFile     = 0x46494c45 // NT_FILE: the mapped files
	noteARMVFP   = 0x400      // NT_ARM_VFP: the vector registers of a 32-bit ARM thread
	noteExtended = 0x46e62b7f // NT_PRXFPREG: the FXSAVE image of a 32-bit thread
)

// notes returns all notes of a core in the order of the kernel: the note of the process is between the first thread and
// its floating-point registers.
func (p *Process) notes() []byte {
	n := notes{p: p}
	for i := range p.Threads {
		t := &p.Threads[i]
		n.add("CORE", noteStatus, n.status(t))
		if i == 0 {
			n.add("CORE", noteInfo, n.info())
			n.add("CORE", noteAuxv, p.Auxv)
			n.add("CORE", noteFile, n.files())
		}
		n.float(t)
	}
	return n.out.Bytes()
}

// notes writes structures with the word size of the process.
type notes struct {
	p   *Process
	out bytes.Buffer
}

// add appends a note: its name and contents are padded to four bytes each.
func (n *notes) add(name string, kind uint32, desc []byte) {
	name += "\x00"
	for _, v := range []uint32{uint32(len(name)), uint32(len(desc)), kind} {
		binary.Write(&n.out, binary.LittleEndian, v)
	}
	for _, part := range [][]byte{[]byte(name), desc} {
		n.out.Write(part)
		n.out.Write(make([]byte, -len(part)&3))
	}
}

// record builds one structure.
type record struct {
	bytes.Buffer
	word int
}

func (r *record) u16(v uint16) { binary.Write(r, binary.LittleEndian, v) }
func (r *record) u32(v uint32) { binary.Write(r, binary.LittleEndian, v) }

// long appends an unsigned long of the process, which C aligns to its size.
func (r *record) long(v uint64) {
	r.Write(make([]byte, -r.Len()&(r.word-1)))
	if r.word == 4 {
		r.u32(uint32(v))
		return
	}
	binary.Write(r, binary.LittleEndian, v)
}

// text appends a field of n bytes that ends in a NUL.
func (r *record) text(s string, n int) {
	field := make([]byte, n)
	copy(field[:n-1], s)
	r.Write(field)
}

// status returns a struct elf_prstatus. Times are 0.
func (n *notes) status(t *Thread) []byte {
	r := record{word: n.p.Word}
	r.u32(uint32(t.Signal)) // pr_info: si_signo, si_code, si_errno
	r.u32(0)
	r.u32(0)
	r.u16(uint16(t.Signal)) // pr_cursig
	r.long(t.Pending)
	r.long(t.Blocked)
	for _, id := range []int{t.Tid, n.p.Info.Ppid, n.p.Info.Group, n.p.Info.Session} {
		r.u32(uint32(id))
	}
	for range 8 { // four times, of two words each
		r.long(0)
	}
	for _, v := range registers(&t.Regs, n.p.machine()) {
		r.long(v)
	}
	valid := uint32(0)
	if t.Float != nil {
		valid = 1
	}
	r.u32(valid)
	if n.p.Word == 8 {
		r.u32(0)
	}
	return r.Bytes()
}

// order32 is the register order of struct user_regs_struct of IA-32.
var order32 = [...]int{x86.RBX, x86.RCX, x86.RDX, x86.RSI, x86.RDI, x86.RBP, x86.RAX, x86.DS, x86.ES, x86.FS, x86.GS,
	x86.OrigRAX, x86.RIP, x86.CS, x86.EFLAGS, x86.RSP, x86.SS}

// registers returns the general registers in the order of the process's architecture.
func registers(regs *arch.Regs, machine elf.Machine) []uint64 {
	const ofARM, ofARM64 = 18, 34 // struct pt_regs, struct user_pt_regs
	switch machine {
	case elf.EM_X86_64:
		return regs[:x86.NumRegs]
	case elf.EM_AARCH64:
		return regs[:ofARM64]
	case elf.EM_ARM:
		return regs[:ofARM]
	}
	list := make([]uint64, len(order32))
	for i, from := range order32 {
		list[i] = regs[from]
	}
	return list
}

// info returns a struct elf_prpsinfo.
func (n *notes) info() []byte {
	i := &n.p.Info
	r := record{word: n.p.Word}
	state := strings.IndexByte("RSDTZW", i.State)
	r.WriteByte(byte(max(state, 0)))
	r.WriteByte(i.State)
	zombie := byte(0)
	if i.State == 'Z' {
		zombie = 1
	}
	r.WriteByte(zombie)
	r.WriteByte(byte(i.Nice))
	r.long(i.Flags)
	for _, id := range []int{i.UID, i.GID} {
		if n.p.Word == 4 {
			r.u16(uint16(id))
		} else {
			r.u32(uint32(id))
		}
	}
	for _, id := range []int{n.p.Pid, i.Ppid, i.Group, i.Session} {
		r.u32(uint32(id))
	}
	r.text(i.Name, 16)
	r.text(i.Args, 80)
	return r.Bytes()
}

// files returns the list of mapped files: a count, the unit of offsets, three words for each mapping, then the names.
func (n *notes) files() []byte {
	r := record{word: n.p.Word}
	var names bytes.Buffer
	var words []uint64
	for i := range n.p.Mappings {
		m := &n.p.Mappings[i]
		if !m.File() {
			continue
		}
		words = append(words, m.Start, m.End, m.Offset/pageSize)
		names.WriteString(m.Path)
		names.WriteByte(0)
	}
	r.long(uint64(len(words) / 3))
	r.long(pageSize)
	for _, w := range words {
		r.long(w)
	}
	r.Write(names.Bytes())
	return r.Bytes()
}

// float adds the floating-point and vector registers. In a core of IA-32 the older note is the FSAVE image, which is
// converted from the FXSAVE image, and the FXSAVE image has a separate note.
func (n *notes) float(t *Thread) {
	if t.Float == nil {
		return
	}
	switch n.p.machine() {
	case elf.EM_X86_64, elf.EM_AARCH64:
		n.add("CORE", noteFloat, t.Float)
		return
	case elf.EM_ARM:
		n.add("LINUX", noteARMVFP, t.Float)
		return
	}
	n.add("CORE", noteFloat, fsave(t.Float))
	n.add("LINUX", noteExtended, t.Float)
}

// machine returns the processor for the ELF header.
func (p *Process) machine() elf.Machine {
	if p.Machine != elf.EM_NONE {
		return p.Machine
	}
	if p.Word == 4 {
		return elf.EM_386
	}
	return elf.EM_X86_64
}

// fsave converts an FXSAVE image to the 108 bytes of an FSAVE image (Intel SDM vol. 1, 8.1 and 10.5.1). 16-bit words
// become 32-bit words, and registers lose their padding. The tag word contains only "valid" or "empty", because FXSAVE
// keeps one bit for each register.
func fsave(fx []byte) []byte {
	r := record{word: 4}
	u16 := func(at int) uint16 { return binary.LittleEndian.Uint16(fx[at:]) }
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(fx[at:]) }
	r.u32(uint32(u16(0)) | 0xffff0000) // control
	r.u32(uint32(u16(2)) | 0xffff0000) // status
	tags := uint32(0xffff0000)
	for i := range 8 {
		if fx[4]>>i&1 == 0 {
			tags |= 3 << (2 * i)
		}
	}
	r.u32(tags)
	r.u32(u32(8))                               // instruction pointer
	r.u32(uint32(u16(12)) | uint32(u16(6))<<16) // its selector, and the opcode
	r.u32(u32(16))                              // operand pointer
	r.u32(uint32(u16(20)) | 0xffff0000)         // its selector
	for i := range 8 {
		r.Write(fx[32+16*i:][:10])
	}
	return r.Bytes()
}
