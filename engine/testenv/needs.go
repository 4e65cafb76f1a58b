package testenv

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

const isAMD64 = runtime.GOARCH == "amd64"

// canBuild32 asks the compiler for a 32-bit program: headers and libraries come in packages of their own.
func canBuild32() bool {
	dir, err := os.MkdirTemp("", "gotap-m32-")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("gcc", "-m32", "-x", "c", "-", "-o", filepath.Join(dir, "a.out"))
	cmd.Stdin = strings.NewReader("int main(void){return 0;}")
	return cmd.Run() == nil
}

// canRun32 runs a program of the 32-bit kind, which ends at once: kernels may be built or started without them.
func canRun32() bool {
	dir, err := os.MkdirTemp("", "gotap-ia32-")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "exits")
	if err := os.WriteFile(path, exits32(), 0o700); err != nil {
		return false
	}
	return exec.Command(path).Run() == nil
}

// exits32 returns a program for IA32 that ends with status 0.
func exits32() []byte {
	const base, head = 0x08048000, 52 + 32
	code := []byte{0xb8, 1, 0, 0, 0, 0x31, 0xdb, 0xcd, 0x80} // mov $1, %eax; xor %ebx, %ebx; int $0x80
	header := elf.Header32{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_386), Version: 1, Entry: base + head, Phoff: 52, Ehsize: 52, Phentsize: 32, Phnum: 1}
	copy(header.Ident[:], elf.ELFMAG+"\x01\x01\x01")
	size := uint32(head + len(code))
	segment := elf.Prog32{Type: uint32(elf.PT_LOAD), Vaddr: base, Filesz: size, Memsz: size, Flags: uint32(elf.PF_R | elf.PF_X), Align: 0x1000}
	var file bytes.Buffer
	binary.Write(&file, binary.LittleEndian, header)
	binary.Write(&file, binary.LittleEndian, segment)
	file.Write(code)
	return file.Bytes()
}

// canTrace traces a child that ends at once: seccomp filters of containers may forbid even that.
func canTrace() bool {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	exe, err := exec.LookPath("true")
	if err != nil {
		return false
	}
	pid, err := syscall.ForkExec(exe, []string{"true"}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Ptrace: true}})
	if err != nil {
		return false
	}
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, syscall.WALL, nil); err != nil {
		return false
	}
	stopped := ws.Stopped()
	syscall.Kill(pid, syscall.SIGKILL)
	syscall.Wait4(pid, &ws, syscall.WALL, nil)
	return stopped
}

// hasSDT asks the preprocessor for the header of static marks.
func hasSDT() bool {
	cmd := exec.Command("gcc", "-E", "-x", "c", "-")
	cmd.Stdin = strings.NewReader("#include <sys/sdt.h>\n")
	return cmd.Run() == nil
}

// hasLibCxx asks the preprocessor for a header of libc++.
func hasLibCxx() bool {
	cmd := exec.Command("clang++", "-stdlib=libc++", "-E", "-x", "c++", "-")
	cmd.Stdin = strings.NewReader("#include <map>\n")
	return cmd.Run() == nil
}

// hasTSC looks for TypeScript's compiler in PATH, or where the environment says.
func hasTSC() bool {
	_, err := exec.LookPath(cmp.Or(os.Getenv("GOTAP_TSC"), "tsc"))
	return err == nil
}
