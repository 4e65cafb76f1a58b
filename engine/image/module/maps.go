package module

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"gotap/engine/linux/procfs"
)

// Mapping is one line of /proc/PID/maps.
type Mapping struct {
	Start, End uint64
	Read       bool
	Write      bool
	Exec       bool
	Shared     bool
	Offset     uint64 // in the file
	Dev, Inode uint64 // as the kernel maps them; stat may differ in file systems with their own device numbers
	Path       string // "" for anonymous memory; "[vdso]", "[stack]" and the like; else a path in the process's mount namespace
	Deleted    bool   // the file was deleted
}

// File reports whether a mapping is of a file, including deleted ones and memfds.
func (m Mapping) File() bool { return m.Inode != 0 && m.Path != "" }

// Maps reads the mappings of a process. It needs permission to trace the process but does not stop it, so new mappings
// may be missing.
func Maps(pid int) ([]Mapping, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", procfs.Living(pid)))
	if err != nil {
		return nil, fmt.Errorf("cannot read mappings of process %d: %w", pid, err)
	}
	maps, err := ParseMaps(string(text))
	if err != nil {
		return nil, fmt.Errorf("cannot read mappings of process %d: %w", pid, err)
	}
	return maps, nil
}

// Writable reports whether all n bytes at addr are in writable mappings. The mappings must be sorted by address, as the
// kernel lists them.
func Writable(maps []Mapping, addr, n uint64) bool {
	end := addr + n
	if end < addr {
		return false
	}
	for _, m := range maps {
		if addr < end && m.Start <= addr && addr < m.End {
			if !m.Write {
				return false
			}
			addr = m.End
		}
	}
	return addr >= end
}

// ParseMaps reads the text of a maps file (proc_pid_maps(5)).
func ParseMaps(text string) ([]Mapping, error) {
	maps := make([]Mapping, 0, strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			continue
		}
		m, err := parseMapping(line)
		if err != nil {
			return nil, fmt.Errorf("cannot parse mapping %q: %w", line, err)
		}
		maps = append(maps, m)
	}
	return maps, nil
}

// parseMapping reads "START-END rwxp OFFSET MAJOR:MINOR INODE   PATH"; the path may contain spaces.
func parseMapping(line string) (Mapping, error) {
	var field [5]string
	rest := line
	for i := range field {
		field[i], rest, _ = strings.Cut(rest, " ")
	}
	start, end, _ := strings.Cut(field[0], "-")
	major, minor, _ := strings.Cut(field[3], ":")
	if len(field[1]) < 4 {
		return Mapping{}, fmt.Errorf("%q are not permissions", field[1])
	}
	m := Mapping{
		Read: field[1][0] == 'r', Write: field[1][1] == 'w', Exec: field[1][2] == 'x', Shared: field[1][3] == 's',
		Path: strings.TrimLeft(rest, " "),
	}
	var high, low uint64
	for _, n := range []struct {
		to   *uint64
		text string
		base int
	}{
		{&m.Start, start, 16}, {&m.End, end, 16}, {&m.Offset, field[2], 16}, {&high, major, 16}, {&low, minor, 16},
		{&m.Inode, field[4], 10},
	} {
		v, err := strconv.ParseUint(n.text, n.base, 64)
		if err != nil {
			return Mapping{}, err
		}
		*n.to = v
	}
	// The kernel writes a newline in a path as \012 and nothing else differently, not even a path that ends in "
	// (deleted)".
	m.Dev = unix.Mkdev(uint32(high), uint32(low))
	m.Path, m.Deleted = strings.CutSuffix(strings.ReplaceAll(m.Path, `\012`, "\n"), " (deleted)")
	return m, nil
}
