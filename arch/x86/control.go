package x86

import "gotap/arch"

// control classifies the effect of an instruction on the flow of control.
func (in *inst) control() arch.Control {
	if in.enc != legacy {
		return arch.Plain
	}
	switch in.opmap {
	case mapLegacy:
		return in.controlOneByte()
	case map0F:
		return in.control0F()
	}
	return arch.Plain
}

func (in *inst) controlOneByte() arch.Control {
	switch op := in.opcode; {
	case op >= 0x70 && op <= 0x7f, op >= 0xe0 && op <= 0xe3:
		return arch.CondJump
	case op == 0xe9 || op == 0xeb:
		return arch.Jump
	case op == 0xe8:
		return arch.Call
	case op == 0xc2 || op == 0xc3 || op == 0xca || op == 0xcb || op == 0xcf: // ret, far ret, iret
		return arch.Return
	case op == 0x9a: // far: the target consists of more than an address
		return arch.IndirCall
	case op == 0xea:
		return arch.IndirJump
	case op == 0xff:
		return [8]arch.Control{2: arch.IndirCall, 3: arch.IndirCall, 4: arch.IndirJump, 5: arch.IndirJump}[in.regField()]
	case in.begins(): // on an abort
		return arch.CondJump
	case op == 0xcd && in.imm == -0x80:
		return arch.Syscall
	case op == 0xcc || op == 0xcd || op == 0xf1 || op == 0xf4: // int3, int n, int1, hlt
		return arch.Trap
	}
	return arch.Plain
}

func (in *inst) control0F() arch.Control {
	switch op := in.opcode; {
	case op >= 0x80 && op <= 0x8f:
		return arch.CondJump
	case op == 0x05 || op == 0x34: // syscall, sysenter
		return arch.Syscall
	case op == 0x0b || op == 0xb9 || op == 0xff || op == 0x07 || op == 0x35: // ud2, ud1, ud0; sysret, sysexit
		return arch.Trap
	}
	return arch.Plain
}
