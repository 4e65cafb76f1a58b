package remote

import (
	"encoding/hex"
	"errors"
	"path/filepath"

	"gotap/engine/backend"
	"gotap/engine/image/module"
	"gotap/engine/remote/rsp"
	"gotap/engine/semaphore"
)

// Children and new programs of a process, for a stub that reports them, such as gdbserver. Children are not traced.
// Their memory is a copy of the target's that contains the breakpoints, or the target's own, so the breakpoints
// must be removed before a child may run. Stubs that report no children either keep breakpoints out of memory, as
// QEMU does, or have only one process.

// forked handles the stop of a thread that has made a child, which is stopped as well, and releases the child.
//
// The child of a fork has a copy of the target's memory. The breakpoints are removed from the copy, and stay in the
// target.
//
// The child of a vfork uses the target's own memory until it runs another program or ends. Until vforkDone the target
// has no breakpoints, and of its threads only the last one that stopped is resumed (stops.Lone): this one, which waits
// for its child. So no thread of the target can pass a place without a hit.
func (t *thread) forked(stop rsp.Stop) error {
	s := t.s
	s.report.notify(backend.Event{Kind: backend.EventFork, Tid: t.id, Child: rsp.ThreadNumber(stop.Value)})
	var all error
	if stop.Reason == "vfork" {
		all = s.points.lift(true)
	}
	if err := s.stub.client.Choose(stop.Value); err != nil {
		return err
	}
	all = errors.Join(all, s.points.clearCopy(), s.stub.client.DetachProcess(stop.Value))
	return errors.Join(all, s.stub.client.Choose(t.name))
}

// vforkDone handles the stop of a thread whose child no longer uses the target's memory: the breakpoints return.
func (t *thread) vforkDone() error { return t.s.points.lift(false) }

// execed handles a target that now runs another program: nothing of the old program exists any more, and the probes
// are placed in the new one.
func (t *thread) execed(stop rsp.Stop) error {
	s := t.s
	name, err := hex.DecodeString(stop.Value)
	if err != nil {
		return err
	}
	s.forgetProgram()
	path := string(name)
	s.program.comm = filepath.Base(path)
	s.report.notify(backend.Event{Kind: backend.EventExec, Tid: t.id, Path: path})
	file, err := s.program.open(path)
	if err != nil {
		s.report.warn("%v: it is not probed", err)
		return nil
	}
	aux, _ := s.stub.client.Transfer("auxv", "")
	vector := s.stub.auxiliary(aux)
	s.program.set([]module.Loaded{s.program.loaded(file, s.stub.bias(file, vector))})
	s.loader.find(file, vector)
	s.Appeared(tracer{s}, s.program.mods)
	return nil
}

// forgetProgram clears all state about a program that no longer exists.
func (s *Session) forgetProgram() {
	s.threads.replaced()
	s.points.replaced()
	s.program.replaced()
	s.loader.replaced()
	s.stops.replaced()
	s.watches.replaced()
	s.sems = semaphore.Counts{}
	s.mem.Forget()
}
