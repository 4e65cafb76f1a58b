package module

import (
	"debug/elf"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gotap/compile"
	"gotap/engine/testenv"
)

var readelfMark = regexp.MustCompile(`Provider: (\S+)\s+Name: (\S+)\s+Location: 0x([0-9a-f]+), Base: 0x[0-9a-f]+, Semaphore: 0x([0-9a-f]+)\s+Arguments:(.*)`)

// TestMarksAsReadelfPrintsThem compares places, semaphores and operands, and that every operand the compiler wrote can
// be fetched.
func TestMarksAsReadelfPrintsThem(t *testing.T) {
	testenv.Require(t, testenv.SDT, testenv.Readelf)
	eachVariant(t, []string{"marks.c", "gate.c"}, func(t *testing.T, path string) {
		f := open(t, path)
		marks, err := f.Marks()
		if err != nil {
			t.Fatal(err)
		}
		want := readelfMark.FindAllStringSubmatch(command(t, "readelf", "-n", "-W", path), -1)
		if len(marks) != len(want) || len(want) < 6 {
			t.Fatalf("%d marks, readelf prints %d", len(marks), len(want))
		}
		gates := 0
		for i, m := range marks {
			got := []string{m.Provider, m.Name, fmt.Sprintf("%x", m.PC), fmt.Sprintf("%x", m.Semaphore), m.Note}
			pc, _ := strconv.ParseUint(want[i][3], 16, 64)
			sem, _ := strconv.ParseUint(want[i][4], 16, 64)
			expect := []string{want[i][1], want[i][2], fmt.Sprintf("%x", pc), fmt.Sprintf("%x", sem), strings.TrimSpace(want[i][5])}
			if !reflect.DeepEqual(got, expect) {
				t.Errorf("mark %q, readelf says %q", got, expect)
			}
			checkMark(t, f, m)
			if m.Name == "gate" {
				gates++
				if v := f.LookupVar("t_gate_semaphore"); len(v) != 1 || v[0].Addr != m.Semaphore {
					t.Errorf("semaphore at %x, variable %v", m.Semaphore, v)
				}
			}
		}
		if gates != 1 {
			t.Errorf("%d gates", gates)
		}
	})
}

// checkMark asks that the mark is a nop and its operands can be read.
func checkMark(t *testing.T, f *File, m Mark) {
	t.Helper()
	if code, err := f.Code(m.PC, 1); err != nil || code[0] != 0x90 {
		t.Errorf("%s is %x, %v", m.Name, code, err)
	}
	for _, a := range m.Args {
		half := f.Bits == 32 && a.Size == 8 && strings.Contains(a.Raw, "@%")
		if a.Err != nil != half {
			t.Errorf("%s: %v", m.Name, a.Err)
		}
	}
}

func TestMarksOfAStrippedProgram(t *testing.T) {
	testenv.Require(t, testenv.SDT, testenv.Objcopy)
	path := build(t, "gcc", "-O2", "marks.c", "gate.c")
	want, _ := open(t, path).Marks()
	command(t, "strip", path)
	got, err := open(t, path).Marks()
	if err != nil || len(got) != len(want) || got[0].PC != want[0].PC {
		t.Errorf("%d marks after stripping, %d before: %v", len(got), len(want), err)
	}
	for _, m := range got {
		for _, a := range m.Args {
			if a.Err != nil && !strings.Contains(a.Raw, "global") {
				t.Errorf("%s: %v", m.Name, a.Err)
			}
		}
	}
}

// Steps of accesses, for short tables.
func load(size int, signed bool) compile.AccessStep {
	return compile.AccessStep{Op: compile.OpLoad, Size: size, Signed: signed}
}

func cut(size int, signed bool) compile.AccessStep {
	return compile.AccessStep{Op: compile.OpTruncate, Size: size, Signed: signed}
}

func index(reg string, factor int) compile.AccessStep {
	return compile.AccessStep{Op: compile.OpIndex, Reg: reg, Size: factor}
}

func access(base compile.AccessBase, reg string, value int64, steps ...compile.AccessStep) compile.Access {
	return compile.Access{Base: base, Reg: reg, Value: value, Steps: steps}
}

