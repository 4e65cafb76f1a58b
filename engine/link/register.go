package link

import (
	"errors"
	"strings"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/spelling"
	"gotap/engine"
)

// atRegister points an error about a register at the text that names it, where that is known; other errors stay as they
// are.
func atRegister(err error, at engine.PlaceInfo) error {
	var list diag.List
	var half *compile.HalfRegisterError
	var unknown *compile.UnknownRegisterError
	switch {
	case errors.As(err, &half) && half.Pos.Source != nil:
		list.Errorf(half.Pos, "write "+half.Whole+", which is the whole one in 32-bit programs too",
			"%s is half of an address in a 64-bit program", half.Name)
	case !errors.As(err, &unknown) || unknown.Pos.Source == nil:
		return err
	case unknown.Write:
		list.Errorf(unknown.Pos, "", "register %s cannot be written: floating-point and vector registers are only read", unknown.Name)
	default:
		list.Errorf(unknown.Pos, nearRegister(unknown.Name, at), "the target's architecture has no register %s", unknown.Name)
	}
	return list.Err()
}

// registerNames are names to suggest, of all architectures.
var registerNames = strings.Fields("rax rbx rcx rdx rsi rdi rbp rsp rip r8 r9 r10 r11 r12 r13 r14 r15 eflags eax ebx ecx edx esi edi ebp " +
	"esp eip x0 x1 x2 x3 x4 x5 x6 x7 x8 x29 x30 r0 r1 r2 r3 r4 r5 r6 r7 lr sp pc")

// nearRegister suggests the register of the target with the most similar name, or lists those there are.
func nearRegister(name string, at engine.PlaceInfo) string {
	var known []string
	for _, r := range registerNames {
		if _, _, _, ok := at.Register(r); ok {
			known = append(known, r)
		}
	}
	if near := spelling.Nearest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "there are " + strings.Join(known, ", ")
}
