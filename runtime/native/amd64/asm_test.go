package amd64

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

const testAddress = 0x10000000

// forms are instructions as the assembler encodes them, with the text that objdump shows for the bytes.
var forms = []struct {
	text string
	emit func(a *asm)
}{
	{"mov    rax,r15", func(a *asm) { a.mov(r(rax), r(r15)) }},
	{"mov    r12,QWORD PTR [r12]", func(a *asm) { a.mov(r(r12), at(r12, 0)) }},
	{"mov    rsi,QWORD PTR [rsp+0x8]", func(a *asm) { a.mov(r(rsi), at(rsp, 8)) }},
	{"mov    QWORD PTR [r13+0x0],rcx", func(a *asm) { a.mov(at(r13, 0), r(rcx)) }},
	{"mov    QWORD PTR [rbp-0x100],r9", func(a *asm) { a.mov(at(rbp, -256), r(r9)) }},
	{"mov    rdx,QWORD PTR [rcx+rax*8]", func(a *asm) { a.mov(r(rdx), element(rcx, rax)) }},
	{"mov    r10,QWORD PTR [r13+r12*8+0x0]", func(a *asm) { a.mov(r(r10), element(r13, r12)) }},
	{"mov    r8,QWORD PTR [rip+0xffc]        # 0x10001003", func(a *asm) { a.mov(r(r8), address(testAddress+0x1003)) }},
	{"mov    eax,r8d", func(a *asm) { a.mov32(rax, r(r8)) }},
	{"mov    r9d,0xffffffff", func(a *asm) { a.movImm(r9, 1<<32-1) }},
	{"mov    rbx,0xfffffffffffffffe", func(a *asm) { a.movImm(rbx, ^uint64(1)) }},
	{"movabs r14,0x123456789abcdef", func(a *asm) { a.movImm(r14, 0x123456789abcdef) }},
	{"mov    QWORD PTR [rip+0x100],0xffffffffffffffff        # 0x1000010b", func(a *asm) { a.storeImm(address(testAddress+0x10b), -1) }},
	{"lea    rsp,[rsp-0x80]", func(a *asm) { a.lea(rsp, at(rsp, -128)) }},
	{"lea    rsp,[rsp+0x80]", func(a *asm) { a.lea(rsp, at(rsp, 128)) }},
	{"lea    r11,[rip+0xfffffffffffffff9]        # 0x10000000", func(a *asm) { a.lea(r11, address(testAddress)) }},
	{"lea    r9,[rip+0x0]        # 0x10000007", func(a *asm) { l := a.newLabel(); a.leaLabel(r9, l); a.place(l) }},
	{"bsf    rax,r12", func(a *asm) { a.bsf(rax, r(r12)) }},
	{"lea    rax,[r9+r9*1+0x1]", func(a *asm) { a.leaSum(rax, r9, r9, 1) }},
	{"lea    r8,[r13+rcx*1-0x1]", func(a *asm) { a.leaSum(r8, r13, rcx, -1) }},
	{"lea    rcx,[rcx+rax*1+0x800]", func(a *asm) { a.leaSumWide(rcx, rcx, rax, 0x800) }},
	{"lea    r9,[r13+r12*1+0x10]", func(a *asm) { a.leaSumWide(r9, r13, r12, 16) }},
	{"add    rdi,QWORD PTR [rsp]", func(a *asm) { a.alu(opAdd, r(rdi), at(rsp, 0)) }},
	{"sub    QWORD PTR [rsp+0x10],r10", func(a *asm) { a.alu(opSub, at(rsp, 16), r(r10)) }},
	{"cmp    rsi,r9", func(a *asm) { a.alu(opCmp, r(rsi), r(r9)) }},
	{"and    r11,0xffffffffffffff80", func(a *asm) { a.aluImm(opAnd, r(r11), -128) }},
	{"xor    rax,0x80", func(a *asm) { a.aluImm(opXor, r(rax), 128) }},
	{"or     QWORD PTR [rsp+0x8],0x7f", func(a *asm) { a.aluImm(opOr, at(rsp, 8), 127) }},
	{"test   r12,r12", func(a *asm) { a.test(r12) }},
	{"test   DWORD PTR [rip+0xf9],0x3fffffff        # 0x10000103", func(a *asm) { a.testBits32(address(testAddress+0x103), 0x3fffffff) }},
	{"test   al,0x1", func(a *asm) { a.testAL(1) }},
	{"imul   r8,QWORD PTR [rsp+0x8]", func(a *asm) { a.imul(r8, at(rsp, 8)) }},
	{"imul   rax,r10,0x12345", func(a *asm) { a.imulImm(rax, r(r10), 0x12345) }},
	{"neg    r9", func(a *asm) { a.neg(r(r9)) }},
	{"not    QWORD PTR [rsp]", func(a *asm) { a.not(at(rsp, 0)) }},
	{"div    r8", func(a *asm) { a.div(r(r8)) }},
	{"idiv   QWORD PTR [rsp+0x8]", func(a *asm) { a.idiv(at(rsp, 8)) }},
	{"div    ecx", func(a *asm) { a.div32(r(rcx)) }},
	{"cqo", func(a *asm) { a.cqo() }},
	{"xor    r9d,r9d", func(a *asm) { a.clear(r9) }},
	{"inc    rax", func(a *asm) { a.inc(r(rax)) }},
	{"dec    QWORD PTR [rsp+0x8]", func(a *asm) { a.dec(at(rsp, 8)) }},
	{"rol    rdx,0x3f", func(a *asm) { a.shift(opRol, r(rdx), 63) }},
	{"sar    QWORD PTR [rsp],0x7", func(a *asm) { a.shift(opSar, at(rsp, 0), 7) }},
	{"shl    r13,cl", func(a *asm) { a.shiftCL(opShl, r(r13)) }},
	{"sete   sil", func(a *asm) { a.set(condE, rsi); a.code = a.code[:4] }},
	{"movzx  esi,sil", func(a *asm) { a.set(condE, rsi); a.code = a.code[4:] }},
	{"setb   r9b", func(a *asm) { a.set(condB, r9); a.code = a.code[:4] }},
	{"cmovg  rdi,QWORD PTR [rsp+0x8]", func(a *asm) { a.cmov(condG, rdi, at(rsp, 8)) }},
	{"cmovs  rax,r8", func(a *asm) { a.cmov(condS, rax, r(r8)) }},
	{"movsxd r8,eax", func(a *asm) { a.extend(r8, r(rax), 32, true) }},
	{"movsx  r8,WORD PTR [rsp]", func(a *asm) { a.extend(r8, at(rsp, 0), 16, true) }},
	{"movzx  r8d,r9w", func(a *asm) { a.extend(r8, r(r9), 16, false) }},
	{"movsx  rdi,dil", func(a *asm) { a.extend(rdi, r(rdi), 8, true) }},
	{"movzx  eax,dil", func(a *asm) { a.extend(rax, r(rdi), 8, false) }},
	{"bsr    rax,r10", func(a *asm) { a.bsr(rax, r(r10)) }},
	{"xchg   r9,r10", func(a *asm) { a.xchg(r10, r9) }},
	{"push   r15", func(a *asm) { a.push(r15) }},
	{"pop    rbp", func(a *asm) { a.pop(rbp) }},
	{"lock inc QWORD PTR [rip+0x38]        # 0x10000040", func(a *asm) { a.lockInc(address(testAddress + 0x40)) }},
	{"lock inc QWORD PTR [rcx+rax*8]", func(a *asm) { a.lockInc(element(rcx, rax)) }},
	{"lock dec QWORD PTR [r10]", func(a *asm) { a.lockDec(at(r10, 0)) }},
	{"lock add QWORD PTR [rip+0x38],r8        # 0x10000040", func(a *asm) { a.lockAdd(address(testAddress+0x40), r8) }},
	{"lock add QWORD PTR [rip+0x37],0xfffffffffffffffe        # 0x10000040", func(a *asm) { a.lockAddImm(address(testAddress+0x40), -2) }},
	{"lock xadd QWORD PTR [rip+0x37],rsi        # 0x10000040", func(a *asm) { a.lockXadd(address(testAddress+0x40), rsi) }},
	{"lock cmpxchg QWORD PTR [rip+0x37],rcx        # 0x10000040", func(a *asm) { a.lockCmpxchg(address(testAddress+0x40), rcx) }},
	{"lock cmpxchg16b OWORD PTR [r13+0x0]", func(a *asm) { a.lockCmpxchg16(at(r13, 0)) }},
	{"mov    r8,QWORD PTR [rcx+r10*4]", func(a *asm) { o := element(rcx, r10); o.half = true; a.mov(r(r8), o) }},
	{"jmp    0x10000000", func(a *asm) { l := a.newLabel(); a.place(l); a.jmp(l) }},
	{"jle    0x10000000", func(a *asm) { l := a.newLabel(); a.place(l); a.jcc(condLE, l) }},
	{"jmp    0x10000000", func(a *asm) { l := a.newLabel(); a.place(l); a.jmpNear(l) }},
	{"jne    0x10000000", func(a *asm) { l := a.newLabel(); a.place(l); a.jccNear(condNE, l) }},
	{"lahf", func(a *asm) { a.lahf() }},
	{"seto   al", func(a *asm) { a.setOF() }},
	{"add    al,0x7f", func(a *asm) { a.addAL(127) }},
	{"sahf", func(a *asm) { a.sahf() }},
	{"int3", func(a *asm) { a.int3() }},
	{"addsd  xmm14,xmm15", func(a *asm) { a.sd(opAddsd, vectorA, vectorB) }},
	{"mulsd  xmm1,xmm9", func(a *asm) { a.sd(opMulsd, 1, 9) }},
	{"subsd  xmm14,xmm15", func(a *asm) { a.sd(opSubsd, vectorA, vectorB) }},
	{"divsd  xmm14,xmm0", func(a *asm) { a.sd(opDivsd, vectorA, 0) }},
	{"cmpeqsd xmm14,xmm15", func(a *asm) { a.cmpsd(equal, vectorA, vectorB) }},
	{"cmpneqsd xmm14,xmm15", func(a *asm) { a.cmpsd(notEqual, vectorA, vectorB) }},
	{"ucomisd xmm15,xmm14", func(a *asm) { a.ucomisd(vectorB, vectorA) }},
	{"movq   xmm14,r9", func(a *asm) { a.movFloat(vectorA, r(r9)) }},
	{"movq   xmm15,QWORD PTR [rsp+0x8]", func(a *asm) { a.movFloat(vectorB, at(rsp, 8)) }},
	{"movd   xmm14,eax", func(a *asm) { a.movFloat32(vectorA, r(rax)) }},
	{"movq   rcx,xmm14", func(a *asm) { a.movWord(rcx, vectorA) }},
	{"movq   r11,xmm3", func(a *asm) { a.movWord(r11, 3) }},
	{"movd   r11d,xmm14", func(a *asm) { a.movWord32(r11, vectorA) }},
	{"xorps  xmm14,xmm14", func(a *asm) { a.clearFloat(vectorA) }},
	{"cvtsi2sd xmm14,r8", func(a *asm) { a.cvtsi2sd(vectorA, r(r8)) }},
	{"cvtsi2sd xmm14,QWORD PTR [rsp+0x8]", func(a *asm) { a.cvtsi2sd(vectorA, at(rsp, 8)) }},
	{"cvttsd2si r8,xmm15", func(a *asm) { a.cvttsd2si(r8, vectorB) }},
	{"cvtsd2ss xmm14,xmm14", func(a *asm) { a.cvtsd2ss(vectorA) }},
	{"cvtss2sd xmm14,xmm14", func(a *asm) { a.cvtss2sd(vectorA) }},
	{"movups xmm15,XMMWORD PTR [rsp+0x10]", func(a *asm) { a.loadVector(vectorB, at(rsp, 16)) }},
	{"movups XMMWORD PTR [rsp+0x10],xmm15", func(a *asm) { a.storeVector(at(rsp, 16), vectorB) }},
	{"ldmxcsr DWORD PTR [rsp+0x24]", func(a *asm) { a.ldmxcsr(at(rsp, 36)) }},
	{"stmxcsr DWORD PTR [rsp+0x20]", func(a *asm) { a.stmxcsr(at(rsp, 32)) }},
	{"btc    r10,0x3f", func(a *asm) { a.complementBit(r(r10), signBit) }},
	{"pause", func(a *asm) { a.pause() }},
}

