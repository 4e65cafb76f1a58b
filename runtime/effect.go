package runtime

// effect is how many words an operation takes from the operand stack, and how many it then puts there.
type effect struct{ pops, pushes uint8 }

// effects are checked before each step, so that no operation need look at the stack's ends.
// Operations whose effect depends on their operand (OpDupN, OpDrop, OpPick, OpPoke, OpLogWords)
// have the least of it here, and check the rest themselves.
var effects = [256]effect{
	OpJz: {1, 0}, OpJnz: {1, 0}, OpJlt: {1, 0}, OpJle: {1, 0}, OpJgt: {1, 0}, OpJge: {1, 0}, OpLoop: {1, 1},

	OpPushD: {0, 1}, OpPushS: {0, 1}, OpDup: {1, 2}, OpDupN: {1, 1}, OpXchg: {2, 2}, OpOver: {2, 3},
	OpPick: {1, 2}, OpPoke: {1, 0}, OpDepth: {0, 1}, OpPushTV: {0, 1}, OpPopTV: {1, 0},

	OpAdd: {2, 1}, OpSub: {2, 1}, OpMul: {2, 1}, OpQuo: {2, 1}, OpRem: {2, 1}, OpUdivmod: {2, 2}, OpSdivmod: {2, 2},
	OpNeg: {1, 1}, OpNot: {1, 1}, OpAnd: {2, 1}, OpOr: {2, 1}, OpXor: {2, 1},
	OpShl: {2, 1}, OpShr: {2, 1}, OpSar: {2, 1}, OpRol: {2, 1}, OpRor: {2, 1},
	OpEq: {2, 1}, OpNe: {2, 1}, OpLt: {2, 1}, OpLe: {2, 1}, OpGt: {2, 1}, OpGe: {2, 1}, OpUlt: {2, 1}, OpUle: {2, 1},
	OpLnot: {1, 1}, OpBool: {1, 1}, OpMin: {2, 1}, OpMax: {2, 1}, OpAbs: {1, 1}, OpClz: {1, 1}, OpPopcnt: {1, 1},
	OpExt: {1, 1}, OpZext: {1, 1},

	OpFadd: {2, 1}, OpFsub: {2, 1}, OpFmul: {2, 1}, OpFdiv: {2, 1}, OpFrem: {2, 1}, OpFneg: {1, 1},
	OpFeq: {2, 1}, OpFne: {2, 1}, OpFlt: {2, 1}, OpFle: {2, 1}, OpFbool: {1, 1},
	OpItof: {1, 1}, OpUtof: {1, 1}, OpFtoi: {1, 1}, OpF32: {1, 1}, OpToF32: {1, 1},

	OpPushR: {0, 1}, OpPopR: {1, 0},
	OpLoad8: {1, 1}, OpLoad16: {1, 1}, OpLoad32: {1, 1}, OpLoad64: {1, 1}, OpLoadS8: {1, 1}, OpLoadS16: {1, 1},
	OpLoadS32: {1, 1}, OpLoadF32: {1, 1}, OpLoadPtr: {1, 1},
	OpStore8: {2, 0}, OpStore16: {2, 0}, OpStore32: {2, 0}, OpStore64: {2, 0}, OpStorePtr: {2, 0}, OpStoreStr: {2, 0},
	OpReadable: {2, 1}, OpWritable: {2, 1}, OpArg: {0, 1}, OpArgF: {0, 1}, OpRetval: {0, 1}, OpSetRet: {1, 0},
	OpField: {0, 1}, OpText: {0, 1}, OpSkip: {1, 0}, OpSignal: {1, 0}, OpBias: {0, 1},

	OpStr: {2, 1}, OpBytes: {2, 1}, OpStack: {1, 1}, OpScmp: {2, 1}, OpSeq: {2, 1}, OpSprefix: {2, 1}, OpScat: {2, 1},
	OpSdec: {1, 1}, OpSfloat: {1, 1}, OpShex: {1, 1}, OpSlen: {1, 1}, OpHash: {1, 1},

	OpPushGV: {0, 1}, OpPopGV: {1, 0}, OpAddGV: {1, 0}, OpFetchAddGV: {1, 1}, OpPushGVS: {0, 1}, OpPopGVS: {1, 0},
	OpPushLV: {1, 1}, OpPopLV: {2, 0}, OpAddLV: {2, 0},
	OpPushThis: {0, 1}, OpPopThis: {1, 0}, OpPushThisS: {0, 1}, OpPopThisS: {1, 0},
	OpPushPT: {0, 1}, OpPopPT: {1, 0}, OpAddPT: {1, 0},
	OpKeyInt: {1, 0}, OpKeyText: {1, 0}, OpAgg: {1, 0},
	OpMapGet: {0, 1}, OpMapGetS: {0, 1}, OpMapHas: {0, 1}, OpMapSet: {1, 0}, OpMapSetS: {1, 0}, OpMapAdd: {1, 1},

	OpRaise: {3, 0}, OpPushX: {0, 3}, OpSaveTSP: {0, 1}, OpRestoreTSP: {1, 0}, OpSaveSBP: {0, 1}, OpRestoreSBP: {1, 0},
	OpPickBase: {0, 1}, OpPokeBase: {1, 0}, OpTraceVars: {2, 0}, OpTraceStack: {2, 0}, OpPushSTP: {0, 1}, OpPopSTP: {1, 0},

	OpPushLP: {0, 1}, OpPushPLP: {0, 1}, OpPopLP: {1, 0}, OpLogInt: {1, 0}, OpLogFloat: {1, 0}, OpLogText: {1, 0}, OpLogRange: {2, 0}, OpLogStr: {2, 0},

	OpMalloc: {1, 1}, OpFree: {1, 0}, OpPushH8: {2, 1}, OpPushH16: {2, 1}, OpPushH32: {2, 1}, OpPushH64: {2, 1},
	OpPopH8: {3, 0}, OpPopH16: {3, 0}, OpPopH32: {3, 0}, OpPopH64: {3, 0},
}

// need is the whole effect of an instruction: words that must be on the stack, and the room it
// needs above what is left of them. It is asked only where the table does not say all, or where
// a circular stack has to be turned.
func need(in *Inst) (pops, pushes int) {
	a := int(min(in.A, MaxStack+1)) // more than any stack has
	switch in.Op {
	case OpDupN:
		return 1, 1 + a
	case OpDrop, OpLogWords:
		return a, 0
	case OpPick:
		return a + 1, a + 2
	case OpPoke:
		return a + 1, a
	}
	e := effects[in.Op]
	return int(e.pops), int(e.pushes)
}