func TestOperands(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	f := open(t, build(t, "gcc", "-O2", "names.c", "names2.c"))
	counter := int64(f.LookupVar("counter")[0].Addr)
	float := compile.AccessStep{Op: compile.OpLoad, Size: 8, Float: true}
	for raw, want := range map[string]compile.Access{
		"8@%rax":                        access(compile.BaseReg, "rax", 0),
		"-4@%eax":                       access(compile.BaseReg, "eax", 0, cut(4, true)),
		"1@%ah":                         access(compile.BaseReg, "ah", 0, cut(1, false)),
		"-4@$5":                         access(compile.BaseConst, "", 5),
		"4@$-202182160":                 access(compile.BaseConst, "", 4092785136),
		"-1@$240":                       access(compile.BaseConst, "", -16),
		"8@$0xffffffffffffffff":         access(compile.BaseConst, "", -1),
		"8@-96(%rbp,%rax,8)":            access(compile.BaseRegOffset, "rbp", -96, index("rax", 8), load(8, false)),
		"-2@-8+24(%rsp)":                access(compile.BaseRegOffset, "rsp", 16, load(2, true)),
		"4@(%rdi)":                      access(compile.BaseRegOffset, "rdi", 0, load(4, false)),
		"4@(%rdi,%rsi)":                 access(compile.BaseRegOffset, "rdi", 0, index("rsi", 1), load(4, false)),
		"4@counter(%rip)":               access(compile.BaseAddr, "", counter, load(4, false)),
		"-4@counter+4(%rip)":            access(compile.BaseAddr, "", counter+4, load(4, true)),
		"-4@4+counter(%rip)":            access(compile.BaseAddr, "", counter+4, load(4, true)),
		"4@counter@GOTOFF(%ebx,%eax,4)": access(compile.BaseAddr, "", counter, index("eax", 4), load(4, false)),
		"4@counter":                     access(compile.BaseAddr, "", counter, load(4, false)),
		"8@counter-8(,%rax,8)":          access(compile.BaseAddr, "", counter-8, index("rax", 8), load(8, false)),
		"8@counter(%rbx)":               access(compile.BaseAddr, "", counter, index("rbx", 1), load(8, false)),
		"8@8(,%rax,4)":                  access(compile.BaseConst, "", 8, index("rax", 4), load(8, false)),
		"8@$counter":                    access(compile.BaseAddr, "", counter),
		"%rax":                          access(compile.BaseReg, "rax", 0),
		"8@0x10(%rsp)":                  access(compile.BaseRegOffset, "rsp", 16, load(8, false)),
		"8f@-16(%rbp)":                  {Base: compile.BaseRegOffset, Reg: "rbp", Value: -16, Steps: []compile.AccessStep{float}, Type: compile.TypeF64},
		"-4@-2147483648(%rax)":          access(compile.BaseRegOffset, "rax", -2147483648, load(4, true)),
		"8@18446744073709551608(%rsp)":  access(compile.BaseRegOffset, "rsp", -8, load(8, false)),
	} {
		if got := f.parseOperand(raw); got.Err != nil || !reflect.DeepEqual(got.Access, want) {
			t.Errorf("%s is %+v, %v; want %+v", raw, got.Access, got.Err, want)
		}
	}
}

func TestOperandsOfARM(t *testing.T) {
	arm64 := empty(elf.EM_AARCH64, 64)
	wide := compile.AccessStep{Op: compile.OpIndex, Reg: "w1", Size: 4, Signed: true}
	for raw, want := range map[string]compile.Access{
		"-4@[sp, 60]":        access(compile.BaseRegOffset, "sp", 60, load(4, true)),
		"8@[x0]":             access(compile.BaseRegOffset, "x0", 0, load(8, false)),
		"8@x1":               access(compile.BaseReg, "x1", 0),
		"-4@w1":              access(compile.BaseReg, "w1", 0, cut(4, true)),
		"-4@-5":              access(compile.BaseConst, "", -5),
		"4@7":                access(compile.BaseConst, "", 7),
		"8@[x0, x1, lsl 3]":  access(compile.BaseRegOffset, "x0", 0, index("x1", 8), load(8, false)),
		"4@[x0, w1, sxtw 2]": access(compile.BaseRegOffset, "x0", 0, wide, load(4, false)),
		"4@[x29, #-8]":       access(compile.BaseRegOffset, "x29", -8, load(4, false)),
	} {
		if got := arm64.parseOperand(raw); got.Err != nil || !reflect.DeepEqual(got.Access, want) {
			t.Errorf("%s is %+v, %v; want %+v", raw, got.Access, got.Err, want)
		}
	}
	if got := splitOperands("-4@[sp, 60] 8@x1 -4@[x0, x1, lsl 3]"); len(got) != 3 || got[0] != "-4@[sp, 60]" {
		t.Errorf("cut into %q", got)
	}
}

func TestOperandsThatCannotBeRead(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	f := open(t, build(t, "gcc", "-O2", "names.c", "names2.c"))
	for _, raw := range []string{
		"8@%fs:-8", "8@nothing(%rip)", "8@(%rip)", "4@own(%rip)", "8@counter@GOTPCREL(%rip)", "3@%eax", "8@", "-@%eax", "8@%", "8@(%rax,%rbx,3)",
		"8@a+b(%rip)", "8@-counter(%rip)", "8@1x(%rax)", "1f@%al", "8@$counter+own", "8@%rax%rbx", "@@@", "8@$",
	} {
		o := f.parseOperand(raw)
		if raw == "8@$" || raw == "8@" {
			continue // an empty sum is zero; only that it does not panic counts
		}
		if o.Err == nil {
			t.Errorf("%s is %+v", raw, o.Access)
		} else if !strings.Contains(o.Err.Error(), raw) {
			t.Errorf("the error does not name %s: %v", raw, o.Err)
		}
	}
}

func FuzzOperand(f *testing.F) {
	for _, raw := range []string{"8@%rax", "-4@$5", "8@-96(%rbp,%rax,8)", "4@a+4(%rip)", "[sp, 12]", "8f@[x0, x1, lsl 3]", "((", "@", "$", "8@,,,(,,)"} {
		f.Add(raw)
	}
	machines := []*File{empty(elf.EM_X86_64, 64), empty(elf.EM_AARCH64, 64), empty(elf.EM_386, 32)}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, m := range machines {
			for _, part := range splitOperands(raw) {
				o := m.parseOperand(part)
				if o.Err == nil && o.Size != 1 && o.Size != 2 && o.Size != 4 && o.Size != 8 {
					t.Errorf("%q has %d bytes", part, o.Size)
				}
			}
		}
	})
}
