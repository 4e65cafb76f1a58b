package remote

import (
	"errors"
	"fmt"

	"gotap/engine/image/module"
	"gotap/engine/remote/memory"
	"gotap/engine/remote/register"
	"gotap/engine/remote/rsp"
	"gotap/engine/remote/symbollist"
)

// stub is the connection to the stub, with what is known of the stub and of the processor behind it. The fields of the
// first group are set while the session is opened and never change; the others are found out when they first matter,
// and the control's lock guards them.
type stub struct {
	client *rsp.Client
	isa    *register.ISA
	layout *register.Layout
	kernel bool // the target is a machine, whose threads are its processors

	spTaken bool // the stub accepts a changed stack pointer
	spKept  bool // the stub does not; neither is set until that is known
	queried bool
	qemu    bool // the stub is QEMU's; valid once queried
}

// describe selects the instruction set, and finds its registers in the stub's description.
func (st *stub) describe(file *module.File) error {
	st.isa = register.Of(file.Machine)
	if st.isa == nil {
		return fmt.Errorf("cannot trace %s: its processor, %v, is not x86, ARM or AArch64", file.Path, file.Machine)
	}
	if file.Order.Uint16([]byte{1, 0}) != 1 {
		return fmt.Errorf("cannot trace %s: it is big-endian", file.Path)
	}
	d, err := st.client.Describe()
	switch {
	case errors.Is(err, rsp.ErrUnsupported):
		d = rsp.Classic(st.isa.GDBName)
	case err != nil:
		return err
	}
	if of := register.Named(d.Architecture); d.Architecture != "" && of != st.isa {
		return &hinted{fmt.Errorf("cannot trace %s, a file for %s: the stub's target is %s", file.Path, st.isa.Title, d.Architecture),
			"--exe FILE names the program that runs there"}
	}
	st.layout, err = st.isa.Bind(d)
	return err
}

// symbolList makes a file from a list of symbols, for the processor that the stub names.
func (st *stub) symbolList(path string) (*module.File, error) {
	list, err := symbollist.Open(path)
	if err != nil {
		return nil, err
	}
	d, err := st.client.Describe()
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: only the stub could tell which processor it is for: %w", path, err)
	}
	a := register.Named(d.Architecture)
	if a == nil {
		return nil, fmt.Errorf("cannot read %s: the stub's target is %q, which is not x86, ARM or AArch64", path, d.Architecture)
	}
	return list.File(a.Machine, st.client.ReadMemory)
}

// auxiliary parses an auxiliary vector: pairs of words.
func (st *stub) auxiliary(data []byte) map[uint64]uint64 {
	all := map[uint64]uint64{}
	w := st.isa.WordSize()
	for ; len(data) >= 2*w; data = data[2*w:] {
		all[memory.Word(data[:w])] = memory.Word(data[w : 2*w])
	}
	return all
}

// bias returns what the loader has added to the addresses of the program.
func (st *stub) bias(file *module.File, aux map[uint64]uint64) uint64 {
	if at, ok := aux[auxEntry]; ok && file.Entry != 0 {
		return at - file.Entry
	}
	if at, ok := st.client.Offset(); ok && file.PIE {
		return at
	}
	return 0
}

// takesSP reports whether the stub accepts a thread's present stack pointer, which differs from the one before.
// KGDB on x86 does not, and returns no error: where the kernel keeps its registers depends on the stack pointer.
// This is determined once, by reading the register back.
func (st *stub) takesSP(regs *register.File, before uint64) bool {
	if regs.SP() == before || st.spTaken || st.isa.Stepless {
		return true
	}
	if st.spKept {
		return false
	}
	takes, known := regs.TakesSP()
	st.spTaken, st.spKept = takes, known && !takes
	return takes
}

// isQEMU reports whether the stub is QEMU's, by a query that no other stub answers.
func (st *stub) isQEMU() bool {
	if !st.queried {
		answer, err := st.client.Call("qqemu.sstepbits")
		st.queried, st.qemu = true, err == nil && answer != ""
	}
	return st.qemu
}
