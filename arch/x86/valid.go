package x86

// valid refuses encodings that no processor executes although their opcode exists: undefined members of groups, and
// operands of the wrong kind. It serves to notice early that bytes are not code. A missed case is harmless: the
// copy of an invalid instruction raises the same exception as the original.
func (in *inst) valid() error {
	if in.enc != legacy {
		return nil
	}
	bad := false
	switch in.opmap {
	case mapLegacy:
		bad = in.badOneByte()
	case map0F:
		bad = in.bad0F()
	}
	if bad {
		return errUnknown
	}
	return nil
}

// badOneByte checks the one-byte map.
func (in *inst) badOneByte() bool {
	reg := in.regField()
	switch in.opcode {
	case 0x8c: // from a segment register: six of them
		return reg > 5
	case 0x8e: // and to one, but not to cs
		return reg > 5 || reg == 1
	case 0x8d, 0x62: // the address of a register
		return !in.memory()
	case 0xc4, 0xc5:
		return !in.memory()
	case 0x8f:
		return reg != 0
	case 0xc6, 0xc7:
		return reg != 0 && in.modrm != 0xf8
	case 0xfe:
		return reg > 1
	case 0xff: // far call and jump have no register form
		return reg == 7 || (reg == 3 || reg == 5) && !in.memory()
	}
	return false
}

// bad0F checks the 0F map.
func (in *inst) bad0F() bool {
	reg := in.regField()
	switch in.opcode {
	case 0x71, 0x72: // vector shifts by immediate
		return in.memory() || reg != 2 && reg != 4 && reg != 6
	case 0x73:
		return in.memory() || reg < 2 || reg == 4 || reg == 5
	case 0xb2, 0xb4, 0xb5, 0xc3, 0xe7: // lss, lfs, lgs; movnti, movntq
		return !in.memory()
	case 0xb8: // popcnt; without F3 it was Itanium's
		return in.rep != 0xf3
	case 0xba:
		return reg < 4
	case 0xc7:
		return reg == 0 || reg == 2
	case 0x13, 0x17, 0x2b:
		return !in.memory()
	case 0x50, 0xd7, 0xf7, 0xc5:
		return in.memory()
	}
	return false
}
