package asm

import (
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime/native/amd64/objdump"
)

const testAddress = 0x10000000

// forms are instructions as the assembler encodes them, with the text that objdump shows for the bytes.
var forms = []struct {
	text string
	emit func(a *Assembler)
}{
	{"mov    rax,r15", func(a *Assembler) { a.Mov(R(RAX), R(R15)) }},
	{"mov    r12,QWORD PTR [r12]", func(a *Assembler) { a.Mov(R(R12), At(R12, 0)) }},
	{"mov    rsi,QWORD PTR [rsp+0x8]", func(a *Assembler) { a.Mov(R(RSI), At(RSP, 8)) }},
	{"mov    QWORD PTR [r13+0x0],rcx", func(a *Assembler) { a.Mov(At(R13, 0), R(RCX)) }},
	{"mov    QWORD PTR [rbp-0x100],r9", func(a *Assembler) { a.Mov(At(RBP, -256), R(R9)) }},
	{"mov    rdx,QWORD PTR [rcx+rax*8]", func(a *Assembler) { a.Mov(R(RDX), Element(RCX, RAX)) }},
	{"cmp    rax,QWORD PTR [r11+rcx*8+0x10]", func(a *Assembler) { a.Alu(Cmp, R(RAX), Element(R11, RCX).Plus(16)) }},
	{"movzx  eax,BYTE PTR [r13+rcx*8+0x8]", func(a *Assembler) { a.Extend(RAX, Element(R13, RCX).Plus(8), 8, false) }},
	{"lea    r10,[r12+rcx*4+0x1000]", func(a *Assembler) { a.Lea(R10, HalfElement(R12, RCX).Plus(0x1000)) }},
	{"mov    r10,QWORD PTR [r13+r12*8+0x0]", func(a *Assembler) { a.Mov(R(R10), Element(R13, R12)) }},
	{"mov    r8,QWORD PTR [rip+0xffc]        # 0x10001003", func(a *Assembler) { a.Mov(R(R8), Address(testAddress+0x1003)) }},
	{"mov    eax,r8d", func(a *Assembler) { a.Mov32(RAX, R(R8)) }},
	{"mov    BYTE PTR [r9],cl", func(a *Assembler) { a.Store8(At(R9, 0), RCX) }},
	{"mov    BYTE PTR [rsi+0x8],dil", func(a *Assembler) { a.Store8(At(RSI, 8), RDI) }},
	{"mov    r9d,0xffffffff", func(a *Assembler) { a.MovImm(R9, 1<<32-1) }},
	{"mov    rbx,0xfffffffffffffffe", func(a *Assembler) { a.MovImm(RBX, ^uint64(1)) }},
	{"movabs r14,0x123456789abcdef", func(a *Assembler) { a.MovImm(R14, 0x123456789abcdef) }},
	{"mov    QWORD PTR [rip+0x100],0xffffffffffffffff        # 0x1000010b", func(a *Assembler) { a.StoreImm(Address(testAddress+0x10b), -1) }},
	{"lea    rsp,[rsp-0x80]", func(a *Assembler) { a.Lea(RSP, At(RSP, -128)) }},
	{"lea    rsp,[rsp+0x80]", func(a *Assembler) { a.Lea(RSP, At(RSP, 128)) }},
	{"lea    r11,[rip+0xfffffffffffffff9]        # 0x10000000", func(a *Assembler) { a.Lea(R11, Address(testAddress)) }},
	{"lea    r9,[rip+0x0]        # 0x10000007", func(a *Assembler) { l := a.NewLabel(); a.LeaLabel(R9, l); a.Place(l) }},
	{"bsf    rax,r12", func(a *Assembler) { a.Bsf(RAX, R(R12)) }},
	{"lea    rax,[r9+r9*1+0x1]", func(a *Assembler) { a.LeaSum(RAX, R9, R9, 1) }},
	{"lea    r8,[r13+rcx*1-0x1]", func(a *Assembler) { a.LeaSum(R8, R13, RCX, -1) }},
	{"lea    rcx,[rcx+rax*1+0x800]", func(a *Assembler) { a.LeaSumWide(RCX, RCX, RAX, 0x800) }},
	{"lea    r9,[r13+r12*1+0x10]", func(a *Assembler) { a.LeaSumWide(R9, R13, R12, 16) }},
	{"add    rdi,QWORD PTR [rsp]", func(a *Assembler) { a.Alu(Add, R(RDI), At(RSP, 0)) }},
	{"sub    QWORD PTR [rsp+0x10],r10", func(a *Assembler) { a.Alu(Sub, At(RSP, 16), R(R10)) }},
	{"cmp    rsi,r9", func(a *Assembler) { a.Alu(Cmp, R(RSI), R(R9)) }},
	{"and    r11,0xffffffffffffff80", func(a *Assembler) { a.AluImm(And, R(R11), -128) }},
	{"xor    rax,0x80", func(a *Assembler) { a.AluImm(Xor, R(RAX), 128) }},
	{"or     QWORD PTR [rsp+0x8],0x7f", func(a *Assembler) { a.AluImm(Or, At(RSP, 8), 127) }},
	{"test   r12,r12", func(a *Assembler) { a.Test(R12) }},
	{"test   DWORD PTR [rip+0xf9],0x3fffffff        # 0x10000103", func(a *Assembler) { a.TestBits32(Address(testAddress+0x103), 0x3fffffff) }},
	{"test   al,0x1", func(a *Assembler) { a.TestAL(1) }},
	{"imul   r8,QWORD PTR [rsp+0x8]", func(a *Assembler) { a.Imul(R8, At(RSP, 8)) }},
	{"imul   rax,r10,0x12345", func(a *Assembler) { a.ImulImm(RAX, R(R10), 0x12345) }},
	{"neg    r9", func(a *Assembler) { a.Neg(R(R9)) }},
	{"not    QWORD PTR [rsp]", func(a *Assembler) { a.Not(At(RSP, 0)) }},
	{"div    r8", func(a *Assembler) { a.Div(R(R8)) }},
	{"idiv   QWORD PTR [rsp+0x8]", func(a *Assembler) { a.Idiv(At(RSP, 8)) }},
	{"imul   QWORD PTR [rsp+0x8]", func(a *Assembler) { a.MulWide(At(RSP, 8), true) }},
	{"imul   rcx", func(a *Assembler) { a.MulWide(R(RCX), true) }},
	{"div    ecx", func(a *Assembler) { a.Div32(R(RCX)) }},
	{"cqo", func(a *Assembler) { a.Cqo() }},
	{"xor    r9d,r9d", func(a *Assembler) { a.Clear(R9) }},
	{"inc    rax", func(a *Assembler) { a.Inc(R(RAX)) }},
	{"dec    QWORD PTR [rsp+0x8]", func(a *Assembler) { a.Dec(At(RSP, 8)) }},
	{"rol    rdx,0x3f", func(a *Assembler) { a.Shift(Rol, R(RDX), 63) }},
	{"sar    QWORD PTR [rsp],0x7", func(a *Assembler) { a.Shift(Sar, At(RSP, 0), 7) }},
	{"shl    r13,cl", func(a *Assembler) { a.ShiftCL(Shl, R(R13)) }},
	{"sete   sil", func(a *Assembler) { a.Set(E, RSI); a.code = a.code[:4] }},
	{"movzx  esi,sil", func(a *Assembler) { a.Set(E, RSI); a.code = a.code[4:] }},
	{"setb   r9b", func(a *Assembler) { a.Set(B, R9); a.code = a.code[:4] }},
	{"cmovg  rdi,QWORD PTR [rsp+0x8]", func(a *Assembler) { a.Cmov(G, RDI, At(RSP, 8)) }},
	{"cmovs  rax,r8", func(a *Assembler) { a.Cmov(S, RAX, R(R8)) }},
	{"movsxd r8,eax", func(a *Assembler) { a.Extend(R8, R(RAX), 32, true) }},
	{"movsx  r8,WORD PTR [rsp]", func(a *Assembler) { a.Extend(R8, At(RSP, 0), 16, true) }},
	{"movzx  r8d,r9w", func(a *Assembler) { a.Extend(R8, R(R9), 16, false) }},
	{"movsx  rdi,dil", func(a *Assembler) { a.Extend(RDI, R(RDI), 8, true) }},
	{"movzx  eax,dil", func(a *Assembler) { a.Extend(RAX, R(RDI), 8, false) }},
	{"bsr    rax,r10", func(a *Assembler) { a.Bsr(RAX, R(R10)) }},
	{"xchg   r9,r10", func(a *Assembler) { a.Xchg(R10, R9) }},
	{"push   r15", func(a *Assembler) { a.Push(R15) }},
	{"pop    rbp", func(a *Assembler) { a.Pop(RBP) }},
	{"lock inc QWORD PTR [rip+0x38]        # 0x10000040", func(a *Assembler) { a.LockInc(Address(testAddress + 0x40)) }},
	{"lock or BYTE PTR [rdx+0x7],0x0", func(a *Assembler) { a.LockTouch(At(RDX, 7)) }},
	{"lock inc QWORD PTR [rcx+rax*8]", func(a *Assembler) { a.LockInc(Element(RCX, RAX)) }},
	{"lock dec QWORD PTR [r10]", func(a *Assembler) { a.LockDec(At(R10, 0)) }},
	{"lock add QWORD PTR [rip+0x38],r8        # 0x10000040", func(a *Assembler) { a.LockAdd(Address(testAddress+0x40), R8) }},
	{"lock add QWORD PTR [rip+0x37],0xfffffffffffffffe        # 0x10000040", func(a *Assembler) { a.LockAddImm(Address(testAddress+0x40), -2) }},
	{"lock xadd QWORD PTR [rip+0x37],rsi        # 0x10000040", func(a *Assembler) { a.LockXadd(Address(testAddress+0x40), RSI) }},
	{"lock cmpxchg QWORD PTR [rip+0x37],rcx        # 0x10000040", func(a *Assembler) { a.LockCmpxchg(Address(testAddress+0x40), RCX) }},
	{"lock cmpxchg16b OWORD PTR [r13+0x0]", func(a *Assembler) { a.LockCmpxchg16(At(R13, 0)) }},
	{"mov    r8,QWORD PTR [rcx+r10*4]", func(a *Assembler) { a.Mov(R(R8), HalfElement(RCX, R10)) }},
	{"jmp    0x10000000", func(a *Assembler) { l := a.NewLabel(); a.Place(l); a.Jmp(l) }},
	{"jle    0x10000000", func(a *Assembler) { l := a.NewLabel(); a.Place(l); a.Jcc(LE, l) }},
	{"jmp    0x10000000", func(a *Assembler) { l := a.NewLabel(); a.Place(l); a.JmpNear(l) }},
	{"jne    0x10000000", func(a *Assembler) { l := a.NewLabel(); a.Place(l); a.JccNear(NE, l) }},
	{"lahf", func(a *Assembler) { a.Lahf() }},
	{"seto   al", func(a *Assembler) { a.SetOF() }},
	{"add    al,0x7f", func(a *Assembler) { a.AddAL(127) }},
	{"sahf", func(a *Assembler) { a.Sahf() }},
	{"int3", func(a *Assembler) { a.Int3() }},
	{"addsd  xmm14,xmm15", func(a *Assembler) { a.Sd(Addsd, 14, 15) }},
	{"mulsd  xmm1,xmm9", func(a *Assembler) { a.Sd(Mulsd, 1, 9) }},
	{"subsd  xmm14,xmm15", func(a *Assembler) { a.Sd(Subsd, 14, 15) }},
	{"divsd  xmm14,xmm0", func(a *Assembler) { a.Sd(Divsd, 14, 0) }},
	{"cmpeqsd xmm14,xmm15", func(a *Assembler) { a.Cmpsd(FloatEqual, 14, 15) }},
	{"cmpneqsd xmm14,xmm15", func(a *Assembler) { a.Cmpsd(FloatNotEqual, 14, 15) }},
	{"ucomisd xmm15,xmm14", func(a *Assembler) { a.Ucomisd(15, 14) }},
	{"movq   xmm14,r9", func(a *Assembler) { a.MovFloat(14, R(R9)) }},
	{"movq   xmm15,QWORD PTR [rsp+0x8]", func(a *Assembler) { a.MovFloat(15, At(RSP, 8)) }},
	{"movd   xmm14,eax", func(a *Assembler) { a.MovFloat32(14, R(RAX)) }},
	{"movq   rcx,xmm14", func(a *Assembler) { a.MovWord(RCX, 14) }},
	{"movq   r11,xmm3", func(a *Assembler) { a.MovWord(R11, 3) }},
	{"movd   r11d,xmm14", func(a *Assembler) { a.MovWord32(R11, 14) }},
	{"xorps  xmm14,xmm14", func(a *Assembler) { a.ClearFloat(14) }},
	{"cvtsi2sd xmm14,r8", func(a *Assembler) { a.Cvtsi2sd(14, R(R8)) }},
	{"cvtsi2sd xmm14,QWORD PTR [rsp+0x8]", func(a *Assembler) { a.Cvtsi2sd(14, At(RSP, 8)) }},
	{"cvttsd2si r8,xmm15", func(a *Assembler) { a.Cvttsd2si(R8, 15) }},
	{"cvtsd2ss xmm14,xmm14", func(a *Assembler) { a.Cvtsd2ss(14) }},
	{"cvtss2sd xmm14,xmm14", func(a *Assembler) { a.Cvtss2sd(14) }},
	{"movups xmm15,XMMWORD PTR [rsp+0x10]", func(a *Assembler) { a.LoadVector(15, At(RSP, 16)) }},
	{"movups XMMWORD PTR [rsp+0x10],xmm15", func(a *Assembler) { a.StoreVector(At(RSP, 16), 15) }},
	{"ldmxcsr DWORD PTR [rsp+0x24]", func(a *Assembler) { a.Ldmxcsr(At(RSP, 36)) }},
	{"stmxcsr DWORD PTR [rsp+0x20]", func(a *Assembler) { a.Stmxcsr(At(RSP, 32)) }},
	{"btc    r10,0x3f", func(a *Assembler) { a.ComplementBit(R(R10), 63) }},
	{"pause", func(a *Assembler) { a.Pause() }},
}

