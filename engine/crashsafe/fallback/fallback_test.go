package fallback

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gotap/arch"
	"gotap/arch/x86"
	"gotap/engine/testenv"
)

// TestNativeIsAssembled assembles the handlers and compares them with what is embedded.
func TestNativeIsAssembled(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.GCC, testenv.GCCARM, testenv.GCCARM64)
	const arms, a64s = "arm-linux-gnueabihf-", "aarch64-linux-gnu-"
	for name, c := range map[string]struct {
		tools, flag string
		want        []byte
	}{"amd64": {"", "--64", amd64}, "ia32": {"", "--32", ia32}, "arm64": {a64s, "-march=armv8-a", arm64}, "arm": {arms, "-march=armv5t", arm}} {
		object, binary := filepath.Join(t.TempDir(), "o"), filepath.Join(t.TempDir(), "bin")
		for _, args := range [][]string{
			{c.tools + "as", c.flag, "-o", object, "native/" + name + ".S"}, {c.tools + "objcopy", "-O", "binary", "-j", ".text", object, binary},
		} {
			if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", args, err, out)
			}
		}
		got, err := os.ReadFile(binary)
		if err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("native/%s.bin is not what %s.S assembles to: %v", name, name, err)
		}
		if len(c.want) != StubAt {
			t.Errorf("%s: %d bytes", name, len(c.want))
		}
	}
}

// TestHeadComesBack writes heads and reads them.
func TestHeadComesBack(t *testing.T) {
	for _, n := range []*Native{AMD64, IA32, ARM64, ARM} {
		word := n.word
		own := Action{Handler: 0x1234, Flags: flagNoDefer | flagResetHand, Restorer: 0x777, Mask: [8]byte{1, 2, 3, 4, 5, 6, 7, 8}}
		page := n.Page(0x10000, own)
		h, ok := ParseHead(page, word)
		if !ok || h.Own != own || h.Count != 0 {
			t.Errorf("word size %d: %+v, %v", word, h, ok)
		}
		over := ParseAction(page[ActionAt:], word)
		if over.Handler != Handler(0x10000) || over.Mask != own.Mask || over.Flags&flagResetHand != 0 || over.Flags&flagSigInfo == 0 {
			t.Errorf("word size %d: installed %+v", word, over)
		}
		page[0] ^= 1
		if _, ok := ParseHead(page, word); ok {
			t.Error("anything is taken for a region")
		}
	}
}

// TestEntriesDoNotCrossPages: an entry is written whole or not at all.
// What the kernel leaves of an installed action is told from all that a program may have set.
func TestTakenFrom(t *testing.T) {
	const base = 0x7000
	for _, own := range []Action{{}, {Handler: Ignore}, {Handler: 0x1234, Flags: flagRestart | FlagRestorer, Restorer: 0x99, Mask: [8]byte{1, 2}}} {
		left := AMD64.Over(own, base)
		left.Mask[1] &^= 1 // SIGKILL
		left.Mask[2] &^= 4 // SIGSTOP
		if AMD64.Taken(left, own, base) {
			t.Errorf("%+v: the handler is still there", own)
		}
		left.Handler = Default
		if !AMD64.Taken(left, own, base) || AMD64.Taken(left, own, base+0x1000) {
			t.Errorf("%+v is not told from others", left)
		}
		if AMD64.Taken(Action{Flags: flagRestart | FlagRestorer, Restorer: 0x99}, own, base) || AMD64.Taken(Action{}, own, base) {
			t.Errorf("what a program set is taken for what is left of %+v", own)
		}
	}
}

func TestEntriesDoNotCrossPages(t *testing.T) {
	const page = 4096
	for i := range Entries {
		trap := [][]byte{{0xcc}, {1, 0xde}, {0xf0, 1, 0xf0, 0xe7}}[i%3]
		orig := []byte{0, 0x55, 0, 0, 0x17}[:len(trap)]
		if i%9 == 0 {
			orig = []byte{0, 0x55, 0, 0, 0x17}
		}
		at, p := Entry(0, i, 0x123456789a, orig, trap)
		if at/page != (at+EntrySize-1)/page || at+EntrySize > Size {
			t.Fatalf("entry %d at %#x", i, at)
		}
		if addr, was, now := ParseEntry(p[:]); addr != 0x123456789a || !bytes.Equal(was, orig) || !bytes.Equal(now, trap) {
			t.Fatal("an entry does not come back")
		}
	}
	for i := range Threads {
		if at, _ := (Thread{}).Entry(0, i); at/page != (at+ThreadSize-1)/page || at < listAt || at+ThreadSize > TableAt {
			t.Fatalf("thread %d at %#x", i, at)
		}
	}
}

// TestStubsDecode has the decoder read the stubs: whole instructions up to the jump home, which goes there.
func TestStubsDecode(t *testing.T) {
	var home arch.Regs
	for i := range home {
		home[i] = uint64(0x1000 * (i + 1))
	}
	for word, a := range map[int]arch.Arch{8: x86.New64(), 4: x86.New32()} {
		const at = 0x20000
		code := Stub(at, &home, 0x8877665544332211, word)
		if len(code) != StubSize {
			t.Errorf("word size %d: %d bytes", word, len(code))
		}
		calls := 0
		for pc := 0; ; {
			in, err := a.Decode(code[pc:], at+uint64(pc))
			if err != nil {
				t.Fatalf("word size %d, offset %d: %v", word, pc, err)
			}
			if in.Control == arch.Syscall {
				calls++
			}
			if in.Control == arch.Jump && in.Target != home[x86.RIP] {
				t.Errorf("goes home to %#x", in.Target)
			}
			if in.Control == arch.Jump || in.Control == arch.IndirJump {
				break
			}
			pc += in.Len
		}
		if calls != 2 {
			t.Errorf("word size %d: %d system calls", word, calls)
		}
	}
}
