package runtime

import (
	"bytes"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// textOf runs instructions that leave one text and returns it as the host would get it.
func textOf(t *testing.T, b *bench, c Code) (value.Value, outcome.Outcome) {
	t.Helper()
	c.ID, c.LogMax = eventProgram(b.a, value.KindText), record.MaxLog
	c.Insts = append(append(seq(opA(opcode.Item, 1)), c.Insts...), op(opcode.LogText), op(opcode.EndItem), op(opcode.Exit))
	out := b.run(&c)
	if out.Trap != outcome.NoTrap {
		return value.Value{}, out
	}
	items := b.logged()
	if len(items) != 1 {
		t.Fatal(items)
	}
	return items[0].Values[0], out
}

func TestTexts(t *testing.T) {
	b := newBench(t)
	_, shared := b.declare(t, object.Object{Kind: object.KindText, Text: "first"})
	b.ctx.This = b.a.AllocThis(arena.TextCell)
	letters := string(b.thread.memory[64:4500])
	consts := []string{"abc", "", strings.Repeat("x", 300), strings.Repeat("y", 5000)}
	b.thread.texts[TextFunc] = strings.Repeat("f", 300)
	for _, c := range []struct {
		name string
		list []Inst
		want string
		cut  bool
	}{
		{"const", seq(opA(opcode.PushS, 0)), "abc", false},
		{"empty const", seq(opA(opcode.PushS, 1)), "", false},
		{"const beyond the longest", seq(opA(opcode.PushS, 3)), consts[3][:value.MaxText], true},
		{"zero word", seq(push(0)), "", false},
		{"str", seq(push(0x1000), push(256), op(opcode.Str)), "hello", false},
		{"str that just fits", seq(push(0x1000), push(5), op(opcode.Str)), "hello", false},
		{"str cut", seq(push(0x1000), push(4), op(opcode.Str)), "hell", true},
		{"str of nothing", seq(push(0x1005), push(4), op(opcode.Str)), "", false},
		{"str of 0", seq(push(0x1000), push(0), op(opcode.Str)), "", true},
		{"str negative", seq(push(0x1000), push(-1), op(opcode.Str)), "", true},
		{"str of 256", seq(push(0x1040), push(256), op(opcode.Str)), letters[:256], true},
		{"str of 4096", seq(push(0x1040), push(4096), op(opcode.Str)), letters[:4096], true},
		{"str of more", seq(push(0x1040), push(1<<40), op(opcode.Str)), letters[:4096], true},
		{"str to the end of memory", seq(push(0x2ffd), push(3), op(opcode.Str)), "", false},
		{"bytes", seq(push(0x1000), push(8), op(opcode.Bytes)), "hello\x00wo", false},
		{"bytes of more", seq(push(0x1040), push(5000), op(opcode.Bytes)), letters[:4096], true},
		{"context", seq(opA(opcode.Text, uint32(TextComm))), "comm", false},
		{"context cut", seq(opA(opcode.Text, uint32(TextFunc))), strings.Repeat("f", 256), true},
		{"scat", seq(opA(opcode.PushS, 0), push(0x1000), push(9), op(opcode.Str), op(opcode.Scat)), "abchello", false},
		{"scat after a cut", seq(push(0x1000), push(2), op(opcode.Str), opA(opcode.PushS, 0), op(opcode.Scat)), "he..abc", false},
		{"scat of a cut", seq(opA(opcode.PushS, 0), push(0x1000), push(2), op(opcode.Str), op(opcode.Scat)), "abche", true},
		{"scat beyond the longest", seq(push(0x1040), push(4096), op(opcode.Bytes), opA(opcode.PushS, 0), op(opcode.Scat)), letters[:4096], true},
		{"sdec", seq(push(minInt), op(opcode.Sdec)), "-9223372036854775808", false},
		{"sudec", seq(push(minInt), op(opcode.Sudec)), "9223372036854775808", false},
		{"sfloat", seq(push(bitsOf(-1.25e-9)), op(opcode.Sfloat)), "-1.25e-9", false},
		{"shared", seq(opV(opcode.PushGVS, shared)), "first", false},
		{"shared set", seq(opA(opcode.PushS, 0), opV(opcode.PopGVS, shared), opV(opcode.PushGVS, shared)), "abc", false},
		{"shared is a copy", seq(opV(opcode.PushGVS, shared), opA(opcode.PushS, 1), opV(opcode.PopGVS, shared)), "abc", false},
		{"shared cut", seq(opA(opcode.PushS, 2), opV(opcode.PopGVS, shared), opV(opcode.PushGVS, shared)), consts[2][:256], true},
		{"this", seq(opA(opcode.PushS, 0), opA(opcode.PopThisS, 0), opA(opcode.PushThisS, 0)), "abc", false},
		{"this cut", seq(opA(opcode.PushS, 2), opA(opcode.PopThisS, 0), opA(opcode.PushThisS, 0)), consts[2][:256], true},
		{"this shorter", seq(opA(opcode.PushS, 0), opA(opcode.PopThisS, 0), opA(opcode.PushThisS, 0)), "abc", false},
	} {
		v, out := textOf(t, b, Code{Insts: c.list, Texts: consts})
		if c.name == "str to the end of memory" {
			c.want = string(b.thread.memory[len(b.thread.memory)-3:])
			v.Text = strings.TrimRight(v.Text, "\x00")
			c.want = strings.TrimRight(c.want, "\x00")
		}
		if out.Trap != outcome.NoTrap || v.Text != c.want || v.Cut != c.cut {
			t.Errorf("%s: %q %v (%v), want %q %v", c.name, v.Text, v.Cut, out.Trap, c.want, c.cut)
		}
	}
}

// TestTextToTheEnd: text without a NUL may end where the memory does.
func TestTextToTheEnd(t *testing.T) {
	b := newBench(t)
	copy(b.thread.memory[len(b.thread.memory)-3:], "end")
	v, out := textOf(t, b, Code{Insts: seq(push(0x2ffd), push(3), op(opcode.Str))})
	if out.Trap != outcome.NoTrap || v.Text != "end" || v.Cut {
		t.Errorf("%+v %+v", v, out)
	}
	for _, c := range []struct {
		list []Inst
		addr uint64
	}{
		{seq(push(0x2ffd), push(4), op(opcode.Str)), 0x3000},
		{seq(push(0x2ffd), push(4), op(opcode.Bytes)), 0x3000},
		{seq(push(64), push(4), op(opcode.Str)), 64},
	} {
		if _, out := textOf(t, b, Code{Insts: c.list}); out.Trap != outcome.TrapRead || out.Addr != c.addr {
			t.Errorf("%+v, want a bad read at %#x", out, c.addr)
		}
	}
}

func TestTextLimits(t *testing.T) {
	b := newBench(t)
	var list []Inst
	for range ScratchSize/value.MaxText + 1 {
		list = append(list, push(0x1040), push(value.MaxText), op(opcode.Bytes))
	}
	for _, last := range [][]Inst{nil, seq(push(0), op(opcode.Sdec)), seq(push(0), op(opcode.Sfloat)), seq(op(opcode.Stack)), seq(opA(opcode.Text, 0)),
		seq(push(0x1040), push(9), op(opcode.Str))} {
		code := append([]Inst(nil), list...)
		if last != nil {
			code = append(code[:len(code)-3], last...)
		}
		if out := b.run(&Code{Insts: append(code, op(opcode.Exit))}); out.Trap != outcome.TrapText {
			t.Errorf("%v: %v", last, out.Trap)
		}
	}
	if out := b.run(&Code{Insts: append(list[:len(list)-3:len(list)-3], opA(opcode.Text, uint32(TextModule)), op(opcode.Slen), op(opcode.Exit))}); out.Trap != outcome.NoTrap {
		t.Errorf("a text of the place when no scratch is left: %v", out.Trap)
	}
	if out := b.run(&Code{Insts: seq(opA(opcode.PushS, 1))}); out.Trap != outcome.TrapIndex {
		t.Errorf("no such text: %v", out.Trap)
	}
}

// TestTextComparisons compares with package bytes and hash/fnv on random texts.
func TestTextComparisons(t *testing.T) {
	b, r := newBench(t), rand.New(rand.NewPCG(8, 8))
	for range 2000 {
		s, u := make([]byte, r.IntN(4)), make([]byte, r.IntN(4))
		for i := range s {
			s[i] = byte(r.IntN(2)) * 255
		}
		for i := range u {
			u[i] = byte(r.IntN(2)) * 255
		}
		c := Code{Texts: []string{string(s), string(u)}}
		for o, want := range map[opcode.Op]int{opcode.Scmp: bytes.Compare(s, u), opcode.Seq: int(flag(bytes.Equal(s, u))), opcode.Sprefix: int(flag(bytes.HasPrefix(s, u)))} {
			c.Insts = seq(opA(opcode.PushS, 0), opA(opcode.PushS, 1), op(o))
			if got, _ := b.eval(c, 1); got[0] != uint64(int64(want)) {
				t.Fatalf("op %d of %x %x: %d", o, s, u, got[0])
			}
		}
		h := fnv.New64a()
		h.Write(s)
		c.Insts = seq(opA(opcode.PushS, 0), op(opcode.Hash), opA(opcode.PushS, 0), op(opcode.Slen))
		if got, _ := b.eval(c, 2); got[0] != h.Sum64() || got[1] != uint64(len(s)) {
			t.Fatalf("hash and length of %x: %x", s, got)
		}
	}
}
