package jit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gotap/engine/image/module"
	"gotap/engine/linux/procfs"
)

// Name is what is known of an address in generated code.
type Name struct {
	Func   string
	Offset uint64 // of the address in Func
	From   string // path of the file that says so, in the mount namespace of the process
	File   string // source; "" when unknown
	Line   int
}

// Process is the generated code of one process.
type Process struct {
	pid int

	mu    sync.Mutex // guards all below
	perf  source
	dump  source
	next  time.Time     // when to look for files again
	pause time.Duration // from this look to the next
}

// reader reads what has been written to a file since the last time.
type reader interface {
	read(t *table, f io.ReaderAt, size int64)
}

// source is a file that is being written, and what has been read of it.
type source struct {
	reader  reader
	begin   func() reader // a reader of the file from its start
	file    *os.File
	path    string
	size    int64 // when it was read last
	checked time.Time
	table   table
}

// How often a process that generates code is looked at for files: at first soon, for what the program writes appears
// after it starts.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 5 * time.Second
	refresh    = time.Second // how old what has been read may be where it has an answer
)

// New returns the generated code of a process, of which nothing has been looked for.
func New(pid int) *Process {
	return &Process{
		pid:  pid,
		perf: source{begin: func() reader { return new(perfMap) }},
		dump: source{begin: func() reader { return new(dump) }},
	}
}

// Look opens the files that the process has written by now. It costs a look at the clock unless it is time to look
// again.
func (p *Process) Look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.perf.file != nil && p.dump.file != nil || now.Before(p.next) {
		return
	}
	p.pause = min(max(2*p.pause, firstPause), lastPause)
	p.next = now.Add(p.pause)
	id := ownNumber(p.pid)
	if p.perf.file == nil {
		p.perf.open(p.pid, fmt.Sprintf("/tmp/perf-%d.map", id))
	}
	if p.dump.file == nil {
		p.openDump(fmt.Sprintf("jit-%d.dump", id))
	}
}

// openDump opens the dump if the process maps it, which is how it says that there is one.
func (p *Process) openDump(name string) {
	maps, _ := module.Maps(p.pid) // a process that no longer exists has no mappings
	for _, m := range maps {
		if m.Exec && m.File() && !m.Deleted && path.Base(m.Path) == name {
			p.dump.open(p.pid, m.Path)
			return
		}
	}
}

// Close closes the files. What has been read of them stays.
func (p *Process) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range []*source{&p.dump, &p.perf} {
		s.update(true)
		s.close()
	}
}

// Name names an address. ok is false when nothing is known of it.
func (p *Process) Name(addr uint64) (n Name, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range []*source{&p.dump, &p.perf} {
		if n, ok = s.find(addr); ok {
			break
		}
	}
	return n, ok
}

// find looks an address up in one of the files, and again in what has been written since.
func (s *source) find(addr uint64) (Name, bool) {
	s.update(false)
	c := s.table.find(addr)
	if c == nil {
		s.update(true)
		c = s.table.find(addr)
	}
	if c == nil {
		return Name{}, false
	}
	n := Name{Func: c.name, Offset: addr - c.start, From: s.path}
	n.File, n.Line = c.at(addr)
	return n, true
}

// update reads what has been written to a file since the last time. If a file has become shorter, reading starts at its
// beginning.
func (s *source) update(now bool) {
	if s.file == nil || !now && time.Since(s.checked) < refresh {
		return
	}
	s.checked = time.Now()
	st, err := s.file.Stat()
	if err != nil || st.Size() == s.size {
		return
	}
	if st.Size() < s.size {
		s.table, s.reader = table{}, nil
	}
	if s.reader == nil {
		s.reader = s.begin()
	}
	s.size = st.Size()
	s.reader.read(&s.table, s.file, s.size)
}

// open opens a file of a process if it may be believed.
func (s *source) open(pid int, name string) {
	f, err := openIn(pid, name)
	if err != nil {
		return
	}
	st, err := f.Stat()
	if err == nil && !believed(pid, st) {
		err = fs.ErrPermission
	}
	if err != nil {
		f.Close()
		return
	}
	s.close()
	*s = source{file: f, path: name, begin: s.begin}
}

// close closes the file.
func (s *source) close() {
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}

// openIn opens a file as a process finds it. Links do not lead out of the root of the process, and the last part of the
// path is none.
func openIn(pid int, name string) (*os.File, error) {
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	root := fmt.Sprintf("/proc/%d/root", procfs.Living(pid))
	dir, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	how := unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(dir, name, &how)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // before Linux 5.6, or a filter that does not know the call
		fd, err = unix.Openat(dir, strings.TrimPrefix(path.Clean(name), "/"), flags, 0)
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// believed reports whether a file is a regular one that belongs to root or to the user of the process.
func believed(pid int, st os.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok || !st.Mode().IsRegular() {
		return false
	}
	if sys.Uid == 0 {
		return true
	}
	for _, user := range strings.Fields(procfs.Status(procfs.Living(pid), "Uid")) {
		if n, err := strconv.ParseUint(user, 10, 32); err == nil && uint32(n) == sys.Uid {
			return true
		}
	}
	return false
}

// ownNumber is the number of a process in its own namespace.
func ownNumber(pid int) int {
	ids := strings.Fields(procfs.Status(pid, "NSpid"))
	if len(ids) == 0 {
		return pid
	}
	n, err := strconv.Atoi(ids[len(ids)-1])
	if err != nil {
		return pid
	}
	return n
}
