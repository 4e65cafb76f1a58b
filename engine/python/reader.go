package python

import (
	"encoding/binary"
	"slices"
)

// Bounds of what is followed in the memory of a process.
const (
	maxInterps = 64
	maxThreads = 4096
	maxFrames  = 1024
	cached     = 32   // pages
	pageSize   = 4096 // at most the system's page size, so that a page is readable completely or not at all
)

// Call is one call of the function that evaluates frames.
type Call struct {
	At     uint64   // an address in its C frame; 0 in 3.9
	Frames []uint64 // its Python frames, innermost first: addresses for Reader.Frame
}

// Reader reads what an interpreter has in the memory of a process. It caches pages for one stack.
type Reader struct {
	mem   Memory
	in    *Interpreter
	next  int // the next page to replace
	pages [cached]struct {
		addr  uint64 // of the first byte; 1 if the entry is empty
		bytes [pageSize]byte
	}
}

// Begin starts a new stack.
func (r *Reader) Begin(in *Interpreter, mem Memory) {
	r.in, r.mem = in, mem
	for i := range r.pages {
		r.pages[i].addr = 1
	}
}

// read fills p from addr, or reports false.
func (r *Reader) read(addr uint64, p []byte) bool {
	for len(p) > 0 {
		off := addr % pageSize
		page := r.page(addr - off)
		if page == nil {
			return false
		}
		n := copy(p, page[off:])
		p, addr = p[n:], addr+uint64(n)
	}
	return true
}

// page returns a page, or nil.
func (r *Reader) page(addr uint64) *[pageSize]byte {
	for i := range r.pages {
		if r.pages[i].addr == addr {
			return &r.pages[i].bytes
		}
	}
	slot := &r.pages[r.next]
	slot.addr = 1
	if r.mem.ReadMemory(addr, slot.bytes[:]) != nil {
		return nil
	}
	slot.addr = addr
	r.next = (r.next + 1) % cached
	return &slot.bytes
}

// word reads a pointer, or 0.
func (r *Reader) word(addr uint64) uint64 {
	var p [8]byte
	if !r.read(addr, p[:]) {
		return 0
	}
	return binary.LittleEndian.Uint64(p[:])
}

// number reads an int, or 0.
func (r *Reader) number(addr uint64) int {
	var p [4]byte
	r.read(addr, p[:])
	return int(int32(binary.LittleEndian.Uint32(p[:])))
}

// flag reads a byte, or 0.
func (r *Reader) flag(addr uint64) byte {
	var p [1]byte
	r.read(addr, p[:])
	return p[0]
}

// Calls returns the calls of a thread, innermost first, of which the pthread_t is given. There are none when the thread
// is not known to the interpreter.
func (r *Reader) Calls(thread uint64) []Call {
	l := r.in.layout
	var all []Call
	interp := r.word(r.in.runtime + l.runtime.interpreters)
	for n := 0; interp != 0 && n < maxInterps; n++ {
		t := r.word(interp + l.runtime.threads)
		for k := 0; t != 0 && k < maxThreads; k++ {
			if r.word(t+l.thread.id) == thread && r.word(t+l.thread.interp) == interp {
				all = append(all, r.callsOf(t)...)
			}
			t = r.word(t + l.thread.next)
		}
		interp = r.word(interp + l.runtime.next)
	}
	if r.in.minor > 9 { // a thread that runs several interpreters has them on one stack
		slices.SortStableFunc(all, func(a, b Call) int {
			if a.At < b.At {
				return -1
			}
			return 1
		})
	}
	return all
}

// callsOf returns the calls of the thread with a PyThreadState.
func (r *Reader) callsOf(t uint64) []Call {
	switch r.in.minor {
	case 9:
		return paired(nil, r.chain(r.word(t+r.in.thread.frame)))
	case 10:
		return paired(r.cframes(t), r.chain(r.word(t+r.in.thread.frame)))
	case 13:
		return r.pushed(r.word(t + r.in.thread.frame))
	}
	var all []Call
	for _, at := range r.cframes(t) {
		frames, _ := r.upToEntry(r.word(at + r.in.thread.current))
		all = append(all, Call{At: at, Frames: frames})
	}
	return all
}

// cframes returns the addresses of the _PyCFrame structures of a thread but the root, innermost first.
func (r *Reader) cframes(t uint64) (all []uint64) {
	at := r.word(t + r.in.thread.cframe)
	for at != 0 && at != t+r.in.thread.root && len(all) < maxFrames {
		all = append(all, at)
		at = r.word(at + r.in.thread.previous)
	}
	return all
}

// chain returns a frame and those that called it.
func (r *Reader) chain(frame uint64) (all []uint64) {
	for frame != 0 && len(all) < maxFrames {
		all = append(all, frame)
		frame = r.word(frame + r.in.frame.previous)
	}
	return all
}

// paired makes calls of frames, each of which is one call. A call that has just begun has no frame yet.
func paired(cframes, frames []uint64) (all []Call) {
	if len(cframes) == len(frames)+1 && len(cframes) < maxFrames {
		cframes = cframes[1:]
	}
	for i, f := range frames {
		c := Call{Frames: []uint64{f}}
		if cframes != nil {
			if i == len(cframes) {
				break
			}
			c.At = cframes[i]
		}
		all = append(all, c)
	}
	return all
}

// ownedByStack is the owner of a frame that a call of the evaluating function puts below its first, in its C frame.
const ownedByStack = 3

// upToEntry returns a frame and its callers in the same call, and the frame below the first one.
func (r *Reader) upToEntry(frame uint64) (all []uint64, below uint64) {
	l := &r.in.frame
	for frame != 0 && len(all) < maxFrames {
		if l.entry == none && r.flag(frame+l.owner) == ownedByStack {
			return all, frame
		}
		all = append(all, frame)
		if l.entry != none && r.flag(frame+l.entry) != 0 {
			return all, 0
		}
		frame = r.word(frame + l.previous)
	}
	return all, 0
}

// pushed returns the calls since 3.13, which are known by the frames that they push below their first.
func (r *Reader) pushed(frame uint64) (all []Call) {
	for n := 0; frame != 0 && n < maxFrames; n++ {
		frames, below := r.upToEntry(frame)
		if below == 0 {
			break
		}
		all = append(all, Call{At: below, Frames: frames})
		n += len(frames)
		frame = r.word(below + r.in.frame.previous)
	}
	return all
}
