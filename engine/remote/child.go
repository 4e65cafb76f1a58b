package remote

import (
	"encoding/hex"
	"errors"
	"path/filepath"

	"gotap/engine/backend"
	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/engine/remote/rsp"
	"gotap/engine/semaphore"
)

// Children and new programs of a process, for a stub that reports them, such as gdbserver. Children are not traced.
// Their memory is a copy of the target's that contains the breakpoints, or the target's own, so the breakpoints
// must be removed before a child may run. Stubs that report no children either keep breakpoints out of memory, as
// QEMU does, or have only one process.

// forked handles the stop of a thread that has made a child, which is stopped as well, and releases the child.
//
// The child of a fork has its own memory: the breakpoints are removed from that. The child of a vfork uses the
// target's memory until it runs another program or ends: meanwhile all breakpoints are removed, and the only thread
// that could miss them is the one that waits for the child.
func (t *thread) forked(stop rsp.Stop) error {
	s := t.s
	s.notify(backend.Event{Kind: backend.EventFork, Tid: t.id, Child: rsp.ThreadNumber(stop.Value)})
	var all error
	if stop.Reason == "vfork" {
		s.lifted = true
		all = s.syncAll()
	}
	if err := s.client.Choose(stop.Value); err != nil {
		return err
	}
	for _, p := range s.points {
		if p.planted && !s.patch {
			all = errors.Join(all, s.client.Remove(rsp.Software, p.addr, p.kind))
		} else if p.planted {
			all = errors.Join(all, s.client.WriteMemory(p.addr, p.orig))
		}
	}
	all = errors.Join(all, s.client.DetachProcess(stop.Value))
	return errors.Join(all, s.client.Choose(t.name))
}

// alone is called when a child no longer uses the target's memory.
func (t *thread) alone() error {
	t.s.lifted = false
	return t.s.syncAll()
}

// syncAll is sync for all points.
func (s *Session) syncAll() (all error) {
	for _, p := range s.points {
		all = errors.Join(all, s.sync(p))
	}
	return all
}

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
	s.comm = filepath.Base(path)
	s.notify(backend.Event{Kind: backend.EventExec, Tid: t.id, Path: path})
	file, err := s.local(path)
	if err != nil {
		s.warn("%v: it is not probed", err)
		return nil
	}
	aux, _ := s.client.Transfer("auxv", "")
	vector := s.auxiliary(aux)
	s.setModules([]module.Loaded{s.loaded(file, s.bias(file, vector))})
	if err := s.watchLoader(file, vector); err != nil {
		return err
	}
	s.armAppeared(s.mods)
	return nil
}

// forgetProgram clears all state about a program that no longer exists. The stub has removed the breakpoints
// itself.
func (s *Session) forgetProgram() {
	for _, p := range s.points {
		p.planted = false
	}
	for _, t := range s.threads {
		t.calls.Drop()
	}
	clear(s.threads)
	s.threads[s.mem.thread.name] = s.mem.thread
	clear(s.points)
	s.sems = semaphore.Counts{}
	clear(s.redo)
	s.runs = isa.Exclusives{}
	s.watches, s.mods, s.loader, s.armed, s.lifted = nil, nil, loaderWatch{}, 0, false
	s.mem.forget()
}
