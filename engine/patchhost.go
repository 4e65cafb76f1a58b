package engine

import (
	"gotap/engine/abi"
	"gotap/engine/crashsafe"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry/retprobe"
	"gotap/engine/space"
	"gotap/engine/tracee"
)

// patchHost is the session as package space sees it: it implements space.Host.
type patchHost struct{ s *Session }

// Warn implements space.Host.
func (h patchHost) Warn(text string) { h.s.warn(text) }

// Closing implements space.Host.
func (h patchHost) Closing() bool { return h.s.life.closing }

// Checkpoint implements space.Host.
func (h patchHost) Checkpoint(m tracee.Moment) { h.s.passed(m) }

// Guard implements space.Host.
func (h patchHost) Guard(by retprobe.Target) *crashsafe.Thread { return &threadOf(by).guard }

// OpenBlockers implements space.Host.
func (h patchHost) OpenBlockers(in func(*crashsafe.Space) bool) { h.s.guards.OpenBlockers(in) }

// AllStill implements space.Host.
func (h patchHost) AllStill(sp *space.Space) bool { return h.s.world.allStill(sp) }

// StoppedTid implements space.Host.
func (h patchHost) StoppedTid(sp *space.Space) int { return h.s.world.stoppedTid(sp) }

// Pause implements space.Host.
func (h patchHost) Pause(sp *space.Space) { h.s.world.pause(sp) }

// HoldRunning implements space.Host.
func (h patchHost) HoldRunning(in func(*space.Space) bool) (release func()) {
	held := h.s.world.holdRunning(in)
	return func() { h.s.world.releaseWorld(held) }
}

// internally makes an action of the session's own for breakpoints, which runs with the thread that hit.
func internally(do func(*thread, *space.Point) (stay bool)) space.Action {
	return func(by retprobe.Target, p *space.Point) bool { return do(threadOf(by), p) }
}

// openSpace opens the address space of a new image, using one of its threads.
func (s *Session) openSpace(tid int, a *abi.ABI) (*space.Space, error) {
	mem, err := ptrace.OpenMemory(tid)
	if err != nil {
		return nil, err
	}
	return s.patcher.NewSpace(mem, a), nil
}

// unopened returns the address space of a process whose image is not known yet. Nothing can be read there.
func unopened(s *Session) *space.Space { return s.patcher.NewSpace(&ptrace.Memory{}, abi.Host()[0]) }

// dropSpace releases an address space for one process.
func (s *Session) dropSpace(sp *space.Space) {
	if sp.Users--; sp.Users > 0 {
		return
	}
	s.natives.DropSpace(sp)
	s.patcher.Drop(sp)
}
