package crashsafe

import (
	"bytes"
	"debug/elf"
	"os/exec"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"gotap/engine/abi"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// TestSignalCallsLikeObjdump compares the instructions that are found to call rt_sigprocmask and rt_sigaction in the C
// library with a disassembler's listing: those to which the number is loaded last.
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
		if !slices.Contains(addresses(got.begins, got.masks, got.restores), addr) {
			t.Errorf("rt_sigprocmask at %#x is not found", addr)
		}
	}
	if len(got.begins) < 3 || len(got.masks) < 3 || len(got.restores) < 3 {
		t.Errorf("%d begin sections and %d end them, of %d others", len(got.begins), len(got.restores), len(got.masks))
	}
	for _, addr := range want["d"] {
		if !slices.Contains(addresses(got.actions), addr) {
			t.Errorf("rt_sigaction at %#x is not found", addr)
		}
	}
}

// addresses returns the addresses of sites, in ascending order.
func addresses(lists ...[]callSite) (all []uint64) {
	for _, s := range slices.Concat(lists...) {
		all = append(all, s.vaddr)
	}
	slices.Sort(all)
	return all
}

// callListing is how objdump shows a C library's calls: line has a number that is loaded, or a call.
type callListing struct{ tools, line, mask, action string }

var callListings = map[string]callListing{
	"a64":   {"aarch64-linux-gnu-", `mov\s+[xw]8, #(0x[0-9a-f]+)|(svc)\s+#0x0`, "0x87", "0x86"},
	"thumb": {"arm-linux-gnueabihf-", `mov(?:s|w|\.w)?\s+ip, #(\d+)|bl\s+([0-9a-f]+)`, "175", "174"},
	"32":    {"", `mov\s+\$(0x[0-9a-f]+),%eax|(call\s+\*%gs:0x10|int\s+\$0x80)|.*,%eax$`, "0xaf", "0xae"},
}

// TestCallsLikeObjdump compares the instructions that are found to call rt_sigprocmask and rt_sigaction in the C
// libraries of IA32 and ARM with a disassembler's listing: those to which the number is loaded last, and no others.
func TestCallsLikeObjdump(t *testing.T) {
	testenv.Require(t, testenv.GCCARM, testenv.GCCARM64, testenv.M32)
	for name, path := range map[string]string{
		"a64": "/usr/aarch64-linux-gnu/lib/libc.so.6", "thumb": "/usr/arm-linux-gnueabihf/lib/libc.so.6", "32": "/usr/lib32/libc.so.6",
	} {
		likeObjdump(t, callListings[name], path, path)
	}
}

// TestCallsOfStrippedLikeObjdump is the same for static programs without symbols; the listing is that of the program
// with symbols.
func TestCallsOfStrippedLikeObjdump(t *testing.T) {
	testenv.Require(t, testenv.GCCARM, testenv.GCCARM64)
	for _, name := range []string{"a64", "thumb"} {
		tools, dir := callListings[name].tools, t.TempDir()
		whole, stripped := filepath.Join(dir, "whole"), filepath.Join(dir, "stripped")
		if out, err := fixture.Command(tools+"gcc", "-O2", "-static", "-pthread", "-o", whole, "testdata/spawns.c").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if out, err := exec.Command(tools+"strip", "-o", stripped, whole).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		likeObjdump(t, callListings[name], whole, stripped)
	}
}

// likeObjdump compares the calls that are found in a file with the listing of another.
func likeObjdump(t *testing.T, c callListing, listed, path string) {
	t.Helper()
	var cache module.Cache
	defer cache.Close()
	file, err := cache.OpenPath(path)
	if err != nil {
		t.Fatal(err)
	}
	listing, err := exec.Command(c.tools+"objdump", "-d", "--no-show-raw-insn", listed).Output()
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^(?:` + c.line + `)`)
	got := (&Guards{}).signalSites(file)
	if all, want := addresses(got.begins, got.masks, got.restores), numberedCalls(listing, line, c.mask); len(want) < 10 || !slices.Equal(all, want) {
		t.Errorf("%s: %x call rt_sigprocmask, the listing has %x", path, all, want)
	}
	if all, want := addresses(got.actions), numberedCalls(listing, line, c.action); len(want) == 0 || !slices.Equal(all, want) {
		t.Errorf("%s: %x call rt_sigaction, the listing has %x", path, all, want)
	}
	if len(got.begins) < 3 || len(got.masks) < 3 || len(got.restores) < 3 {
		t.Errorf("%s: %d begin sections and %d end them, of %d others", path, len(got.begins), len(got.restores), len(got.masks))
	}
}

// numberedCalls returns the addresses of the calls in a listing to which a number is loaded last. line matches the load
// of a number, its first group, and a call, its second group. If the listing has __libc_do_syscall of Thumb, the group
// is the called address, and only calls of that function count.
func numberedCalls(listing []byte, line *regexp.Regexp, number string) (calls []uint64) {
	helper, push, loaded := "", "", ""
	called := map[uint64]string{}
	for l := range bytes.Lines(listing) {
		at, insn, ok := strings.Cut(strings.TrimSpace(string(l)), ":\t")
		addr, err := strconv.ParseUint(at, 16, 64)
		if !ok || err != nil {
			continue
		}
		switch {
		case strings.HasPrefix(insn, "push\t{r7, lr}"):
			push = at
		case push != "" && strings.HasPrefix(insn, "mov\tr7, ip"):
			helper, push = push, ""
		default:
			push = ""
		}
		if m := line.FindStringSubmatch(insn); m != nil {
			if m[2] != "" && loaded == number {
				called[addr] = m[2]
			}
			loaded = m[1]
		}
	}
	for addr, to := range called {
		if helper == "" || to == helper {
			calls = append(calls, addr)
		}
	}
	slices.Sort(calls)
	return calls
}

// TestDirectMaskCalls finds the calls in code that a compiler made of system calls which are written like those of
// musl: with svc.
func TestDirectMaskCalls(t *testing.T) {
	testenv.Require(t, testenv.GCCARM)
	for _, mode := range []string{"-marm", "-mthumb"} {
		path := filepath.Join(t.TempDir(), "direct")
		if out, err := fixture.Command("arm-linux-gnueabihf-gcc", "-O2", mode, "-fomit-frame-pointer", "-nostdlib", "-static", "-o", path, "testdata/direct.c").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var cache module.Cache
		defer cache.Close()
		file, err := cache.OpenPath(path)
		if err != nil {
			t.Fatal(err)
		}
		found, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		symbols, err := found.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]uint64{}
		for _, s := range symbols {
			want[s.Name] = []uint64{s.Value &^ 1}
		}
		got := (&Guards{}).signalSites(file)
		for name, list := range map[string][]callSite{"begins": got.begins, "ends": got.restores, "other": got.masks} {
			if !slices.Equal(addresses(list), want[name]) {
				t.Errorf("%s: %s at %x, the symbol is at %x", mode, name, addresses(list), want[name])
			}
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
