package register

import (
	"bytes"
	"errors"
	"fmt"

	"gotap/arch"
	"gotap/engine/remote/rsp"
)

// Client is what a File needs of the connection to the stub.
type Client interface {
	Choose(thread string) error
	ReadRegisters() ([]byte, error)
	WriteRegisters(data []byte) error
	ReadRegister(r rsp.Register) ([]byte, error)
	WriteRegister(r rsp.Register, data []byte) error
}

// File is the registers of one thread, as of its last stop.
type File struct {
	General arch.Regs
	Vectors arch.Vectors // valid after LoadVectors

	client Client
	layout *Layout
	thread string    // as the stub names it
	was    arch.Regs // General as the stub has it
	raw    []byte    // the stub's packet with the registers

	vectorsWas arch.Vectors // Vectors as the stub has it
	loaded     bool         // Vectors is valid
}

// Init sets the thread whose registers the file holds; Read reads them.
func (f *File) Init(client Client, layout *Layout, thread string) {
	f.client, f.layout, f.thread = client, layout, thread
}

// PC returns the program counter, which may be changed.
func (f *File) PC() *uint64 { return &f.General[f.layout.isa.PC()] }

// SP returns the stack pointer.
func (f *File) SP() uint64 { return f.General[f.layout.isa.SP()] }

// Read reads the general registers after a stop. The error names the thread.
func (f *File) Read() error {
	if err := f.client.Choose(f.thread); err != nil {
		return err
	}
	raw, err := f.client.ReadRegisters()
	if err != nil {
		return fmt.Errorf("cannot read the registers of thread %s: %w", f.thread, err)
	}
	f.raw, f.loaded = raw, false
	for _, sl := range f.layout.slots {
		data := f.bytes(sl.reg)
		if data == nil {
			if data, err = f.client.ReadRegister(sl.reg); err != nil && f.needs(sl.index) {
				return fmt.Errorf("cannot read register %s of thread %s: %w", sl.reg.Name, f.thread, err)
			}
		}
		v := value(data)
		if sl.bits < 64 {
			v &= 1<<sl.bits - 1
		}
		f.General[sl.index] = v
	}
	f.was = f.General
	return nil
}

// needs reports whether a register is indispensable.
func (f *File) needs(index int) bool {
	return index == f.layout.isa.PC() || index == f.layout.isa.SP()
}

// bytes returns a register's part of the packet of all registers, or nil if it is not there.
func (f *File) bytes(r rsp.Register) []byte {
	if end := r.Offset + r.Bytes(); end <= len(f.raw) {
		return f.raw[r.Offset:end]
	}
	return nil
}

// Write sends the stub the registers that have changed. The error names the register and the thread.
func (f *File) Write() error {
	if err := f.writeVectors(); err != nil {
		return err
	}
	for _, sl := range f.layout.slots {
		if f.General[sl.index] == f.was[sl.index] {
			continue
		}
		if err := f.writeValue(sl.reg, f.General[sl.index]); err != nil {
			return err
		}
	}
	f.was = f.General
	return nil
}

// writeValue sets one register to a number.
func (f *File) writeValue(r rsp.Register, v uint64) error {
	data := make([]byte, r.Bytes())
	putValue(data, v)
	return f.write(r, data)
}

// write sets one register, either alone or together with all others.
func (f *File) write(r rsp.Register, data []byte) error {
	if bytes.Equal(f.bytes(r), data) {
		return nil
	}
	err := f.client.WriteRegister(r, data)
	if at := f.bytes(r); at != nil {
		copy(at, data)
		if errors.Is(err, rsp.ErrUnsupported) {
			err = f.client.WriteRegisters(f.raw)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot set register %s of thread %s: %w", r.Name, f.thread, err)
	}
	return nil
}

// TakesSP reports whether the stub accepts the present stack pointer: it is written, and read back. known is false if
// it could not be read.
func (f *File) TakesSP() (takes, known bool) {
	sp := f.SP()
	r := f.layout.slotOf(f.layout.isa.SP()).reg
	if f.writeValue(r, sp) != nil {
		return false, false
	}
	raw, err := f.client.ReadRegisters()
	if err != nil {
		return false, false
	}
	f.raw = raw
	data := f.bytes(r)
	if data == nil {
		if data, err = f.client.ReadRegister(r); err != nil {
			return false, false
		}
	}
	got := value(data)
	f.was[f.layout.isa.SP()] = got
	return got == sp, true
}

// register reads one register of the present stop.
func (f *File) register(r rsp.Register) ([]byte, bool) {
	if r.Name == "" {
		return nil, false
	}
	if data := f.bytes(r); data != nil {
		return data, true
	}
	data, err := f.client.ReadRegister(r)
	return data, err == nil
}
