package inline

import "fmt"

// Writing jumps.
//
// A jump is five bytes, which are not written atomically. While threads run, they must not see a part of it. So a
// breakpoint of one byte stands in its first byte whenever the other four change: a thread that comes there meanwhile
// stops, and runs the first byte again after the change. No thread is behind the breakpoint, in the middle of the bytes
// that change: the caller has made sure of that before it calls Insert, and a jump leaves no instruction boundary there
// at which a thread could be when it calls Remove.

// On 64-bit ARM a jump is one instruction, as long as the breakpoint that it replaces, and both are among the
// instructions that may be changed into one another while other threads run them (Arm ARM DDI 0487, B2.2.5). So one
// write changes it.
//
// A short jump leads to a springboard, which is written before it, in one write: no thread runs those bytes, or all that
// could are held.
//
// If the session is killed in between, the crash handler must not restore the first byte in front of bytes that do not
// belong to it. From before Insert on, the handler's table has all bytes that the jump displaces (fallback.LongOrig),
// and the handler restores the first one last.

// breakpoint is int3.
const breakpoint = 0xcc

// Failure is a jump that could not be written or removed, with the reason.
type Failure struct {
	Jump Jump
	Err  error
}

// Insert writes jumps over what is under them, and springboards where they lead to one.
func Insert(mem Memory, jumps []Jump, stopped int) (failed []Failure) {
	ready := jumps[:0:0]
	for _, j := range jumps {
		if err := j.Via.write(mem, stopped); err != nil {
			failed = append(failed, Failure{j, err})
			continue
		}
		ready = append(ready, j)
	}
	return append(failed, rewrite(mem, ready, stopped, func(j Jump) (from, to [JumpSize]byte) { return j.Under, j.Code })...)
}

// write writes a springboard, if there is one.
func (s *Springboard) write(mem Memory, stopped int) error {
	if s == nil {
		return nil
	}
	var now [JumpSize]byte
	if err := mem.Peek(s.Addr, now[:]); err != nil {
		return err
	}
	if now != s.Now {
		return fmt.Errorf("the padding at %#x has changed: there is %x, not %x", s.Addr, now, s.Now)
	}
	if err := mem.Poke(s.Addr, s.Code[:], stopped); err != nil {
		return err
	}
	s.Now = s.Code
	return nil
}

// Remove replaces jumps by what was there before. A place that contains something else is left alone.
func Remove(mem Memory, jumps []Jump, stopped int) []Failure {
	return rewrite(mem, jumps, stopped, func(j Jump) (from, to [JumpSize]byte) { return j.Code, j.Under })
}

// rewrite replaces the bytes at the places of jumps.
func rewrite(mem Memory, jumps []Jump, stopped int, change func(Jump) (from, to [JumpSize]byte)) (failed []Failure) {
	fail := func(j Jump, err error) { failed = append(failed, Failure{j, err}) }
	todo := jumps[:0:0]
	for _, j := range jumps {
		from, _ := change(j)
		var now [JumpSize]byte
		switch err := mem.Peek(j.Addr, now[:j.Len]); {
		case err != nil:
			fail(j, err)
		case now != from:
			fail(j, fmt.Errorf("the code at %#x has changed: there is %x, not %x", j.Addr, now, from))
		default:
			todo = append(todo, j)
		}
	}
	each := func(write func(j Jump, to [JumpSize]byte) error) {
		done := todo[:0]
		for _, j := range todo {
			from, to := change(j)
			if err := write(j, to); err != nil {
				first := j.last()
				mem.Poke(j.Addr+uint64(first), from[first:j.Len], stopped)
				mem.Poke(j.Addr, from[:first], stopped)
				fail(j, err)
				continue
			}
			done = append(done, j)
		}
		todo = done
	}
	each(func(j Jump, _ [JumpSize]byte) error {
		if j.last() == j.Len {
			return nil
		}
		return mem.Poke(j.Addr, []byte{breakpoint}, stopped)
	})
	each(func(j Jump, to [JumpSize]byte) error {
		if j.last() == j.Len {
			return nil
		}
		return mem.Poke(j.Addr+1, to[1:j.Len], stopped)
	})
	each(func(j Jump, to [JumpSize]byte) error { return mem.Poke(j.Addr, to[:j.last()], stopped) })
	each(func(j Jump, to [JumpSize]byte) error { return check(mem, j, to) })
	return failed
}

// last returns how many bytes, from the first on, are written last, in one write.
func (j *Jump) last() int {
	if j.Len == a64Jump {
		return j.Len
	}
	return 1
}

// check reads code back.
func check(mem Memory, j Jump, want [JumpSize]byte) error {
	var now [JumpSize]byte
	if err := mem.Peek(j.Addr, now[:j.Len]); err != nil {
		return err
	}
	if now != want {
		return fmt.Errorf("cannot write the code at %#x: there is %x, not %x", j.Addr, now[:j.Len], want[:j.Len])
	}
	return nil
}
