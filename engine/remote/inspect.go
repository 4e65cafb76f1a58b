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
	stop, err := s.client.Why()
	if err != nil {
		return err
	}
	if stop.Kind != rsp.Stopped {
		return &hinted{errNothing, "gdbserver --multi starts and attaches to nothing by itself: gdbserver :PORT PROGRAM, gdbserver --attach :PORT PID"}
	}
	aux, auxErr := s.client.Transfer("auxv", "")
	_, offset := s.client.Offset()
	file, err := s.program()
	if err != nil {
		return err
	}
	if err := s.describe(file); err != nil {
		return err
	}
	s.kernel = auxErr != nil && !offset && s.isa.inUpperHalf(file)
	t, err := s.threadOf(stop.Thread)
	if err != nil {
		return err
	}
	s.mem.first = t.id
	vector := s.auxiliary(aux)
	s.signs = s.signsPointers(vector)
	s.setModules([]module.Loaded{s.loaded(file, s.bias(file, vector))})
	s.comm = filepath.Base(file.Path)
	if err := s.compareIDs(file); err != nil {
		return err
	}
	return s.watchLoader(file, vector)
}

// inUpperHalf reports whether a file's code lies in the upper half of the addresses, where kernels are.
func (a *stubISA) inUpperHalf(file *module.File) bool {
	shift := 8*a.WordSize() - 1
	return slices.ContainsFunc(file.Segments, func(seg module.Segment) bool { return seg.Flags&elf.PF_X != 0 && seg.Vaddr>>shift != 0 })
}

// program returns the file of the program that the target runs: the one that was named, or the one that the stub
// names if it also exists locally.
func (s *Session) program() (*module.File, error) {
	path := s.cfg.Exe
	if path == "" {
		name, err := s.client.Transfer("exec-file", "")
		if err != nil || len(name) == 0 {
			return nil, &hinted{ErrNoExe, "--exe FILE names the program, the kernel's vmlinux, or a list of its symbols"}
		}
		path = string(name)
		if _, err := os.Stat(path); err != nil {
			return nil, &hinted{fmt.Errorf("cannot read the target's program %s here: %w", path, err), "--exe FILE names a copy"}
		}
	}
	if isSymbolList(path) {
		return s.symbolList(path)
	}
	return s.modules.OpenPath(path)
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
	if err != nil || s.mem.read(s.isa.Address(s.mods[0].Addr(section.Addr)), have) < len(have) || bytes.Equal(have, want) {
		return nil
	}
	return &hinted{fmt.Errorf("cannot trace %s: the target runs another program, whose build-id is not %s", file.Path, file.BuildID),
		"--exe FILE names the program that runs there"}
}

// maxNote is the maximum size of a note with a build-id.
const maxNote = 256

// describe selects the instruction set, and finds its registers in the stub's description.
func (s *Session) describe(file *module.File) error {
	s.isa = isaOf(file.Machine)
	if s.isa == nil {
		return fmt.Errorf("cannot trace %s: its processor, %v, is not x86, ARM or AArch64", file.Path, file.Machine)
	}
	if file.Order.Uint16([]byte{1, 0}) != 1 {
		return fmt.Errorf("cannot trace %s: it is big-endian", file.Path)
	}
	d, err := s.client.Describe()
	switch {
	case errors.Is(err, rsp.ErrUnsupported):
		d = rsp.Classic(s.isa.name)
	case err != nil:
		return err
	}
	if of := isaNamed(d.Architecture); d.Architecture != "" && of != s.isa {
		return &hinted{fmt.Errorf("cannot trace %s, a file for %s: the stub's target is %s", file.Path, s.isa.Title, d.Architecture),
			"--exe FILE names the program that runs there"}
	}
	s.bound, err = s.isa.bind(d)
	return err
}

// auxiliary reads the auxiliary vector: pairs of words.
func (s *Session) auxiliary(data []byte) map[uint64]uint64 {
	all := map[uint64]uint64{}
	w := s.isa.WordSize()
	for ; len(data) >= 2*w; data = data[2*w:] {
		all[word(data[:w])] = word(data[w : 2*w])
	}
	return all
}

// bias returns what the loader has added to the addresses of the program.
func (s *Session) bias(file *module.File, aux map[uint64]uint64) uint64 {
	if at, ok := aux[auxEntry]; ok && file.Entry != 0 {
		return at - file.Entry
	}
	if at, ok := s.client.Offset(); ok && file.PIE {
		return at
	}
	return 0
}

// pageSize is the size to which addresses of mappings are rounded; the target's real page size does not matter.
const pageSize = 4096

// loaded returns a file as mapped with a bias.
func (s *Session) loaded(file *module.File, bias uint64) module.Loaded {
	m := module.Loaded{Path: file.Path, File: file, Bias: bias}
	for _, seg := range file.Segments {
		start := s.isa.Address(seg.Vaddr+bias) &^ (pageSize - 1)
		end := (s.isa.Address(seg.Vaddr+bias) + seg.MemSize + pageSize - 1) &^ (pageSize - 1)
		m.Mappings = append(m.Mappings, module.Mapping{Start: start, End: end, Exec: seg.Flags&elf.PF_X != 0, Path: file.Path})
	}
	if m.Mappings == nil {
		m.Mappings = []module.Mapping{{Path: file.Path}}
	}
	return m
}
