package arm64

import (
	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
)

// Indexes of registers in a register file, which has the order of the kernel's struct user_pt_regs.
const (
	fileSP = 31
	filePC = 32
)

// Features describes this package to native.PlanOf.
var Features = native.Features{Args: 8, Register: func(operand uint64) bool { return operand>>16 <= filePC }}

// Fits returns nil if native code can execute a plan from its start to all its ends, and otherwise a *native.Refused. A nil plan fits.
func Fits(p *native.Plan) error {
	if p == nil {
		return nil
	}
	if p.Limited {
		return &native.Refused{Reason: "it could run out of fuel"}
	}
	for pc := range p.Ops {
		op, in := &p.Ops[pc], &p.Insts[pc]
		why := ""
		switch {
		case op.Verdict == native.Unreached:
		case op.Verdict == native.Doorbell:
			why = op.Why
		case op.Key || op.Thread || op.Own:
			why = "it is left to the interpreter"
		case op.Rings || op.Unsure || native.MayRing(in) && !p.DividesByConstant(pc):
			why = "it may need the interpreter"
		case !known(in):
			why = "it is left to the interpreter"
		}
		if why != "" {
			return &native.Refused{PC: p.Origin(pc), Op: in.Op, Reason: why}
		}
	}
	return nil
}

// known reports whether native code executes an operation.
func known(in *runtime.Inst) bool {
	switch in.Op {
	case opcode.Nop, opcode.Jmp, opcode.Loop, opcode.Exit, opcode.Abort, opcode.PushR, opcode.Arg, opcode.Retval,
		opcode.PushGV, opcode.PopGV, opcode.AddGV, opcode.IncGV, opcode.DecGV, opcode.FetchAddGV, opcode.Agg,
		opcode.PushD, opcode.Dup, opcode.DupN, opcode.Xchg, opcode.Over, opcode.Drop, opcode.Pick, opcode.Poke, opcode.Depth, opcode.PushTV, opcode.PopTV:
		return true
	case opcode.Field:
		switch runtime.Field(in.A) {
		case runtime.FieldPid, runtime.FieldPC, runtime.FieldSP, runtime.FieldFrame:
			return true
		}
		return false
	}
	_, jumps := signConds[in.Op]
	return jumps || in.Op >= opcode.Add && in.Op <= opcode.Zext
}
