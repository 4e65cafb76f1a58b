package inline

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"gotap/engine/abi"
	"gotap/engine/inject"
	"gotap/engine/isa"
	"gotap/engine/tracee"
)

// Memory that the target maps while the arena is handed over, in bytes from its start.
const (
	scratchSize = 4096
	pairAt      = 0   // the two ends of the socket pair
	messageAt   = 64  // struct msghdr
	vectorAt    = 128 // struct iovec
	rightsAt    = 192 // control message
	byteAt      = 256 // the byte that is sent with it
)

// Target is a stopped thread of a process, between two instructions, which can be made to call the kernel.
type Target struct {
	Thread *tracee.Thread
	Calls  *inject.Caller
}

// numbers are those of the system calls that it makes.
func (t Target) numbers() *abi.CallTable { return &t.Thread.ABI().Calls }

// arenaSlack is how much more of the arena than is in use a target maps, in bytes, for objects that are declared later.
const arenaSlack = 8 << 20

// Map makes the target map an island near an address, and the arena: the file fd, of which used bytes are in
// use.
//
// The file is handed over through a socket pair, which works in any namespace and needs no path. If the session is
// killed meanwhile, the target keeps at most three open files, which it does not know of; they are closed at exec.
func (t Target) Map(form *Form, near uint64, fd int, used uint64) (*Island, error) {
	const page = 4096
	size := (used + arenaSlack + page - 1) &^ (page - 1)
	base, arena, err := t.room(form, near, size)
	if err != nil {
		return nil, err
	}
	undo := func(err error) (*Island, error) {
		t.Calls.Call(t.numbers().Munmap, base, IslandSize)
		t.Calls.Call(t.numbers().Munmap, arena, size)
		return nil, err
	}
	if err := t.mapArena(arena, size, fd); err != nil {
		return undo(fmt.Errorf("cannot share memory: %w", err))
	}
	i, err := Open(t.Thread.Memory(), form, base, arena, size, t.Thread.Tid)
	if err != nil {
		return undo(err)
	}
	return i, nil
}

// room makes the target map room for an island near an address, and for size bytes of the arena. They are one mapping
// if jumps reach beyond both. Otherwise only the island has to be near: the arena is large, and code reaches data
// farther away than it can jump.
func (t Target) room(form *Form, near, size uint64) (base, arena uint64, err error) {
	if form.Reach >= isa.SlotReach {
		base, err = t.Calls.MapNear(near, IslandSize+size, form.Reach)
		return base, base + IslandSize, err
	}
	if base, err = t.Calls.MapNear(near, IslandSize, form.Reach); err != nil {
		return 0, 0, err
	}
	if arena, err = t.Calls.MapNear(base, size, isa.SlotReach); err != nil {
		t.Calls.Call(t.numbers().Munmap, base, IslandSize)
	}
	return base, arena, err
}

// Populate makes the target map all pages of a part of the arena now, whose memory the session has provided. Otherwise
// the first write to each page is a fault, which takes longer than the writing of ten records. Where the kernel cannot
// do it (before 5.14) the faults remain.
func (t Target) Populate(i *Island, part Range) {
	i.Populated = true
	t.Calls.Call(t.numbers().Madvise, i.Arena+part.Start, part.End-part.Start, unix.MADV_POPULATE_WRITE)
}

// Unmap makes the target unmap an island and its arena.
func (t Target) Unmap(i *Island) error {
	_, err := t.Calls.Call(t.numbers().Munmap, i.Base, IslandSize)
	_, also := t.Calls.Call(t.numbers().Munmap, i.Arena, i.ArenaSize)
	return errors.Join(err, also)
}

// mapArena makes the target map size bytes of our file fd at an address, over what is mapped there.
func (t Target) mapArena(at, size uint64, fd int) error {
	const readWrite, shared, fixed, dontDump = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED | unix.MAP_NORESERVE, unix.MAP_FIXED, unix.MADV_DONTDUMP
	theirs, err := t.hand(fd, at)
	if err != nil {
		return err
	}
	_, err = t.Calls.Call(t.numbers().Mmap, at, size, readWrite, shared|fixed, theirs, 0)
	if err == nil {
		t.Calls.Call(t.numbers().Madvise, at, size, dontDump) // where it fails, cores are larger
	}
	_, closed := t.Calls.Call(t.numbers().Close, theirs)
	return errors.Join(err, closed)
}

// hand gives our file fd to the target, and returns its number there. For that it uses a page of the memory at an
// address, which is ours. A page that the kernel chooses might be where another thread has just unmapped something, in
// order to map something else there.
func (t Target) hand(fd int, scratch uint64) (theirs uint64, err error) {
	const readWrite, private = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_FIXED
	if _, err := t.Calls.Call(t.numbers().Mmap, scratch, scratchSize, readWrite, private, ^uint64(0), 0); err != nil {
		return 0, err
	}
	if _, err := t.Calls.Call(t.numbers().Socketpair, unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0, scratch+pairAt); err != nil {
		return 0, err
	}
	var pair [8]byte
	if err := t.Thread.Memory().Peek(scratch+pairAt, pair[:]); err != nil {
		return 0, err
	}
	ours, other := binary.LittleEndian.Uint32(pair[:]), binary.LittleEndian.Uint32(pair[4:])
	defer func() {
		for _, end := range []uint32{ours, other} {
			_, e := t.Calls.Call(t.numbers().Close, uint64(end))
			err = errors.Join(err, e)
		}
	}()
	if err := send(t.Thread.Of.Pid(), int(ours), fd); err != nil {
		return 0, err
	}
	return t.receive(scratch, uint64(other))
}

// send sends our file fd into a socket of a process that we trace.
func send(pid, socket, fd int) error {
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return fmt.Errorf("pidfd_open: %w", err)
	}
	defer unix.Close(pidfd)
	own, err := unix.PidfdGetfd(pidfd, socket, 0)
	if err != nil {
		return fmt.Errorf("pidfd_getfd: %w", err)
	}
	defer unix.Close(own)
	return unix.Sendmsg(own, []byte{0}, unix.UnixRights(fd), nil, 0)
}

// receive makes the target receive a file from a socket.
func (t Target) receive(scratch, socket uint64) (uint64, error) {
	le := binary.LittleEndian
	room := uint64(unix.CmsgSpace(4))
	var p [scratchSize]byte
	le.PutUint64(p[messageAt+16:], scratch+vectorAt) // msg_iov, msg_iovlen, msg_control, msg_controllen
	le.PutUint64(p[messageAt+24:], 1)
	le.PutUint64(p[messageAt+32:], scratch+rightsAt)
	le.PutUint64(p[messageAt+40:], room)
	le.PutUint64(p[vectorAt:], scratch+byteAt)
	le.PutUint64(p[vectorAt+8:], 1)
	mem := t.Thread.Memory()
	if err := mem.Poke(scratch+messageAt, p[messageAt:byteAt+8], t.Thread.Tid); err != nil {
		return 0, err
	}
	if _, err := t.Calls.Call(t.numbers().Recvmsg, socket, scratch+messageAt, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT); err != nil {
		return 0, err
	}
	rights := make([]byte, room)
	if err := mem.Peek(scratch+rightsAt, rights); err != nil {
		return 0, err
	}
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) != 1 {
		return 0, fmt.Errorf("no file arrived (%v)", err)
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(files) != 1 {
		return 0, fmt.Errorf("no file arrived (%v)", err)
	}
	return uint64(files[0]), nil
}
