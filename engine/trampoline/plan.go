package trampoline

import (
	"gotap/engine/linux/hostcpu"
	"gotap/engine/space"
	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
)

// textMemory is how many bytes of its stack the texts of a program may take.
const textMemory = 1 << 10

// nativeProgram plans a part of what runs natively at a point.
func (c *Executor) nativeProgram(p *space.Point, r space.Run) (program native.Program, err error) {
	code, counts, at, m := r.Placement.Code, true, native.Place{}, machineOf(p.Space)
	features := m.features
	if hostcpu.HasStreaming() && !hostcpu.HasScalable() { // nothing saves all of a vector register in both modes
		features.Floats = false
	}
	program.Probe = r.Placement.Probe.Spec.ID
	at.Names = namesAt(r.Placement)
	c.calls.prepare(c)
	at.Thread, at.Clock = c.knowsThreads(p.Space), c.calls.noClock == nil
	at.Reads = codeIn(p.Space).reads.refused == nil && !hostcpu.HasMemoryTags()
	if !p.Jump.InGo { // Go's stacks have little room
		at.Texts = textMemory
	}
	if native.Changes(code.When) {
		return program, errWhenChanges
	}
	at.Returns = r.Ends != nil && (m.returns == nil || m.returns(p)) || r.Ends == nil && r.Placement.Target.Entry()
	when := code.When
	if isFrom(r) {
		when = fromCode(r, p.Space)
	}
	if when != nil && r.Ends == nil {
		if program.When, err = native.PlanOf(when, c.set.Arena, features, at); err != nil {
			return program, err
		}
	}
	run := code.Enter
	if code.Leave != nil {
		counts = code.CountsEntry() == (r.Ends == nil)
		at.Call, at.Ends, at.This = true, r.Ends != nil, r.Placement.Probe.Spec.ThisBytes
		program.Call = &native.Call{Ends: at.Ends, This: at.This, Timed: timed(r.Placement)}
		if program.Call.Ends {
			run, p = code.Leave, r.Ends
		}
		program.Call.Func = codeIn(p.Space).calls.number(p, r.Placement)
	}
	if counts {
		program.Gate = r.Placement.Probe.Gate
	}
	if err = native.Admits(program.Gate); err != nil || run == nil {
		return program, err
	}
	if runtime.NeedsOf(run)&opcode.NeedErrno != 0 && at.Thread {
		at.Errno = errnoOffset(p.Space)
	}
	program.Run, err = native.PlanOf(run, c.set.Arena, features, at)
	return program, err
}
