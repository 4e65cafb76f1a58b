package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Dir is the directory where this user's sessions have their sockets, PID.sock each: $XDG_RUNTIME_DIR/gotap, or
// /tmp/gotap-UID without that variable. It is held open, and everything in it is reached through the descriptor, so
// that no other directory can replace it between the checks and the use, and long paths fit into a socket's address.
type Dir struct {
	f    *os.File
	path string
}

// Suffix is the end of the name of a session's socket.
const Suffix = ".sock"

const (
	newbornSuffix = ".new"      // of a socket that does not listen yet
	newbornLife   = time.Minute // after which one that refuses belongs to a session that died in between
)

// Open opens the directory, and creates it first if asked to. The error matches fs.ErrNotExist when there is none.
func Open(create bool) (*Dir, error) {
	if run := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		if parent, err := openOwn(unix.AT_FDCWD, run, run, 0o022, 0); err == nil {
			defer parent.Close()
			return openIn(parent, "gotap", create)
		}
	}
	return OpenTmp(create)
}

// OpenTmp opens the directory in /tmp, whatever the environment names.
func OpenTmp(create bool) (*Dir, error) {
	parent, err := os.Open("/tmp")
	if err != nil {
		return nil, fmt.Errorf("cannot open a directory for sockets: %w", err)
	}
	defer parent.Close()
	return openIn(parent, fmt.Sprintf("gotap-%d", os.Geteuid()), create)
}

func openIn(parent *os.File, name string, create bool) (*Dir, error) {
	path := filepath.Join(parent.Name(), name)
	if create {
		if err := unix.Mkdirat(int(parent.Fd()), name, 0o700); err != nil && err != unix.EEXIST {
			return nil, fmt.Errorf("cannot make %s: %w", path, err)
		}
	}
	f, err := openOwn(int(parent.Fd()), name, path, 0o077, unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	return &Dir{f, path}, nil
}

// openOwn opens a directory that belongs to this user and that gives others none of the rights in the mask.
func openOwn(at int, name, path string, mask uint32, flags int) (*os.File, error) {
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|flags, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", path, err)
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil {
		switch {
		case int(st.Uid) != os.Geteuid():
			err = fmt.Errorf("it belongs to user %d", st.Uid)
		case st.Mode&mask != 0:
			err = fmt.Errorf("others have rights in it (mode %#o)", st.Mode&0o7777)
		}
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("cannot use %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// at returns a path of an entry that leads through the open descriptor.
func (d *Dir) at(name string) string { return fmt.Sprintf("/proc/self/fd/%d/%s", d.f.Fd(), name) }

func (d *Dir) remove(name string) { unix.Unlinkat(int(d.f.Fd()), name, 0) }

// Forget removes the socket's name of a session that ends.
func (d *Dir) Forget(id int) { d.remove(strconv.Itoa(id) + Suffix) }

// Close gives the directory back; sockets in it stay.
func (d *Dir) Close() { d.f.Close() }

// Sessions lists the numbers that have a socket here, ascending. Sockets that sessions left which were killed are
// removed on the way.
func (d *Dir) Sessions() ([]int, error) {
	if _, err := d.f.Seek(0, 0); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", d.path, err)
	}
	names, err := d.f.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", d.path, err)
	}
	var ids []int
	for _, name := range names {
		if d.stale(name) {
			d.remove(name)
			continue
		}
		if id, err := strconv.Atoi(strings.TrimSuffix(name, Suffix)); err == nil && strings.HasSuffix(name, Suffix) {
			ids = append(ids, id)
		}
	}
	sort.Ints(ids)
	return ids, nil
}

// stale reports whether an entry is a socket without a listener. A socket gets a name with Suffix when it
// already listens, so a refused connection is proof; a socket without that name may not listen yet.
func (d *Dir) stale(name string) bool {
	switch {
	case strings.HasSuffix(name, Suffix):
	case strings.HasSuffix(name, newbornSuffix):
		var st unix.Stat_t
		err := unix.Fstatat(int(d.f.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err != nil || time.Since(time.Unix(st.Mtim.Unix())) < newbornLife {
			return false
		}
	default:
		return false
	}
	return errors.Is(d.try(name), unix.ECONNREFUSED)
}

// try connects, and hangs up.
func (d *Dir) try(name string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrUnix{Name: d.at(name)})
}

// Listen makes the socket of a session. The socket gets its name when it listens, so that clients that find it can
// connect.
func (d *Dir) Listen(id int) (*os.File, error) {
	name := strconv.Itoa(id) + Suffix
	if d.try(name) == nil {
		return nil, fmt.Errorf("cannot listen at %s/%s: another session does", d.path, name)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot make a socket: %w", err)
	}
	if err := d.bind(fd, name); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("cannot listen at %s/%s: %w", d.path, name, err)
	}
	return os.NewFile(uintptr(fd), filepath.Join(d.path, name)), nil
}

// backlog is how many clients can wait to be accepted.
const backlog = 128

func (d *Dir) bind(fd int, name string) error {
	newborn, dir := name+newbornSuffix, int(d.f.Fd())
	d.remove(newborn)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: d.at(newborn)}); err != nil {
		return err
	}
	err := unix.Fchmodat(dir, newborn, 0o600, 0)
	if err == nil {
		err = unix.Listen(fd, backlog)
	}
	if err == nil {
		err = unix.Renameat(dir, newborn, dir, name)
	}
	if err != nil {
		d.remove(newborn)
	}
	return err
}

// Connect opens a session's socket. It waits a moment when the session has many clients.
func (d *Dir) Connect(id int) (*Conn, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot make a socket: %w", err)
	}
	patience := unix.NsecToTimeval(int64(connectTime))
	unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &patience)
	err = unix.Connect(fd, &unix.SockaddrUnix{Name: d.at(strconv.Itoa(id) + Suffix)})
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err == nil {
		err = CheckPeer(fd)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("cannot connect to session %d: %w", id, err)
	}
	return NewConn(fd), nil
}

// connectTime is how long connecting may take.
const connectTime = 10 * time.Second

// IsNone reports whether the directory does not exist, which means that no session runs.
func IsNone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
