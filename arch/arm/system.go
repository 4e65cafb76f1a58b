package arm

// ThreadPointer is implemented by a Memory that knows the thread pointer of the thread: the register TPIDRURO,
// which Linux lets processes read. Without it, MRC of that register fails.
type ThreadPointer interface {
	ThreadPointer() (uint32, error)
}

// readMask is the bits of CPSR that MRS returns, and userMode the mode field, which is the same for every process.
const (
	readMask = 0xf8ff03df
	userMode = 0x10
)

func execMRSA32(c *cpu, w uint32) error { return c.readCPSR(field(w, 12, 4)) }
func execMRST32(c *cpu, w uint32) error { return c.readCPSR(field(w, 8, 4)) }

func (c *core) readCPSR(d uint32) error {
	c.set(d, c.cpsr&readMask&^31|userMode)
	return nil
}

// execMSRReg and execMSRImm write the flags and GE if bits 19 and 18 of the instruction are set. Of the other
// fields, a process can change only E.
func execMSRReg(c *cpu, w uint32) error { return c.writeCPSR(field(w, 16, 4), c.r[w&15]) }
func execMSRImm(c *cpu, w uint32) error {
	v, _ := expandA32(w, 0)
	return c.writeCPSR(field(w, 16, 4), v)
}
func execMSRT32(c *cpu, w uint32) error {
	return c.writeCPSR(field(w, 8, 4), c.r[field(w, 16, 4)])
}

func (c *core) writeCPSR(fields, v uint32) error {
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

// execNOP executes hints, which change neither registers nor memory.
func execNOP(*cpu, uint32) error { return nil }

// execSVC leaves everything to the kernel, including the program counter.
func execSVC(c *cpu, _ uint32) error {
	c.next, c.newIT = c.pc, true
	return nil
}

// execThreadPointer executes MRC of TPIDRURO.
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
