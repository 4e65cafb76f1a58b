package crashsafe

import (
	"os/exec"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"unsafe"

	"gotap/engine/abi"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
	"gotap/engine/testenv"
)

// TestSignalCallsLikeObjdump compares the instructions that are found to call rt_sigprocmask and rt_sigaction in the C library with a
// disassembler's listing: those to which the number is loaded last.
func TestSignalCallsLikeObjdump(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.GCC)
	var cache module.Cache
	defer cache.Close()
	found, err := exec.Command("gcc", "-print-file-name=libc.so.6").Output()
	if err != nil {
		t.Fatal(err)
	}
	path, err := filepath.EvalSymlinks(string(found[:len(found)-1]))
	if err != nil {
		t.Fatal(err)
	}
	file, err := cache.OpenPath(path)
	if err != nil {
		t.Fatal(err)
	}
	listing, err := exec.Command("objdump", "-d", "--no-show-raw-insn", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := (&Guards{}).signalSites(file)
	want := map[string][]uint64{}
	line := regexp.MustCompile(`(?m)^ +([0-9a-f]+):\s+(mov +\$0x([0-9a-f]+),%eax|syscall|ret|jmp|xor +%eax,%eax)`)
	number := ""
	for _, m := range line.FindAllStringSubmatch(string(listing), -1) {
		if m[2] == "syscall" {
			addr, _ := strconv.ParseUint(m[1], 16, 64)
			want[number] = append(want[number], addr)
		}
		number = m[3]
	}
	if len(want["e"]) < 5 || len(want["d"]) == 0 {
		t.Fatalf("the listing has %d and %d", len(want["e"]), len(want["d"]))
	}
	for _, addr := range want["e"] {
		if !slices.Contains(slices.Concat(got.begins, got.masks, got.restores), addr) {
			t.Errorf("rt_sigprocmask at %#x is not found", addr)
		}
	}
	if len(got.begins) < 3 || len(got.masks) < 3 || len(got.restores) < 3 {
		t.Errorf("%d begin sections and %d end them, of %d others", len(got.begins), len(got.restores), len(got.masks))
	}
	for _, addr := range want["d"] {
		if !slices.Contains(got.actions, addr) {
			t.Errorf("rt_sigaction at %#x is not found", addr)
		}
	}
}

// TestChangedMask compares the arithmetic of masks with the kernel's, in a thread of this program.
func TestChangedMask(t *testing.T) {
	testenv.Require(t, testenv.AMD64)
	const usr1, usr2, kill = 1 << (syscall.SIGUSR1 - 1), 1 << (syscall.SIGUSR2 - 1), 1 << (syscall.SIGKILL - 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		goruntime.LockOSThread() // never unlocked: the thread ends with its mask
		mask := func(how uint32, set uint64) (old uint64, ok bool) {
			_, _, e := syscall.RawSyscall6(uintptr(abi.AMD64.Calls.Procmask), uintptr(how), uintptr(unsafe.Pointer(&set)), uintptr(unsafe.Pointer(&old)), setBytes, 0, 0)
			return old, e == 0
		}
		now, _ := mask(maskBlock, 0)
		for _, step := range []struct {
			how uint32
			set uint64
		}{{maskBlock, usr1 | kill}, {maskBlock, usr2}, {maskUnblock, usr1}, {maskSet, usr1}, {3, usr2}, {maskUnblock, usr1}} {
			next, ok := changedMask(step.how, now, step.set)
			_, kernel := mask(step.how, step.set)
			if ok != kernel {
				t.Errorf("how %d: %v, the kernel says %v", step.how, ok, kernel)
			}
			if ok {
				now = next
			}
			if real, _ := mask(maskBlock, 0); real != now {
				t.Errorf("how %d, set %#x: %#x, the kernel has %#x", step.how, step.set, now, real)
			}
		}
	}()
	<-done
}

// TestRegionInMergedMapping finds a region whose mapping the kernel has merged with one before and one behind it.
func TestRegionInMergedMapping(t *testing.T) {
	const before = 64 << 10
	p, err := syscall.Mmap(-1, 0, before+fallback.Size+before, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(p)
	start := uint64(uintptr(unsafe.Pointer(&p[0])))
	copy(p[before:], fallback.AMD64.Page(start+before, fallback.Action{Handler: 0x1234}))
	mem, err := ptrace.OpenMemory(syscall.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	found := FindRegions(mem, []module.Mapping{{Start: start, End: start + uint64(len(p)), Read: true, Exec: true}}, 8)
	if len(found) != 1 || found[0].Base != start+before || found[0].Head.Own.Handler != 0x1234 {
		t.Errorf("found %+v, want one at %#x", found, start+before)
	}
}