// TestForms: objdump shows each form as what was meant.
func TestForms(t *testing.T) {
	testenv.Require(t, testenv.Objdump)
	for _, f := range forms {
		a := New(testAddress)
		f.emit(a)
		code, err := a.Finish()
		if err != nil {
			t.Errorf("%s: %v", f.text, err)
			continue
		}
		if got := objdump.Lines(t, code, testAddress); len(got) != 1 || got[0] != f.text {
			t.Errorf("% x is %q, not %q", code, got, f.text)
		}
	}
}

// TestPlace: a jump to the next instruction is left out, and labels at its end move with it.
func TestPlace(t *testing.T) {
	a := New(testAddress)
	l, m := a.NewLabel(), a.NewLabel()
	a.Int3()
	a.Jmp(l)
	a.Place(m)
	a.Place(l)
	a.Jmp(m)
	if code, err := a.Finish(); err != nil || string(code) != "\xcc\xe9\xfb\xff\xff\xff" {
		t.Errorf("% x, %v", code, err)
	}
}

// TestRefusedForms: what cannot be encoded is an error.
func TestRefusedForms(t *testing.T) {
	for name, emit := range map[string]func(a *Assembler){
		"a far address":    func(a *Assembler) { a.LockInc(Address(testAddress + 1<<32)) },
		"a missing label":  func(a *Assembler) { a.Jmp(a.NewLabel()) },
		"a far short jump": func(a *Assembler) { l := a.NewLabel(); a.JmpNear(l); a.Bytes(make([]byte, 128)...); a.Place(l) },
	} {
		a := New(testAddress)
		emit(a)
		if _, err := a.Finish(); err == nil {
			t.Errorf("%s is encoded", name)
		}
	}
}
