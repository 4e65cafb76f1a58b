package coredump

import (
	"debug/elf"
	"fmt"
	"strconv"
	"strings"

	"gotap/arch"
	"gotap/engine/image/module"
	"gotap/engine/linux/procfs"
)

// Process is the content of a core. Describe sets everything except Threads and Read.
type Process struct {
	Pid      int
	Word     int         // bytes of a pointer: 4 or 8
	Machine  elf.Machine // EM_NONE: x86, with the variant given by Word
	Mappings []Mapping
	Auxv     []byte // as provided by the kernel, in words of the process
	Info     Info

	// Threads are the threads with their registers. Debuggers show the first one.
	Threads []Thread
	// Read fills p from addr and returns how many bytes could be read.
	Read func(addr uint64, p []byte) int
}

// Thread is a stopped thread.
type Thread struct {
	Tid     int
	Regs    arch.Regs // in the order of package arch; on x86 always the struct user_regs_struct of x86-64
	Float   []byte    // the FXSAVE image, or its equivalent from ARM kernels; nil if it could not be read
	Signal  int       // signal about to be delivered; 0 for none
	Pending uint64    // pending signals: bit n-1 is signal n
	Blocked uint64    // blocked signals
}

// Mapping is a mapping of the process.
type Mapping struct {
	module.Mapping
	Dump bool // its contents are part of the core
}

// Info describes the process as a whole.
type Info struct {
	State                byte // as in /proc/PID/stat: 'R', 'S', 't' …
	Nice                 int
	Flags                uint64
	UID, GID             int
	Ppid, Group, Session int
	Name                 string // at most 15 bytes
	Args                 string // the command line, joined by spaces
}

// Describe reads a process in /proc. Its pointers have word bytes.
func Describe(pid, word int) (*Process, error) {
	p := &Process{Pid: pid, Word: word}
	maps, err := module.Maps(pid)
	if err != nil {
		return nil, err
	}
	by := procfs.Living(pid)
	skip := undumped(procfs.Read(by, "smaps"))
	for _, m := range maps {
		if isKernel(m.Start, word) {
			continue
		}
		p.Mappings = append(p.Mappings, Mapping{m, m.Read && !skip[m.Start]})
	}
	p.Auxv = []byte(procfs.Read(by, "auxv"))
	if err := p.Info.parse(procfs.Read(pid, "stat")); err != nil {
		return nil, fmt.Errorf("cannot describe process %d: %w", pid, err)
	}
	status := procfs.Read(pid, "status")
	p.Info.UID, p.Info.GID = firstNumber(status, "Uid:"), firstNumber(status, "Gid:")
	p.Info.Args = strings.TrimRight(strings.ReplaceAll(procfs.Read(by, "cmdline"), "\x00", " "), " ")
	return p, nil
}

// isKernel reports whether an address is in the kernel's half, which contains the vsyscall page. No memory there
// belongs to the process.
func isKernel(addr uint64, word int) bool { return word == 8 && addr>>63 != 0 }

// undumped returns the starts of the mappings that a smaps file marks as not to be dumped: "dd" is MADV_DONTDUMP, and
// "io" is device memory, which reading may disturb.
func undumped(smaps string) map[uint64]bool {
	skip := map[uint64]bool{}
	var start uint64
	for line := range strings.Lines(smaps) {
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok {
			for f := range strings.FieldsSeq(flags) {
				if f == "dd" || f == "io" {
					skip[start] = true
				}
			}
			continue
		}
		first, _, found := strings.Cut(line, "-")
		if addr, err := strconv.ParseUint(first, 16, 64); found && err == nil {
			start = addr
		}
	}
	return skip
}

// parse reads the text of /proc/PID/stat (proc_pid_stat(5)). The name is in brackets and may contain anything,
// including brackets.
func (i *Info) parse(stat string) error {
	open, end := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return fmt.Errorf("no name in %q", stat)
	}
	i.Name = stat[open+1 : end]
	fields := strings.Fields(stat[end+1:])
	const nice = 19 - 3 // field 19, counted from the state, which is field 3
	if len(fields) <= nice {
		return fmt.Errorf("only %d fields behind the name", len(fields))
	}
	i.State = fields[0][0]
	i.Ppid, i.Group, i.Session = number(fields[1]), number(fields[2]), number(fields[3])
	i.Flags, _ = strconv.ParseUint(fields[6], 10, 64)
	i.Nice = number(fields[nice])
	return nil
}

// firstNumber returns the first number after a name in the text of a status file.
func firstNumber(status, name string) int {
	_, rest, _ := strings.Cut("\n"+status, "\n"+name)
	first, _, _ := strings.Cut(strings.TrimLeft(rest, " \t"), "\t")
	return number(first)
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}