// TestForms: objdump shows each form as what was meant.
func TestForms(t *testing.T) {
	for _, f := range forms {
		a := newAsm(testAddress)
		f.emit(a)
		code, err := a.finish()
		if err != nil {
			t.Errorf("%s: %v", f.text, err)
			continue
		}
		if got := disassemble(t, code, testAddress); len(got) != 1 || got[0] != f.text {
			t.Errorf("% x is %q, not %q", code, got, f.text)
		}
	}
}

// disassemble returns what objdump shows for code at an address, line by line.
func disassemble(t testing.TB, code []byte, at uint64) []string {
	t.Helper()
	testenv.Require(t, testenv.Objdump)
	file := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(file, code, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "--no-show-raw-insn",
		"--adjust-vma="+fmt.Sprintf("%#x", at), file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		if addr, text, ok := strings.Cut(line, ":\t"); ok && strings.TrimSpace(addr) != "" {
			lines = append(lines, strings.TrimSpace(text))
		}
	}
	return lines
}

// TestPlace: a jump to the next instruction is left out, and labels at its end move with it.
func TestPlace(t *testing.T) {
	a := newAsm(testAddress)
	l, m := a.newLabel(), a.newLabel()
	a.int3()
	a.jmp(l)
	a.place(m)
	a.place(l)
	a.jmp(m)
	if code, err := a.finish(); err != nil || string(code) != "\xcc\xe9\xfb\xff\xff\xff" {
		t.Errorf("% x, %v", code, err)
	}
}

// TestRefusedForms: what cannot be encoded is an error.
func TestRefusedForms(t *testing.T) {
	for name, emit := range map[string]func(a *asm){
		"a far address":    func(a *asm) { a.lockInc(address(testAddress + 1<<32)) },
		"a missing label":  func(a *asm) { a.jmp(a.newLabel()) },
		"a far short jump": func(a *asm) { l := a.newLabel(); a.jmpNear(l); a.bytes(make([]byte, 128)...); a.place(l) },
	} {
		a := newAsm(testAddress)
		emit(a)
		if _, err := a.finish(); err == nil {
			t.Errorf("%s is encoded", name)
		}
	}
}
