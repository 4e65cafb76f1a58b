package testenv

import (
	"cmp"
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
