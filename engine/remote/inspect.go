package remote

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"gotap/engine/image/module"
	"gotap/engine/remote/rsp"
	"gotap/engine/remote/symbollist"
)

// Entries of the auxiliary vector (System V ABI; the kernel's include/uapi/linux/auxvec.h).
const (
	auxBase  = 7 // where the dynamic loader is mapped
	auxEntry = 9 // where the program begins, in memory
)

// ErrNoExe means that the program that the target runs is not known.
var ErrNoExe = errors.New("the stub does not say which file its target runs")

// errNothing means that a stub has no target, or no longer has one.
var errNothing = errors.New("the stub has no program that runs")

// hinted is an error with advice.
type hinted struct {
	error
	hint string
}

// Hint returns the advice.
func (e *hinted) Hint() string  { return e.hint }
func (e *hinted) Unwrap() error { return e.error }

// dialError explains why a connection cannot be made.
func dialError(address string, err error) error {
	var stranger *rsp.NotStubError
	var dns *net.DNSError
	switch {
	case errors.As(err, &stranger):
		return &hinted{err, "--remote wants a GDB stub: qemu-arm -g PORT PROGRAM, qemu-system-… -gdb tcp::PORT, gdbserver :PORT PROGRAM; " +
			"a kernel's own stub, KGDB, answers while the kernel waits for it (kgdbwait, or g written to /proc/sysrq-trigger)"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &hinted{fmt.Errorf("cannot connect with %s: nothing listens there", address),
			"start the target first: qemu-arm -g PORT PROGRAM, qemu-system-… -gdb tcp::PORT, gdbserver :PORT PROGRAM"}
	case errors.As(err, &dns):
		return &hinted{fmt.Errorf("cannot connect with %s: %w", address, err), "--remote takes HOST:PORT"}
	}
	return fmt.Errorf("cannot connect with %s: %w", address, err)
}

// inspect determines the target's properties: its processor, its program, where that is loaded, and which thread
// has stopped.
func (s *Session) inspect() error {
	stop, err := s.stub.client.Why()
	if err != nil {
		return err
	}
	if stop.Kind != rsp.Stopped {
		return &hinted{errNothing, "gdbserver --multi starts and attaches to nothing by itself: gdbserver :PORT PROGRAM, gdbserver --attach :PORT PID"}
	}
	aux, auxErr := s.stub.client.Transfer("auxv", "")
	_, offset := s.stub.client.Offset()
	file, err := s.programFile()
	if err != nil {
		return err
	}
	if err := s.stub.describe(file); err != nil {
		return err
	}
	s.mem.WordSize = s.stub.isa.WordSize()
	s.stub.kernel = auxErr != nil && !offset && inUpperHalf(file, s.stub.isa.WordSize())
	s.calls.inspected(s.program.globals())
	t, err := s.threadOf(stop.Thread)
	if err != nil {
		return err
	}
	s.threads.first = t.id
	vector := s.stub.auxiliary(aux)
	s.mem.Signs = s.stub.signsPointers(vector)
	s.program.set([]module.Loaded{s.program.loaded(file, s.stub.bias(file, vector))})
	s.program.comm = filepath.Base(file.Path)
	if err := s.compareIDs(file); err != nil {
		return err
	}
	s.loader.find(file, vector)
	return nil
}

// inUpperHalf reports whether a file's code lies in the upper half of the addresses, where kernels are;
// words of the target have that many bytes.
func inUpperHalf(file *module.File, word int) bool {
	shift := 8*word - 1
	return slices.ContainsFunc(file.Segments, func(seg module.Segment) bool { return seg.Flags&elf.PF_X != 0 && seg.Vaddr>>shift != 0 })
}

// programFile returns the file of the program that the target runs: the one that was named, or the one that the stub
// names if it also exists locally.
func (s *Session) programFile() (*module.File, error) {
	path := s.cfg.Exe
	if path == "" {
		name, err := s.stub.client.Transfer("exec-file", "")
		if err != nil || len(name) == 0 {
			return nil, &hinted{ErrNoExe, "--exe FILE names the program, the kernel's vmlinux, or a list of its symbols"}
		}
		path = string(name)
		if _, err := os.Stat(path); err != nil {
			return nil, &hinted{fmt.Errorf("cannot read the target's program %s here: %w", path, err), "--exe FILE names a copy"}
		}
	}
	if symbollist.Is(path) {
		return s.stub.symbolList(path)
	}
	return s.program.files.OpenPath(path)
}

// compareIDs returns an error unless the target runs exactly the named file, if both have a build-id and the
// target's can be read from memory.
func (s *Session) compareIDs(file *module.File) error {
	section := file.ELF().Section(".note.gnu.build-id")
	if section == nil || section.Addr == 0 || section.Size > maxNote {
		return nil
	}
	want, err := section.Data()
	have := make([]byte, len(want))
	if err != nil || s.mem.Read(s.stub.isa.Address(s.program.mods[0].Addr(section.Addr)), have) < len(have) || bytes.Equal(have, want) {
		return nil
	}
	return &hinted{fmt.Errorf("cannot trace %s: the target runs another program, whose build-id is not %s", file.Path, file.BuildID),
		"--exe FILE names the program that runs there"}
}

// maxNote is the maximum size of a note with a build-id.
const maxNote = 256
