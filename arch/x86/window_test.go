package x86

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"gotap/arch"
)

// windowOf returns the window of code given in hexadecimal, at 0x401000.
func windowOf(t *testing.T, code string) (arch.Window, error) {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(code, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	w, err := New64().(arch.WindowArch).WindowAt(b, 0x401000)
	if err != nil && !errors.Is(err, arch.ErrUnsupported) {
		t.Errorf("%s: %v does not match ErrUnsupported", code, err)
	}
	return w, err
}

// TestWindowRefused checks the reason for which no jump fits, for each of them.
func TestWindowRefused(t *testing.T) {
	for code, want := range map[string]string{
		"":                         "the function ends after 0 bytes",
		"55 4889e5":                "the function ends after 4 bytes",
		"55":                       "the function ends after 1 byte",
		"55 4889":                  "the function ends in the second instruction",
		"55 06 90909090":           "the second instruction cannot be decoded: not an instruction of 64-bit mode",
		"c3":                       "the function ends after 1 byte, without enough padding behind it",
		"90 c3 cccc":               "the function ends after 2 bytes, without enough padding behind it",
		"c3 55 4889e5":             "the first instruction does not continue, and what follows it is not padding",
		"c3 0000000000":            "the first instruction does not continue, and what follows it is not padding",
		"5d c3 4889e5":             "the second instruction does not continue, and what follows it is not padding",
		"eb10 90 4889e5":           "the first instruction does not continue, and what follows it is not padding",
		"55 ffd0 4889e5":           "the second instruction is a call, behind which there is more to replace",
		"ffe0 4889e5":              "the first instruction does not continue, and what follows it is not padding",
		"55 0f05 4889e5":           "the second instruction is a system call, which shows its address",
		"cd80 4889e5":              "the first instruction is a system call, which shows its address",
		"0f34 4889e5":              "the first instruction is a system call, which shows its address",
		"cd21 4889e5":              "the first instruction raises an exception",
		"55 0f0b 4889e5":           "the second instruction raises an exception",
		"55 cc 4889e5":             "the second instruction cannot be displaced: a breakpoint of the program's own",
		"55 f4 4889e5":             "the second instruction is privileged",
		"55 e460 4889e5":           "the second instruction is privileged",
		"55 6c 4889e5":             "the second instruction is privileged",
		"0f30 4889e5":              "the first instruction is privileged",
		"c7f8 00000000":            "the first instruction starts a transaction",
		"d9c0 4889e5":              "the first instruction is an x87 instruction, which records its address",
		"dd442408 4889e5":          "the first instruction is an x87 instruction, which records its address",
		"9d 55 4889e5":             "the first instruction may set the trap flag",
		"48cf 4889e5":              "the first instruction may set the trap flag",
		"67488d0510000000":         "the first instruction has an operand with an address of 32 bits",
		"2e2e2e2e2e2e2e2e2e2e7410": "the first instruction is a branch with too many prefixes",
		"66e910000000":             "the first instruction cannot be displaced: a branch with an operand-size prefix, which processors take differently",
		"ff1d10000000":             "the first instruction is a far call",
		"5053 ffd4 90":             "the third instruction is a call of code on the stack",
		"50ff5424f8":               "the second instruction is a call through a pointer below the stack pointer",
		"7401 90 4889e5":           "a branch in the window leads into the bytes that the jump would replace",
		"eb01 cccccc":              "a branch in the window leads into the bytes that the jump would replace",
		"90 90 90 e8fbffffff":      "a branch in the window leads into the bytes that the jump would replace",
		"e2fe 4889e5":              "",
		"0f1f00 e2fe":              "a branch in the window leads into the bytes that the jump would replace",
		"0f01d7 4889e5":            "the first instruction cannot be displaced: enclu tells the enclave the address behind itself, to which it comes back",
		"8fea7812c0 00000000":      "the first instruction records its address in a log",
	} {
		_, err := windowOf(t, code)
		got := ""
		if w := (*arch.WindowError)(nil); errors.As(err, &w) {
			got = w.Reason
		}
		if got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

// TestWindowCopy checks copies: a row has code at 0x401000, the number of bytes replaced, and the copy at 0x501000.
func TestWindowCopy(t *testing.T) {
	for _, row := range []struct {
		name, code string
		len        int
		copy       string
		offsets    []int
	}{
		{"one instruction", "b801000000", 5, "b801000000 e9fbffefff", []int{0}},
		{"a frame", "f30f1efa 55 4889e5", 5, "f30f1efa 55 e9fbffefff", []int{0, 4}},
		{"lea of its own", "488d0510000000", 7, "488d051000f0ff e9fbffefff", []int{0}},
		{"an operand and an immediate", "c7051000000001000000", 10, "c7051000f0ff01000000 e9fbffefff", []int{0}},
		{"a short jump", "ebfe 909090", 5, "e9fbffefff", []int{0}},
		{"a short conditional jump last", "31c0 7510 90", 5, "31c0 0f850c00f0ff 90 e9f7ffefff", []int{0, 2, 8}},
		{"a conditional jump", "0f8410000000", 6, "0f841000f0ff e9fbffefff", []int{0}},
		{"a branch hint", "2e7510 4889e5", 6, "2e0f850c00f0ff 4889e5 e9f7ffefff", []int{0, 7}},
		{"a loop to itself", "e2fe 4889e5", 5, "e202 eb05 e9f7ffefff 4889e5 e9f4ffefff", []int{0, 9}},
		{"jecxz", "67e310 4889e5", 6, "67e302 eb05 e90900f0ff 4889e5 e9f4ffefff", []int{0, 10}},
		{"a return", "5d c3 cccccc", 5, "5d c3", []int{0, 1}},
		{"a return before a nop", "c3 6690 0f1f4000", 5, "c3", []int{0}},
		{"a return that releases", "c20800 cccc", 5, "c20800", []int{0}},
		{"an indirect jump", "ff2510000000", 6, "ff251000f0ff", []int{0}},
		{"a call", "e810000000", 5, "ff3505000000 e90a00f0ff 0510400000000000", []int{0}},
		{"a call of the next instruction", "e800000000", 5, "ff3505000000 e9faffefff 0510400000000000", []int{0}},
		{"a call last", "4889f8 ffd2", 5, "4889f8 ff3502000000 ffe2 0510400000000000", []int{0, 3}},
		{"a call through r11", "4889f8 41ffd3", 6, "4889f8 ff3503000000 41ffe3 0610400000000000", []int{0, 3}},
		{"a call through a table", "ff1510000000", 6, "ff3506000000 ff250a00f0ff 0610400000000000", []int{0}},
		{"a call through the stack", "9090 ff1424", 5, "9090 ff3504000000 ff642408 0510400000000000", []int{0, 1, 2}},
		{"a call further up", "90 ff542478", 5, "90 ff3507000000 ffa42480000000 0510400000000000", []int{0, 1}},
		{"a call with an index", "90 ff54cc10", 5, "90 ff3504000000 ff64cc18 0510400000000000", []int{0, 1}},
		{"a pointer that is not the stack", "90 41ff542410", 6, "90 ff3505000000 41ff642410 0610400000000000", []int{0, 1}},
		{"rep movs", "f348a5 4889f8", 6, "f348a5 4889f8 e9fbffefff", []int{0, 3}},
		{"lock", "f00fb10f 90", 5, "f00fb10f 90 e9fbffefff", []int{0, 4}},
	} {
		w, err := windowOf(t, row.code)
		if err != nil || w.Len != row.len {
			t.Errorf("%s: %d bytes, want %d; %v", row.name, w.Len, row.len, err)
			continue
		}
		code, offsets, err := w.Copy(0x501000)
		if got, want := hex.EncodeToString(code), strings.ReplaceAll(row.copy, " ", ""); got != want || err != nil {
			t.Errorf("%s:\n%s, want\n%s; %v", row.name, got, want, err)
		}
		for i := range max(len(offsets), len(row.offsets)) {
			if i >= len(offsets) || i >= len(row.offsets) || offsets[i] != row.offsets[i] {
				t.Errorf("%s: offsets %v, want %v", row.name, offsets, row.offsets)
				break
			}
		}
	}
}

// TestWindowOutOfReach checks the distance over which a window can be copied, and a jump leads.
func TestWindowOutOfReach(t *testing.T) {
	for code, want := range map[string]string{
		"488d0510000000":  "what the instruction at 0x401000 refers to is out of reach from 0x7f0000000000",
		"e810000000":      "what the instruction at 0x401000 refers to is out of reach from 0x7f0000000000",
		"90 ff1510000000": "what the instruction at 0x401001 refers to is out of reach from 0x7f0000000001",
		"31c0 7510 90":    "what the instruction at 0x401002 refers to is out of reach from 0x7f0000000002",
		"e210 90 90 90":   "what the instruction at 0x401000 refers to is out of reach from 0x7f0000000000",
		"55 4889e5 90":    "it is out of reach from 0x7f0000000000",
	} {
		w, err := windowOf(t, code)
		if err != nil {
			t.Errorf("%s: %v", code, err)
			continue
		}
		_, _, err = w.Copy(0x7f0000000000)
		if refused := (*arch.WindowError)(nil); !errors.As(err, &refused) || refused.Reason != want {
			t.Errorf("%s: %v, want %s", code, err, want)
		}
	}
	a := New64().(arch.WindowArch)
	const from = 0x7f0000401000
	for to, far := range map[uint64]bool{from + 5 + 0x7fffffff: false, from + 5 + 0x80000000: true, from + 5: false, from + 5 - 0x80000000: false, from + 4 - 0x80000000: true} {
		code, err := a.Jump(from, to)
		if (err != nil) != far || err == nil && len(code) != a.JumpLen() {
			t.Errorf("jump to %#x: % x, %v", to, code, err)
		}
	}
}

// TestWindowParts checks the copies of the parts of a window, and the bytes that replace it.
func TestWindowParts(t *testing.T) {
	w, err := windowOf(t, "55 4889e5 4154 c3")
	if err != nil || w.Len != 6 || len(w.Insns) != 3 || w.End() != 0x401006 {
		t.Fatalf("%+v, %v", w, err)
	}
	code, offsets, err := w.CopyFirst(2, 0x501000)
	if hex.EncodeToString(code) != "554889e5" || len(offsets) != 2 || err != nil {
		t.Errorf("the first two: % x, %v, %v", code, offsets, err)
	}
	rest := w.Rest(2)
	if code, offsets, err = rest.Copy(0x501010); hex.EncodeToString(code) != "4154e9efffefff" || len(offsets) != 1 || err != nil {
		t.Errorf("the rest: % x, %v, %v", code, offsets, err)
	}
	jump, err := w.Arch.Jump(w.Addr, 0x501000)
	if hex.EncodeToString(jump) != "e9fbff0f00" || err != nil {
		t.Errorf("the jump: % x, %v", jump, err)
	}
	if _, err = w.Arch.Jump(w.Addr, 0x7f0000000000); !errors.Is(err, arch.ErrUnsupported) {
		t.Errorf("a jump out of reach: %v", err)
	}
}

// TestShortWindow: a jump of two bytes replaces as few instructions as it can, and leads 127 bytes forwards and 128 back.
func TestShortWindow(t *testing.T) {
	const at = 0x401000
	short := NewShort64()
	for code, want := range map[string]struct {
		len, insns int
		reason     string
	}{
		"4889f8 c3":        {3, 1, ""},
		"5b c3 4889f8":     {2, 2, ""},
		"90 4889f8":        {4, 2, ""},
		"c3 90":            {2, 1, ""},
		"c3 660f1f440000":  {2, 1, ""},
		"c3 55":            {0, 0, "the first instruction does not continue, and what follows it is not padding"},
		"c3":               {0, 0, "the function ends after 1 byte, without enough padding behind it"},
		"90":               {0, 0, "the function ends after 1 byte"},
		"0f05 90":          {0, 0, "the first instruction is a system call, which shows its address"},
		"90 0f05":          {0, 0, "the second instruction is a system call, which shows its address"},
		"75ff c3":          {0, 0, "a branch in the window leads into the bytes that the jump would replace"},
		"e810000000 85c0":  {5, 1, ""},
		"90 e810000000 90": {6, 2, ""},
	} {
		bytes, _ := hex.DecodeString(strings.ReplaceAll(code, " ", ""))
		w, err := short.WindowAt(bytes, at)
		reason := ""
		if refused := (*arch.WindowError)(nil); errors.As(err, &refused) {
			reason = refused.Reason
		}
		if w.Len != want.len || len(w.Insns) != want.insns || reason != want.reason {
			t.Errorf("%s: %d bytes, %d instructions, %q; want %+v", code, w.Len, len(w.Insns), reason, want)
		}
	}
	for to, want := range map[uint64]string{at + 2: "eb00", at + 129: "eb7f", at + 130: "", at - 126: "eb80", at - 127: ""} {
		jump, err := short.Jump(at, to)
		if hex.EncodeToString(jump) != want || (err != nil) != (want == "") {
			t.Errorf("a jump to %#x: % x, %v", to, jump, err)
		}
	}
}

// TestWindowFlags checks what is known of the flags and of the red zone.
func TestWindowFlags(t *testing.T) {
	for code, want := range map[string]struct{ dead, free, pushes bool }{
		"55 4889e5 4883ec10":                 {dead: true},
		"55 4889e5 4154 31c0":                {dead: true},
		"55 4889e5 4154 90":                  {},
		"55 4889e5 4154 7410 31c0":           {},
		"4883d000 90":                        {},
		"4883d000 90 4883c001":               {},
		"48ffc0 4889e5":                      {}, // keeps the carry
		"48ffc0 4883d000 31c0":               {}, // and reads it
		"48ffc0 4883c001":                    {dead: true},
		"660fefc0 0f2900 85c0":               {dead: true},
		"0f2ec1 0f2ec1 85c0":                 {}, // ucomiss is not known
		"48d3e0 4889e5 85c0":                 {}, // a shift by 0 keeps them
		"f7d0 4889e5 f7d8":                   {dead: true},
		"c3 cccccccc":                        {free: true},
		"e810000000 85c0":                    {pushes: true},
		"4889f8 ffd0":                        {pushes: true},
		"f30f1efa 90909090909090909090 85c0": {}, // too far away
	} {
		w, err := windowOf(t, code)
		if err != nil || w.FlagsDead != want.dead || w.RedZoneFree != want.free || w.Pushes != want.pushes {
			t.Errorf("%s: flags dead %v, red zone free %v, pushes %v, want %v; %v", code, w.FlagsDead, w.RedZoneFree, w.Pushes, want, err)
		}
	}
}

// TestWindowArch checks which instruction sets place jumps.
func TestWindowArch(t *testing.T) {
	for _, a := range []arch.Arch{New64(), WithTransactions(New64())} {
		if _, ok := a.(arch.WindowArch); !ok {
			t.Errorf("%T has no windows", a)
		}
	}
	for _, a := range []arch.Arch{New32(), WithTransactions(New32())} {
		if _, ok := a.(arch.WindowArch); ok || a.WordSize() != 4 {
			t.Errorf("%T has windows", a)
		}
	}
}

// TestBranches checks the branches of code, and that bytes that are not code are skipped.
func TestBranches(t *testing.T) {
	code, _ := hex.DecodeString("7410" + "e800000000" + "06" + "488d0510000000" + "ffe0" + "ff2510000000" + "ffd0" + "0f8400000000" + "e2fe" + "e9")
	var found []arch.Branch
	skipped := New64().(arch.BranchArch).Branches(code, 0x1000, func(b arch.Branch) { found = append(found, b) })
	want := []arch.Branch{
		{Addr: 0x1000, Len: 2, Kind: arch.BranchDirect, Target: 0x1012}, {Addr: 0x1002, Len: 5, Kind: arch.BranchCall, Target: 0x1007},
		{Addr: 0x1008, Len: 7, Kind: arch.BranchAddress, Target: 0x101f}, {Addr: 0x100f, Len: 2, Kind: arch.BranchIndirect},
		{Addr: 0x1011, Len: 6, Kind: arch.BranchIndirect}, {Addr: 0x1019, Len: 6, Kind: arch.BranchDirect, Target: 0x101f},
		{Addr: 0x101f, Len: 2, Kind: arch.BranchDirect, Target: 0x101f},
	}
	if !slices.Equal(found, want) || skipped != 2 {
		t.Errorf("%d skipped, %+v", skipped, found)
	}
}
