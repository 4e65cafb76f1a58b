package arm

// ThreadPointer is a Memory that also knows the thread pointer of the thread that the instruction runs on: the register TPIDRURO, which
// Linux lets processes read. Without it, MRC of that register fails.
type ThreadPointer interface {
	ThreadPointer() (uint32, error)
}

// readMask is the bits of CPSR that MRS shows, and userMode those of the mode field, which are the same for every process.
const (
	readMask = 0xf8ff03df
	userMode = 0x10
)

func execMRSA32(c *cpu, w uint32) error { return c.readCPSR(field(w, 12, 4)) }
func execMRST32(c *cpu, w uint32) error { return c.readCPSR(field(w, 8, 4)) }

func (c *cpu) readCPSR(d uint32) error {
	c.set(d, c.cpsr&readMask&^31|userMode)
	return nil
}

// execMSRReg and execMSRImm write the flags and GE as bits 19 and 18 of the instruction say; a process cannot change the other fields
// but for E.
func execMSRReg(c *cpu, w uint32) error { return c.writeCPSR(field(w, 16, 4), c.r[w&15]) }
func execMSRImm(c *cpu, w uint32) error {
	v, _ := expandA32(w, 0)
	return c.writeCPSR(field(w, 16, 4), v)
}
func execMSRT32(c *cpu, w uint32) error {
	return c.writeCPSR(field(w, 8, 4), c.r[field(w, 16, 4)])
}

func (c *cpu) writeCPSR(fields, v uint32) error {
	var mask uint32
	if bit(fields, 3) {
		mask |= userMSR
	}
	if bit(fields, 2) {
		mask |= maskGE
	}
	if bit(fields, 1) {
		mask |= flagE
	}
	c.cpsr = c.cpsr&^mask | v&mask
	return nil
}

// execNOP is all hints: what they hint at is no concern of registers or memory.
func execNOP(*cpu, uint32) error { return nil }

// execSVC leaves everything to the kernel, the program counter too.
func execSVC(c *cpu, _ uint32) error {
	c.next, c.newIT = c.pc, true
	return nil
}

// execThreadPointer is MRC of TPIDRURO.
func execThreadPointer(c *cpu, w uint32) error {
	tp, ok := c.mem.(ThreadPointer)
	if !ok {
		return errNoThreadPtr
	}
	v, err := tp.ThreadPointer()
	if err != nil {
		return err
	}
	c.set(field(w, 12, 4), v)
	return nil
}
