package remote

import (
	"bytes"
	"errors"
	"fmt"

	"gotap/arch"
	"gotap/engine/registry/hit"
	"gotap/engine/registry/retprobe"
	"gotap/engine/remote/rsp"
)

// thread is a thread of the target, or a processor of a machine. It is used only while the target is stopped.
type thread struct {
	s    *Session
	name string // as the stub names it
	id   int    // the number in the name

	regs arch.Regs
	was  arch.Regs // the registers as the stub sent them
	raw  []byte    // the stub's packet with the registers

	vecs    arch.Vectors
	vecsWas arch.Vectors
	vecRead bool

	h         hit.Hit // the programs of the present hit
	at        *point
	before    uint64 // the stack pointer before the instruction that the target ran itself
	fault     uint64 // address, in fault handlers
	sig       int
	inCall    bool             // the programs that run now belong to a system call
	callAgain bool             // the kernel is about to make the call again
	pending   retprobe.Pending // leave handlers of its current system call
	calls     retprobe.Thread  // the calls that it is in
}

func (t *thread) pc() *uint64 { return &t.regs[t.s.isa.PC()] }
func (t *thread) sp() uint64  { return t.regs[t.s.isa.SP()] }

// readRegs reads the registers after a stop.
func (t *thread) readRegs() error {
	if err := t.s.client.Choose(t.name); err != nil {
		return err
	}
	raw, err := t.s.client.ReadRegisters()
	if err != nil {
		return fmt.Errorf("cannot read the registers of thread %s: %w", t.name, err)
	}
	t.raw, t.vecRead = raw, false
	for _, sl := range t.s.bound.slots {
		data := t.bytes(sl.reg)
		if data == nil {
			if data, err = t.s.client.ReadRegister(sl.reg); err != nil && t.needs(sl.index) {
				return fmt.Errorf("cannot read register %s of thread %s: %w", sl.reg.Name, t.name, err)
			}
		}
		v := word(data)
		if sl.bits < 64 {
			v &= 1<<sl.bits - 1
		}
		t.regs[sl.index] = v
	}
	t.was = t.regs
	return nil
}

// needs reports whether a register is indispensable.
func (t *thread) needs(index int) bool { return index == t.s.isa.PC() || index == t.s.isa.SP() }

// bytes returns a register's part of the packet of all registers, or nil if it is not there.
func (t *thread) bytes(r rsp.Register) []byte {
	if end := r.Offset + r.Bytes(); end <= len(t.raw) {
		return t.raw[r.Offset:end]
	}
	return nil
}

// writeRegs writes the registers that have changed to the stub.
func (t *thread) writeRegs() error {
	if err := t.writeVectors(); err != nil {
		return err
	}
	for _, sl := range t.s.bound.slots {
		if t.regs[sl.index] == t.was[sl.index] {
			continue
		}
		data := make([]byte, sl.reg.Bytes())
		putWord(data, t.regs[sl.index])
		if err := t.write(sl.reg, data); err != nil {
			return fmt.Errorf("cannot set register %s of thread %s: %w", sl.reg.Name, t.name, err)
		}
	}
	t.was = t.regs
	return nil
}

// write sets one register, either alone or together with all others.
func (t *thread) write(r rsp.Register, data []byte) error {
	if bytes.Equal(t.bytes(r), data) {
		return nil
	}
	err := t.s.client.WriteRegister(r, data)
	if at := t.bytes(r); at != nil {
		copy(at, data)
		if errors.Is(err, rsp.ErrUnsupported) {
			return t.s.client.WriteRegisters(t.raw)
		}
	}
	return err
}

// register reads one register of the present stop.
func (t *thread) register(r rsp.Register) ([]byte, bool) {
	if r.Name == "" {
		return nil, false
	}
	if data := t.bytes(r); data != nil {
		return data, true
	}
	data, err := t.s.client.ReadRegister(r)
	return data, err == nil
}

// readVectors reads the vector registers, at most once per stop.
func (t *thread) readVectors() bool {
	b := t.s.bound
	if t.vecRead || len(b.vectors) == 0 {
		return t.vecRead
	}
	var v arch.Vectors
	for i, r := range b.vectors {
		data, ok := t.register(r)
		if !ok {
			return false
		}
		if t.s.isa == &armISA {
			v.V[i/2][i%2] = word(data)
		} else {
			v.V[i] = [2]uint64{word(data[:8]), word(data[8:min(16, len(data))])}
		}
	}
	if data, ok := t.register(b.control); ok {
		v.Control = word(data)
	}
	if data, ok := t.register(b.status); ok {
		v.Status = word(data)
	}
	t.vecs, t.vecsWas, t.vecRead = v, v, true
	return true
}

// writeVectors writes the vector registers that have changed to the stub. The bytes beyond the first sixteen of a
// register become zero, as they do when an instruction writes the register.
func (t *thread) writeVectors() error {
	if !t.vecRead || t.vecs == t.vecsWas {
		return nil
	}
	for i, r := range t.s.bound.vectors {
		data := make([]byte, r.Bytes())
		now, was := t.vecs.V[i], t.vecsWas.V[i]
		if t.s.isa == &armISA {
			now, was = [2]uint64{t.vecs.V[i/2][i%2]}, [2]uint64{t.vecsWas.V[i/2][i%2]}
		}
		if now == was {
			continue
		}
		putWord(data[:8], now[0])
		if len(data) >= 16 {
			putWord(data[8:16], now[1])
		}
		if err := t.write(r, data); err != nil {
			return fmt.Errorf("cannot set register %s of thread %s: %w", r.Name, t.name, err)
		}
	}
	return t.writeModes()
}

// writeModes is writeVectors for the registers with the vector unit's modes and flags.
func (t *thread) writeModes() error {
	for _, m := range []struct {
		r        rsp.Register
		now, was uint64
	}{{t.s.bound.control, t.vecs.Control, t.vecsWas.Control}, {t.s.bound.status, t.vecs.Status, t.vecsWas.Status}} {
		if m.now == m.was || m.r.Name == "" {
			continue
		}
		data := make([]byte, m.r.Bytes())
		putWord(data, m.now)
		if err := t.write(m.r, data); err != nil {
			return fmt.Errorf("cannot set register %s of thread %s: %w", m.r.Name, t.name, err)
		}
	}
	t.vecsWas = t.vecs
	return nil
}
