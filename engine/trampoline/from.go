package trampoline

import (
	"gotap/engine/space"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// Calls that count only if certain modules make them (registry.ProbeSpec.From). Native code runs a predicate for that,
// which compares the return address with where the code of these modules is. When libraries are loaded or unloaded,
// that may change. The session then has new stubs made for the probe (space.Patcher.CallersMoved).

// isFrom reports whether a run is about a call that begins, and counts only if certain modules make it.
func isFrom(r space.Run) bool { return r.Ends == nil && len(r.Placement.Probe.Spec.From) > 0 }

// fromCode returns the predicate of such a run.
func fromCode(r space.Run, sp *space.Space) *runtime.Code {
	callers := r.Placement.Probe.Callers(sp.Modules)
	const each = 6 // operations
	passes := uint32(each*len(callers) + 1)
	var insts []runtime.Inst
	for _, code := range callers {
		insts = append(insts, runtime.Inst{Op: opcode.Field, A: uint32(runtime.FieldCaller)},
			runtime.Inst{Op: opcode.PushD, V: code.Start}, runtime.Inst{Op: opcode.Sub},
			runtime.Inst{Op: opcode.PushD, V: code.End - code.Start}, runtime.Inst{Op: opcode.Ult}, runtime.Inst{Op: opcode.Jnz, A: passes})
	}
	insts = append(insts, runtime.Inst{Op: opcode.Abort}, runtime.Inst{Op: opcode.Exit})
	return &runtime.Code{Insts: insts, Stack: 2, Bounded: true}
}
