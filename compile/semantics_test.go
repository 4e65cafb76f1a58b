package compile

import (
	"encoding/binary"
	"fmt"
	fnv64 "hash/fnv"
	"math"
	"strings"
	"testing"

	"gotap/compile/diag"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	rtvalue "gotap/runtime/value"
)

// A semantic is one use of a command: what lies on the stack before it (numbers, and texts in
// quotes), its operand, and what then lies there, or the trap that ends the program. The truth
// is the reference of the language, by hand; integers are compared with arithmetic without
// width, and floats with the processor's, in package runtime.
type semantic struct {
	before, operand, want string
	trap                  outcome.Trap
}

// floats as words.
var (
	half, quarter = fl(.5), fl(.25)
	nan           = fl(math.NaN())
)

func fl(f float64) string { return fmt.Sprint(int64(math.Float64bits(f))) }

func fnv(s string) string {
	h := fnv64.New64a()
	h.Write([]byte(s))
	return fmt.Sprint(int64(h.Sum64()))
}

const (
	least = "-9223372036854775808"
	most  = "9223372036854775807"
)

// semantics has an entry for every command of the Table. Commands whose effect is not on the
// stack are looked at by what they leave elsewhere: see the functions of afterwards.
var semantics = map[opcode.Op][]semantic{
	opcode.Malloc:  {{"8", "", "1", 0}, {"0", "", "1", 0}, {"64", "", "1", 0}, {"65", "", "", outcome.TrapHeap}, {"-1", "", "", outcome.TrapHeap}},
	opcode.Free:    {{"8", "", "", 0}},
	opcode.PushH8:  {{"0 0", "", "34", 0}},
	opcode.PushH16: {{"0 0", "", "13090", 0}},
	opcode.PushH32: {{"0 0", "", "1716864051", 0}},
	opcode.PushH64: {{"0 0", "", "-8613303245920329199", 0}},
	opcode.PopH8:   {{"5", "", "", 0}},
	opcode.PopH16:  {{"5", "", "", 0}},
	opcode.PopH32:  {{"5", "", "", 0}},
	opcode.PopH64:  {{"5", "", "", 0}},
	opcode.Nop:     {{"1", "", "1", 0}},
	opcode.Dup:     {{"4", "", "4 4", 0}, {`"a"`, "", `"a" "a"`, 0}},
	opcode.DupN:    {{"4", "0", "4", 0}, {"4", "3", "4 4 4 4", 0}},
	opcode.Xchg:    {{"1 2", "", "2 1", 0}, {`"a" 2`, "", `2 "a"`, 0}},
	opcode.Over:    {{"1 2", "", "1 2 1", 0}},
	opcode.Drop:    {{"1 2 3", "2", "1", 0}, {"1", "0", "1", 0}},
	opcode.Pick:    {{"1 2 3", "2", "1 2 3 1", 0}, {"1 2", "0", "1 2 2", 0}},
	opcode.Poke:    {{"1 2 3", "2", "3 2", 0}, {"1 2", "0", "1", 0}},
	opcode.PushD:   {{"", "-5", "-5", 0}, {"", least, least, 0}, {"", "0xffffffffffffffff", "-1", 0}},
	opcode.PushS:   {{"", "0", `"constant"`, 0}},
	opcode.Depth:   {{"9 9", "", "9 9 2", 0}},
	opcode.PushTV:  {{"", "0", "7", 0}}, // the fixture assigns it
	opcode.PopTV:   {{"5", "0", "", 0}},
	opcode.SaveTSP: {{"8 9", "", "8 9 2", 0}}, opcode.RestoreTSP: {{"7 8 9 1", "", "7", 0}, {"7 1", "", "7", 0}, {"0", "", "", 0}},
	opcode.SaveSBP: {{"5", "", "5 0", 0}}, opcode.RestoreSBP: {{"5 1", "", "5", 0}},
	opcode.PickBase: {{"5 6", "1", "5 6 6", 0}, {`"a" 6`, "0", `"a" 6 "a"`, 0}},
	opcode.PokeBase: {{"5 6 7", "0", "7 6", 0}, {"5", "0", "", 0}},

	opcode.Add: {{"2 3", "", "5", 0}, {most + " 1", "", least, 0}}, opcode.Sub: {{"2 3", "", "-1", 0}, {least + " 1", "", most, 0}},
	opcode.Mul:     {{"-3 5", "", "-15", 0}, {"4611686018427387904 4", "", "0", 0}},
	opcode.Quo:     {{"-7 2", "", "-3", 0}, {least + " -1", "", least, 0}, {"1 0", "", "", outcome.TrapDivide}},
	opcode.Rem:     {{"-7 2", "", "-1", 0}, {least + " -1", "", "0", 0}, {"1 0", "", "", outcome.TrapDivide}},
	opcode.Udivmod: {{"47 5", "", "2 9", 0}, {"-1 2", "", "1 " + most, 0}, {"1 0", "", "", outcome.TrapDivide}},
	opcode.Sdivmod: {{"-47 5", "", "-2 -9", 0}, {least + " -1", "", "0 " + least, 0}, {"1 0", "", "", outcome.TrapDivide}},
	opcode.Neg:     {{"5", "", "-5", 0}, {least, "", least, 0}}, opcode.Not: {{"0", "", "-1", 0}},
	opcode.And: {{"12 10", "", "8", 0}}, opcode.Or: {{"12 10", "", "14", 0}}, opcode.Xor: {{"12 10", "", "6", 0}},
	opcode.Shl: {{"1 3", "", "8", 0}, {"1 65", "", "2", 0}}, opcode.Shr: {{"-1 60", "", "15", 0}}, opcode.Sar: {{"-8 1", "", "-4", 0}},
	opcode.Rol: {{least + " 1", "", "1", 0}}, opcode.Ror: {{"1 1", "", least, 0}},
	opcode.Eq: {{"2 2", "", "1", 0}, {"2 3", "", "0", 0}}, opcode.Ne: {{"2 2", "", "0", 0}, {"2 3", "", "1", 0}},
	opcode.Lt: {{"-1 1", "", "1", 0}, {"1 1", "", "0", 0}}, opcode.Le: {{"1 1", "", "1", 0}, {"2 1", "", "0", 0}},
	opcode.Gt: {{"1 -1", "", "1", 0}, {"1 1", "", "0", 0}}, opcode.Ge: {{"1 1", "", "1", 0}, {"1 2", "", "0", 0}},
	opcode.Ult: {{"1 -1", "", "1", 0}, {"-1 1", "", "0", 0}}, opcode.Ule: {{"-1 -1", "", "1", 0}, {"-1 0", "", "0", 0}},
	opcode.Lnot: {{"0", "", "1", 0}, {"7", "", "0", 0}}, opcode.Bool: {{"0", "", "0", 0}, {least, "", "1", 0}},
	opcode.Min: {{"-1 1", "", "-1", 0}}, opcode.Max: {{"-1 1", "", "1", 0}}, opcode.Abs: {{"-9", "", "9", 0}, {least, "", least, 0}},
	opcode.Clz: {{"7", "", "61", 0}, {"0", "", "64", 0}}, opcode.Popcnt: {{"-1", "", "64", 0}},
	opcode.Ext: {{"511", "8", "-1", 0}, {"127", "8", "127", 0}}, opcode.Zext: {{"-1", "8", "255", 0}},
	opcode.Within: {{"3", "4", "3", 0}, {"4", "4", "", outcome.TrapIndex}, {"-1", "4", "", outcome.TrapIndex}},

	opcode.Fadd: {{half + " " + quarter, "", fl(.75), 0}}, opcode.Fsub: {{half + " " + quarter, "", quarter, 0}},
	opcode.Fmul: {{half + " " + half, "", quarter, 0}}, opcode.Fdiv: {{half + " " + fl(0), "", fl(math.Inf(1)), 0}},
	opcode.Frem: {{fl(-7.5) + " " + fl(2), "", fl(-1.5), 0}}, opcode.Fneg: {{half, "", fl(-.5), 0}},
	opcode.Feq: {{half + " " + half, "", "1", 0}, {nan + " " + nan, "", "0", 0}}, opcode.Fne: {{nan + " " + nan, "", "1", 0}},
	opcode.Flt: {{quarter + " " + half, "", "1", 0}}, opcode.Fle: {{half + " " + half, "", "1", 0}, {nan + " " + half, "", "0", 0}},
	opcode.Fbool: {{nan, "", "0", 0}, {half, "", "1", 0}}, opcode.Itof: {{"-3", "", fl(-3), 0}}, opcode.Utof: {{"-1", "", fl(1 << 64), 0}},
	opcode.Ftoi: {{fl(-2.9), "", "-2", 0}, {fl(1e300), "", most, 0}, {nan, "", "0", 0}}, opcode.F32: {{"1069547520", "", fl(1.5), 0}},
	opcode.Narrow: {{"-5 -1", "int", "-5", 0}, {"-5 0", "uint", "-5", 0}, {"0 1", "int", "", outcome.TrapWide}, {"-1 0", "int", "", outcome.TrapWide},
		{least + " 16384", "x87", fl(2), 0}, {"0 4611545280939032576", "quad", fl(1.5), 0}},
	opcode.ToF32: {{fl(1.5), "", "1069547520", 0}, {fl(0.1), "", "1036831949", 0}, {fl(1e300), "", "2139095040", 0}},

	opcode.Raise: {{"1 2 32768", "", "", outcome.TrapUser}}, opcode.PushX: {{"", "", "0 0 0", 0}},
	opcode.SetX: {{"5", " H", "5", 0}}, opcode.UnsetX: {{"5", "", "5", 0}},
	opcode.TraceVars: {{"0 2", "2", "", 0}}, opcode.TraceStack: {{"0 2", "", "", 0}}, opcode.LogTrace: {{"1", "", "1", 0}},
	opcode.PurgeTrace: {{"1", "", "1", 0}}, opcode.PushSTP: {{"", "", "0", 0}}, opcode.PopSTP: {{"0", "", "", 0}, {"1", "", "", outcome.TrapIndex}},

	opcode.PushR: {{"", "rdi", "4096", 0}}, opcode.PopR: {{"5", "rdi", "", 0}},
	opcode.Load8: {{"4096", "", "104", 0}, {"8", "", "", outcome.TrapRead}}, opcode.Load16: {{"4096", "", "25960", 0}, {"8", "", "", outcome.TrapRead}},
	opcode.Load32: {{"4096", "", "1819043176", 0}, {"8", "", "", outcome.TrapRead}},
	opcode.Load64: {{"4104", "", "-1", 0}, {"8", "", "", outcome.TrapRead}}, opcode.LoadPtr: {{"4104", "", "-1", 0}, {"8", "", "", outcome.TrapRead}},
	opcode.LoadS8: {{"4104", "", "-1", 0}, {"8", "", "", outcome.TrapRead}}, opcode.LoadS16: {{"4104", "", "-1", 0}, {"8", "", "", outcome.TrapRead}},
	opcode.LoadS32: {{"4104", "", "-1", 0}, {"8", "", "", outcome.TrapRead}}, opcode.LoadF32: {{"4112", "", fl(1.5), 0}, {"8", "", "", outcome.TrapRead}},
	opcode.Store8: {{"4096 1", "", "", 0}, {"8 1", "", "", outcome.TrapWrite}}, opcode.Store16: {{"4096 1", "", "", 0}, {"8 1", "", "", outcome.TrapWrite}},
	opcode.Store32: {{"4096 1", "", "", 0}, {"8 1", "", "", outcome.TrapWrite}}, opcode.Store64: {{"4096 1", "", "", 0}, {"8 1", "", "", outcome.TrapWrite}},
	opcode.StorePtr: {{"4096 1", "", "", 0}, {"8 1", "", "", outcome.TrapWrite}}, opcode.StoreStr: {{`4096 "abc"`, "", "", 0}, {`8 "abc"`, "", "", outcome.TrapWrite}},
	opcode.Readable: {{"4096 8", "", "1", 0}, {"8 1", "", "0", 0}}, opcode.Writable: {{"4096 8", "", "1", 0}, {"8 1", "", "0", 0}},
	opcode.Arg: {{"", "1", "31", 0}, {"", "9", "", outcome.TrapRegister}}, opcode.ArgF: {{"", "0", half, 0}, {"", "9", "", outcome.TrapRegister}},
	opcode.Retval: {{"", "", "77", 0}}, opcode.SetRet: {{"5", "", "", 0}}, opcode.Field: {{"", "tid", "201", 0}},
	opcode.Text: {{"", "comm", `"comm"`, 0}}, opcode.Skip: {{"5", "", "", 0}}, opcode.Signal: {{"9", "", "", 0}, {"65", "", "", outcome.TrapIndex}},
	opcode.Element: {{"4128 3", "1", "4099", 0}, {"4096 3", "1", "0", 0}, {"8 0", "1", "0", 0}}, // buffer and capacity are the word there
	opcode.Bias:    {{"", "0", "65536", 0}},

	opcode.Str:   {{"4096 16", "", `"hello"`, 0}, {"4096 2", "", `"he".."`, 0}, {"8 1", "", "", outcome.TrapRead}},
	opcode.Bytes: {{"4096 5", "", `"hello"`, 0}, {"4096 0", "", `""`, 0}, {"8 1", "", "", outcome.TrapRead}},
	opcode.Stack: {{"8", "", `"3_frames"`, 0}}, opcode.Scmp: {{`"a" "b"`, "", "-1", 0}, {`"b" "a"`, "", "1", 0}, {`"a" "a"`, "", "0", 0}},
	opcode.Seq: {{`"a" "a"`, "", "1", 0}, {`"a" "ab"`, "", "0", 0}}, opcode.Sprefix: {{`"ab" "a"`, "", "1", 0}, {`"a" "ab"`, "", "0", 0}},
	opcode.Scat: {{`"a" "b"`, "", `"ab"`, 0}}, opcode.Sdec: {{"-12", "", `"-12"`, 0}}, opcode.Sudec: {{"-1", "", `"18446744073709551615"`, 0}}, opcode.Sfloat: {{half, "", `"0.5"`, 0}}, opcode.Shex: {{"-1", "", `"0xffffffffffffffff"`, 0}, {"0", "", `"0x0"`, 0}},
	opcode.Swide:  {{"-5 -1", "int", `"-5"`, 0}, {"-1 -1", "uint", `"340282366920938463463374607431768211455"`, 0}, {"0 4611545280939032576", "quad", `"1.5"`, 0}},
	opcode.Sflags: {{"0", "1", `"0"`, 0}, {"1", "1", `"(constant)"`, 0}},
	opcode.Units: {{"4136 99 16", "utf16z", `"hé"`, 0}, {"4136 2 3", "utf16", `"hé"`, 0}, {"4136 2 2", "utf16", `"h".."`, 0}, {"4136 2 1", "utf16z", `"h".."`, 0}, {"4144 1 8", "utf32", `"😀"`, 0},
		{"4144 -1 4", "utf32z", `"😀"`, 0}, {"4144 0 8", "utf32z", `""`, 0}, {"4096 5 5", "bytesz", `"hello"`, 0}, {"4096 9 9", "bytesz", `"hello"`, 0}, {"4096 3 3", "bytesz", `"hel"`, 0}, {"4096 9 3", "bytesz", `"hel".."`, 0}, {"8 1 1", "utf16", "", outcome.TrapRead}, {"8 1 1", "utf16z", "", outcome.TrapRead}},
	opcode.Slen: {{`"abc"`, "", "3", 0}}, opcode.Hash: {{`"a"`, "", fnv("a"), 0}, {`""`, "", fnv(""), 0}},

	opcode.PushGV: {{"", "0", "40", 0}}, opcode.PopGV: {{"5", "0", "", 0}}, opcode.AddGV: {{"5", "0", "", 0}},
	opcode.IncGV: {{"", "0", "", 0}}, opcode.DecGV: {{"", "0", "", 0}}, opcode.FetchAddGV: {{"5", "0", "40", 0}},
	opcode.PushGVS: {{"", "1", `""`, 0}}, opcode.PopGVS: {{`"a"`, "1", "", 0}},
	opcode.PushLV: {{"3", "2", "0", 0}, {"4", "2", "", outcome.TrapIndex}, {"-1", "2", "", outcome.TrapIndex}},
	opcode.PopLV:  {{"5 3", "2", "", 0}, {"5 4", "2", "", outcome.TrapIndex}}, opcode.AddLV: {{"5 3", "2", "", 0}, {"5 4", "2", "", outcome.TrapIndex}},
	opcode.PushThis: {{"", "1", "0", 0}}, opcode.PopThis: {{"5", "1", "", 0}}, opcode.PushThisS: {{"", "64", `""`, 0}},
	opcode.PopThisS: {{`"a"`, "64", "", 0}}, opcode.PushPT: {{"", "3", "0", 0}}, opcode.PopPT: {{"5", "3", "", 0}}, opcode.AddPT: {{"5", "3", "", 0}},
	opcode.KeyInt: {{"5", "", "", 0}}, opcode.KeyText: {{`"a"`, "text", "", 0}}, opcode.Agg: {{"5", "4", "", 0}}, opcode.AggFloat: {{"5", "4", "", 0}},
	opcode.MapGet: {{"", "5", "0", 0}}, opcode.MapGetS: {{"", "6", `""`, 0}}, opcode.MapHas: {{"", "5", "0", 0}},
	opcode.MapSet: {{"5", "5", "", 0}}, opcode.MapSetS: {{`"a"`, "6", "", 0}}, opcode.MapDel: {{"", "5", "", 0}}, opcode.MapAdd: {{"5", "5", "5", 0}},

	opcode.Item: {{"", "1", "", 0}}, opcode.LogInt: {{"5", "", "", 0}}, opcode.LogFloat: {{half, "", "", 0}}, opcode.LogText: {{`"a"`, "", "", 0}},
	opcode.EndItem: {{"", "", "", 0}}, opcode.LogRange: {{"4 4096", "2", "", 0}, {"4 8", "2", "", outcome.TrapRead}},
	opcode.LogStr: {{"16 4096", "3", "", 0}, {"4 8", "3", "", outcome.TrapRead}}, opcode.LogWords: {{"5 6 7", "2,4", "5", 0}},
	opcode.EndDeferred: {{"", "7", "", 0}}, opcode.Keep: {{"", "7", "", 0}}, opcode.Forget: {{"", "7", "", 0}},
	opcode.PushLP: {{"", "", "0", 0}}, opcode.PushPLP: {{"", "", "0", 0}}, opcode.PopLP: {{"0", "", "", 0}, {"8", "", "", outcome.TrapIndex}},

	opcode.Jmp: {{"5", " E", "5", 0}}, opcode.Call: {{"5", " R", "5", 0}}, opcode.Ret: {{"5", "", "5", 0}},
	opcode.Jz: {{"5 0", " E", "5", 0}, {"5 1", " B", "5", 0}}, opcode.Jnz: {{"5 1", " E", "5", 0}, {"5 0", " B", "5", 0}},
	opcode.Jlt: {{"5 -1", " E", "5", 0}, {"5 0", " B", "5", 0}}, opcode.Jle: {{"5 0", " E", "5", 0}, {"5 1", " B", "5", 0}},
	opcode.Jgt: {{"5 1", " E", "5", 0}, {"5 0", " B", "5", 0}}, opcode.Jge: {{"5 0", " E", "5", 0}, {"5 -1", " B", "5", 0}},
	opcode.Loop: {{"5 1", " E2", "5", 0}},
	opcode.Exit: {{"5", "", "", 0}}, opcode.Abort: {{"5", "", "", 0}}, opcode.Remove: {{"5", "", "", 0}},
}

// around is what has to stand before and behind some commands for the program to be right.
var around = map[opcode.Op][2]string{
	// A block with a word in it, in the place of the handle and the offset of the case.
	opcode.PushH8:      {"ros,2\npush d,8\nmalloc\npop tv,0\npush d,0x8877665544332211\npush tv,0\npush d,0\npoph u64\npush tv,0\npush d,1\n", ""},
	opcode.PushH16:     {"ros,2\npush d,8\nmalloc\npop tv,0\npush d,0x8877665544332211\npush tv,0\npush d,0\npoph u64\npush tv,0\npush d,1\n", ""},
	opcode.PushH32:     {"ros,2\npush d,8\nmalloc\npop tv,0\npush d,0x8877665544332211\npush tv,0\npush d,0\npoph u64\npush tv,0\npush d,2\n", ""},
	opcode.PushH64:     {"ros,2\npush d,8\nmalloc\npop tv,0\npush d,0x8877665544332211\npush tv,0\npush d,0\npoph u64\npush tv,0\npush d,0\n", ""},
	opcode.PopH8:       {"push d,8\nmalloc\npush d,0\n", ""},
	opcode.PopH16:      {"push d,8\nmalloc\npush d,0\n", ""},
	opcode.PopH32:      {"push d,8\nmalloc\npush d,0\n", ""},
	opcode.PopH64:      {"push d,8\nmalloc\npush d,0\n", ""},
	opcode.Free:        {"malloc\n", ""},
	opcode.PushTV:      {"push d,7\npop tv,0\n", ""},
	opcode.LogInt:      {"item,1\n", "end item\n"},
	opcode.LogFloat:    {"item,5\n", "end item\n"},
	opcode.LogText:     {"item,6\n", "end item\n"},
	opcode.EndItem:     {"item,1\npush d,3\nlog d\n", ""},
	opcode.EndDeferred: {"item,1\npush d,3\nlog d\n", ""},
	opcode.Item:        {"", "push d,3\nlog d\nend item\n"},
	opcode.KeyInt:      {"", "map del,5\n"},
	opcode.KeyText:     {"", "map del,6\n"},
	opcode.MapGet:      {"push d,1\nkey\n", ""}, opcode.MapHas: {"push d,1\nkey\n", ""}, opcode.MapSet: {"push d,1\nkey\n", ""},
	opcode.MapAdd: {"push d,1\nkey\n", ""}, opcode.MapDel: {"push d,1\nkey\n", ""},
	opcode.MapGetS: {"push s,0\nkey s,text\n", ""}, opcode.MapSetS: {"push s,0\nkey s,text\n", ""},
	opcode.Sflags:  {".text \"constant=1\"\n", ""},
	opcode.Element: {".text \"ring 0 0 0 1\"\n", ""},
	opcode.Ret:     {"call R2\njmp E\nR2: ", ""},
	opcode.Loop:    {"jmp E1\nE2: abort\nE1: ", ""},
}

// fixture is the head of every program of these tests. Label E is the end, A where a jump goes
// that is not taken, R a routine.
const fixture = `.program "semantics"
.temps 4
.this 328
.heap 64
.unsafe
.text "constant"
.format log | int 0
.format log | int 0
.format range | bytes 0
.format string | text 0
.format words | int 0 | int 1
.format log | float 0
.format log | text 0
.object 0
.object 1
.object 2
.object 3
.object 4
.object 5
.object 6
.object 7
.reg "rdi"
`

// known is the target of these tests.
type known struct {
	memory [64]byte
	ret    uint64
}

func newKnown() *known {
	k := &known{ret: 77}
	copy(k.memory[:], "hello\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\xc0\x3f")
	binary.LittleEndian.PutUint64(k.memory[32:], 4096)
	copy(k.memory[40:], "h\x00\xe9\x00\x00\x00\x00\x00\x00\xf6\x01\x00")
	return k
}

func (k *known) at(addr uint64) []byte {
	if addr < 4096 || addr > 4096+uint64(len(k.memory)) {
		return nil
	}
	return k.memory[addr-4096:]
}
func (k *known) ReadMemory(addr uint64, p []byte) int { return copy(p, k.at(addr)) }
func (k *known) WriteMemory(addr uint64, p []byte) bool {
	to := k.at(addr)
	return len(to) >= len(p) && copy(to, p) == len(p)
}
func (k *known) Arg(n int) (uint64, bool)       { return 30 + uint64(n), n < 6 }
func (k *known) FloatWord(n int) (uint64, bool) { return uint64(n) * 3, n < 8 }
func (k *known) ArgFloat(n int) (float64, bool) { return .5, n < 8 }
func (k *known) Return() uint64                 { return k.ret }
func (k *known) SetReturn(v uint64)             { k.ret = v }
func (k *known) Field(f runtime.Field) uint64   { return 200 + uint64(f) }
func (k *known) Text(f runtime.TextField, p []byte) int {
	copy(p, contextNames[f])
	return len(contextNames[f])
}
func (k *known) Errno() (uint64, bool)      { return 2, true }
func (k *known) RunTime() (uint64, bool)    { return 7, true }
func (k *known) Bias(string) (uint64, bool) { return 65536, true }
func (k *known) Stack(pcs []uint64) int     { return copy(pcs, []uint64{1, 2, 3}) }

// stage is an arena with an object of each kind, numbered as the fixture has them.
type stage struct {
	arena *arena.Arena
	known *known
	regs  []uint64
	out   outcome.Outcome
	items [][]string // what the items of its log have in them
}

func newStage(t testing.TB) *stage {
	t.Helper()
	a, err := arena.New(arena.Options{Size: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	for _, o := range []object.Object{
		{Name: "n", Init: 40}, {Name: "s", Kind: object.KindText}, {Name: "lv", Kind: object.KindArray, Size: 4},
		{Name: "p", Kind: object.KindPerThread}, {Name: "sum", Kind: object.KindSum},
		{Name: "m", Kind: object.KindMap, Keys: 1}, {Name: "ms", Kind: object.KindMap, Keys: 1},
		{Name: "trail", Kind: object.KindTrail, Max: 4, Size: 256},
	} {
		if _, err := a.Declare(o); err != nil {
			t.Fatal(err)
		}
	}
	return &stage{arena: a, known: newKnown(), regs: []uint64{4096}}
}

// run assembles, verifies and runs a program, and gives what the last item of its log has in it.
func (s *stage) run(t *testing.T, text string) []string {
	t.Helper()
	p := assembleSemantics(t, text)
	if err := Verify(p).Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	code, err := Lower(p, Env{Arena: s.arena, WordSize: 8, Register: func(name string) (int, int, int, bool) { return 0, 64, 0, name == "rdi" }})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var hit record.Log
	hit.Reset()
	this := s.arena.AllocThis(328)
	defer s.arena.FreeThis(this, 328)
	s.out = runtime.NewMachine(s.arena).Run(code, &runtime.Context{Thread: s.known, Regs: s.regs, Word: 8, This: this, Tid: 9}, &hit)
	if p.Bound.Proved && uint64(s.out.Steps) > p.Bound.Steps {
		t.Errorf("%d steps, proved %v\n%s", s.out.Steps, p.Bound, text)
	}
	if !hit.HasItems() {
		return nil
	}
	s.arena.Commit(record.Header{Program: code.ID}, &hit)
	r, _ := s.arena.Next()
	s.items = [][]string{nil}
	for _, item := range r.Items {
		var values []string
		for _, v := range item.Values {
			values = append(values, spelt(v))
		}
		s.items = append(s.items, values)
	}
	return s.items[len(s.items)-1]
}

// spelt is a value as these tests write it.
func spelt(v rtvalue.Value) string {
	switch {
	case v.Kind == rtvalue.KindStack:
		return fmt.Sprintf(`"%d_frames"`, len(v.Stack))
	case v.Kind != rtvalue.KindText:
		return fmt.Sprint(v.Int)
	case v.Cut:
		return fmt.Sprintf("%q..\"", v.Text)
	}
	return fmt.Sprintf("%q", v.Text)
}

// assembleSemantics is a program of a listing behind the fixture.
func assembleSemantics(t *testing.T, text string) *Program {
	t.Helper()
	p, diags := Assemble(diag.NewSource("semantics", fixture+text))
	if err := diags.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

// pushes are the commands that put words on the stack.
func pushes(words string) string {
	var b strings.Builder
	for _, w := range strings.Fields(words) {
		if strings.HasPrefix(w, `"`) {
			fmt.Fprintf(&b, ".text %s\npush s,%%%s%%\n", w, w)
		} else {
			fmt.Fprintf(&b, "push d,%s\n", w)
		}
	}
	return numbered(b.String())
}

// numbered puts the numbers of texts into the commands that push them; text 0 is the fixture's.
func numbered(text string) string {
	n := 0
	for strings.Contains(text, "push s,%") {
		n++
		from := strings.Index(text, "push s,%")
		to := from + strings.Index(text[from:], "\n")
		text = text[:from] + fmt.Sprintf("push s,%d", n) + text[to:]
	}
	return text
}

// spelled is a command with its operand.
func spelled(row *opcode.Row, operand string) string {
	switch {
	case operand == "":
		return row.Name + "\n"
	case strings.HasPrefix(operand, " "):
		return row.Name + operand + "\n"
	}
	return row.Name + "," + operand + "\n"
}

// shown logs the words that should be on the stack, the top first, in one item, and ends.
func shown(row *opcode.Row, want string) string {
	words := strings.Fields(want)
	format, commands := ".format log", ""
	for i := len(words) - 1; i >= 0; i-- {
		kind, log := "int", "log d\n"
		if strings.HasPrefix(words[i], `"`) {
			kind, log = "text", "log s\n"
		}
		if row.Op() == opcode.Stack {
			kind = "stack"
		}
		format += fmt.Sprintf(" | %s %d", kind, len(words)-1-i)
		commands += log
	}
	return format + "\npush depth\npop tv,3\nitem,7\n" + commands + "end item\npush depth\njnz A\nexit\nA: abort\n"
}

func TestSemanticsOfEveryCommand(t *testing.T) {
	for i := range opcode.Table {
		row := &opcode.Table[i]
		cases := semantics[row.Op()]
		if len(cases) == 0 {
			t.Errorf("%s has no test of what it does", row.Name)
		}
		for _, c := range cases {
			t.Run(strings.TrimSpace(spelled(row, c.operand))+" of "+c.before, func(t *testing.T) { c.check(t, row) })
		}
	}
}

// check runs a case. A command that ends the program is followed by nothing.
func (c semantic) check(t *testing.T, row *opcode.Row) {
	t.Helper()
	text := pushes(c.before) + around[row.Op()][0] + spelled(row, c.operand) + around[row.Op()][1]
	if c.operand == " E" { // a jump that is taken; one that is not leads to B, and falls into E
		text += "abort\n"
	}
	goesOn := !ends(row.Op()) || row.Op() == opcode.Ret || row.Op() == opcode.Jmp
	if goesOn {
		text += "E:\n" + shown(row, c.want) + "R: ret\nB: abort\nH: abort\n"
	}
	s := newStage(t)
	logged := s.run(t, text)
	if s.out.Trap != c.trap {
		t.Errorf("%s of %s: trap %v, want %v\n%s", spelled(row, c.operand), c.before, s.out.Trap, c.trap, text)
		return
	}
	if !goesOn || c.trap != outcome.NoTrap {
		return
	}
	want := strings.Fields(c.want)
	if got := strings.Join(logged, " "); got != strings.Join(reversed(want), " ") {
		t.Errorf("%s of %s leaves %s, want %s\n%s", spelled(row, c.operand), c.before, got, c.want, text)
	}
}

func reversed(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[len(list)-1-i] = s
	}
	return out
}

// afterwards are the commands that leave something elsewhere than on the stack: a program, and
// what it then logs last, the top of the stack first, or what afterwards is in the target or
// the outcome.
var afterwards = map[opcode.Op]struct{ text, want string }{
	opcode.Free:        {"push d,8\nmalloc\nfree\npush d,64\nmalloc\n", "2"},
	opcode.PopH8:       {"push d,8\nmalloc\npop tv,0\npush d,-1\npush tv,0\npush d,0\npoph u64\npush d,0x1234\npush tv,0\npush d,0\npoph u8\npush tv,0\npush d,0\npushh u64\n", "-204"},
	opcode.PopH16:      {"push d,8\nmalloc\npop tv,0\npush d,-1\npush tv,0\npush d,0\npoph u64\npush d,0x1234\npush tv,0\npush d,0\npoph u16\npush tv,0\npush d,0\npushh u64\n", "-60876"},
	opcode.PopH32:      {"push d,8\nmalloc\npop tv,0\npush d,-1\npush tv,0\npush d,0\npoph u64\npush d,0x1234\npush tv,0\npush d,0\npoph u32\npush tv,0\npush d,0\npushh u64\n", "-4294962636"},
	opcode.PopH64:      {"push d,8\nmalloc\npop tv,0\npush d,-1\npush tv,0\npush d,0\npoph u64\npush d,0x1234\npush tv,0\npush d,0\npoph u64\npush tv,0\npush d,0\npushh u64\n", "4660"},
	opcode.PopTV:       {"push d,5\npop tv,1\npush tv,1\n", "5"},
	opcode.Poke:        {"push d,1\npush d,2\npush d,3\npop tsp,1\npush tsp,0\n", "3 3 1"},
	opcode.RestoreSBP:  {"push d,5\npush d,6\npush d,1\nrestore sbp\npush sbp,0\npush sbp,-1\n", "5 6 6 5"},
	opcode.SetX:        {"sx T\npush d,8\npush mem,u8\nabort\nT: nop\n", "1 8 0"},
	opcode.UnsetX:      {"sx T\nux\njmp G\nT: abort\nG: push x\n", "0 0 0"},
	opcode.Raise:       {"sx T\npush d,1\npush d,2\npush d,3\nrx\nT: nop\n", "3 2 1"},
	opcode.PushX:       {"sx T\npush d,1\npush d,2\npush d,3\nrx\nT: ros,3\npush x\n", "3 2 1"},
	opcode.TraceVars:   {".format trace | text 0\npush d,9\npush d,3\npop lv,2\npush d,3\npush d,1\ntrace lv,2\nlog st\npush stp\n", "21"},
	opcode.TraceStack:  {".format trace | text 0\npush d,9\npush d,0\npush d,1\ntrace pv\nlog st\nros,1\npush stp\n", "21"},
	opcode.LogTrace:    {"log st\npush stp\n", "11"},
	opcode.PurgeTrace:  {"log st\npurge st\npush stp\n", "0"},
	opcode.PopSTP:      {"log st\npush d,4\npop stp\npush stp\n", "4"},
	opcode.PopR:        {"push d,5\npop r,rdi\npush r,rdi\n", "5"},
	opcode.Store8:      {"push d,4104\npush d,0x1234\npop mem,u8\npush d,4104\npush mem,u64\n", "-204"},
	opcode.Store16:     {"push d,4104\npush d,0x1234\npop mem,u16\npush d,4104\npush mem,u64\n", "-60876"},
	opcode.Store32:     {"push d,4104\npush d,1\npop mem,u32\npush d,4104\npush mem,u64\n", "-4294967295"},
	opcode.Store64:     {"push d,4104\npush d,1\npop mem,u64\npush d,4104\npush mem,u64\n", "1"},
	opcode.StorePtr:    {"push d,4104\npush d,1\npop mem,ptr\npush d,4104\npush mem,u64\n", "1"},
	opcode.StoreStr:    {"push d,4104\npush d,4096\npush d,3\nstr\npop mem,str\npush d,4104\npush mem,u64\n", "-4287863448"},
	opcode.SetRet:      {"push d,5\npop ret\npush ret\n", "5"},
	opcode.PopGV:       {"push d,5\npop gv,0\npush gv,0\n", "5"},
	opcode.AddGV:       {"push d,5\nadd gv,0\npush gv,0\n", "45"},
	opcode.IncGV:       {"inc gv,0\npush gv,0\n", "41"},
	opcode.DecGV:       {"dec gv,0\npush gv,0\n", "39"},
	opcode.FetchAddGV:  {"push d,5\nxadd gv,0\npush gv,0\n", "45 40"},
	opcode.PopGVS:      {"push s,0\npop gvs,1\npush gvs,1\nslen\n", "8"},
	opcode.PopLV:       {"push d,5\npush d,3\npop lv,2\npush d,3\npush lv,2\n", "5"},
	opcode.AddLV:       {"push d,5\npush d,3\nadd lv,2\npush d,2\npush d,3\nadd lv,2\npush d,3\npush lv,2\n", "7"},
	opcode.PopThis:     {"push d,5\npop this,1\npush this,1\npush this,0\n", "0 5"},
	opcode.PopThisS:    {"push s,0\npop thiss,64\npush thiss,64\nslen\n", "8"},
	opcode.PopPT:       {"push d,5\npop pt,3\npush pt,3\n", "5"},
	opcode.AddPT:       {"push d,5\nadd pt,3\npush d,6\nadd pt,3\npush pt,3\n", "11"},
	opcode.KeyInt:      {"push d,1\nkey\npush d,5\nmap set,5\npush d,1\nkey\nmap get,5\npush d,2\nkey\nmap get,5\n", "0 5"},
	opcode.KeyText:     {"push s,0\nkey s,text\npush s,0\nmap sets,6\npush s,0\nkey s,text\nmap gets,6\nslen\n", "8"},
	opcode.MapSet:      {"push d,1\nkey\npush d,5\nmap set,5\npush d,1\nkey\nmap has,5\n", "1"},
	opcode.MapSetS:     {"push s,0\nkey s,text\npush s,0\nmap sets,6\npush s,0\nkey s,text\nmap has,6\n", "1"},
	opcode.MapDel:      {"push d,1\nkey\npush d,5\nmap set,5\npush d,1\nkey\nmap del,5\npush d,1\nkey\nmap has,5\n", "0"},
	opcode.MapAdd:      {"push d,1\nkey\npush d,5\nmap add,5\npush d,1\nkey\npush d,6\nmap add,5\n", "11 5"},
	opcode.Item:        {"item,1\npush d,9\nlog d\nend item\npush lp\n", "16"},
	opcode.LogInt:      {"item,1\npush d,9\nlog d\nend item\npush lp\n", "16"},
	opcode.LogFloat:    {"item,5\npush d,9\nlog f\nend item\npush lp\n", "16"},
	opcode.LogText:     {"item,6\npush s,0\nlog s\nend item\npush lp\n", "24"},
	opcode.EndItem:     {"item,1\npush d,9\nlog d\nend item\npush lp\npush plp\n", "0 16"},
	opcode.LogRange:    {"push d,4\npush d,4096\nlog mrf,2\npush lp\n", "24"},
	opcode.LogStr:      {"push d,16\npush d,4096\nlog str,3\npush lp\n", "24"},
	opcode.LogWords:    {"push d,1\npush d,2\nlog,2,4\npush lp\n", "24"},
	opcode.PushLP:      {"push d,1\npush d,2\nlog,2,4\npush lp\n", "24"},
	opcode.PushPLP:     {"push d,1\npush d,2\nlog,2,4\npush d,16\npush d,4096\nlog str,3\npush plp\n", "24"},
	opcode.PopLP:       {"push d,1\npush d,2\nlog,2,4\npush d,16\npush d,4096\nlog str,3\npush d,24\npop lp\npush lp\n", "24"},
	opcode.EndDeferred: {"item,1\npush d,9\nlog d\nend deferred,7\npush lp\n", "24"},
	opcode.Keep:        {"keep,7\npush lp\n", "16"},
	opcode.Forget:      {"forget,7\npush lp\n", "16"},
	opcode.Jmp:         {"jmp G\nabort\nG: nop\n", ""},
	opcode.Call:        {"call T\ncall T\njmp G\nT: inc gv,0\nret\nG: push gv,0\n", "42"},
	opcode.Ret:         {"call T\njmp G\nT: ret\nG: push d,1\n", "1"},
	opcode.Loop:        {"push d,3\nT: inc gv,0\nloop T\npush gv,0\n", "43"},
}

func TestWhatCommandsLeave(t *testing.T) {
	for op, c := range afterwards {
		row := opcode.RowOf(op)
		t.Run(row.Name, func(t *testing.T) {
			s := newStage(t)
			formats := strings.Count(c.text, ".format")
			ending := strings.Replace(shown(row, strings.Join(reversed(strings.Fields(c.want)), " ")), "item,7", fmt.Sprintf("item,%d", 7+formats), 1)
			logged := s.run(t, c.text+ending)
			if formats > 0 { // the trace is an item behind the one with the words
				logged = s.items[len(s.items)-2]
			}
			if got := strings.Join(logged, " "); got != c.want || s.out.Trap != outcome.NoTrap {
				t.Errorf("%q logs %q, want %q; %+v", c.text, got, c.want, s.out)
			}
		})
	}
	for i := range opcode.Table {
		row := &opcode.Table[i]
		if _, known := afterwards[row.Op()]; row.Out == "" && !row.Does.Has(opcode.Moves) && !ends(row.Op()) && !known && !jumps(row.Op()) && !inOutcome[row.Op()] {
			t.Errorf("%s leaves nothing on the stack, and there is no test of what it does", row.Name)
		}
	}
}

// inOutcome are the commands whose effect is looked at by TestOutcomes.
var inOutcome = map[opcode.Op]bool{opcode.Nop: true, opcode.Skip: true, opcode.Signal: true, opcode.Agg: true, opcode.AggFloat: true}

func TestOutcomes(t *testing.T) {
	for text, want := range map[string]outcome.Outcome{
		"nop\nexit\n":                     {PC: 1, Steps: 2},
		"push d,5\nskip\nexit\n":          {PC: 2, Steps: 3, Skip: true, SkipRet: 5, SkipPC: 1},
		"push d,9\nsignal\nexit\n":        {PC: 2, Steps: 3, Signal: 9, SignalPC: 1},
		"abort\n":                         {Steps: 1, Abort: true},
		"remove\n":                        {Steps: 1, Remove: true},
		"exit\n":                          {Steps: 1},
		"exit dump\n":                     {Steps: 1, Kind: outcome.ExitDump},
		"exit stop\n":                     {Steps: 1, Kind: outcome.ExitStop},
		"exit event\n":                    {Steps: 1, Kind: outcome.ExitEvent},
		"exit hold\n":                     {Steps: 1, Kind: outcome.ExitHold},
		"exit facility,9\n":               {Steps: 1, Kind: outcome.ExitFacility, Facility: 9},
		"push d,1\npush d,0\ndiv\nexit\n": {PC: 2, Steps: 3, Trap: outcome.TrapDivide},
		"push d,8\npush mem,u8\nexit\n":   {PC: 1, Steps: 2, Trap: outcome.TrapRead, Addr: 8},
	} {
		s := newStage(t)
		if s.run(t, text); s.out != want {
			t.Errorf("%q: %+v, want %+v", text, s.out, want)
		}
	}
	s := newStage(t)
	s.run(t, "push d,5\nagg,4\npush d,6\nagg,4\nexit\n")
	if d, ok := s.arena.Handle(4).Get(); !ok || d.Int != 11 {
		t.Errorf("the sum is %+v", d)
	}
	const half = "push d,0x3fe0000000000000\n"
	s.run(t, half+"agg f,4\n"+half+"agg f,4\n"+half+"agg f,4\nexit\n")
	if d, ok := s.arena.Handle(4).Get(); !ok || !d.IsFloat || d.Float != 12.5 {
		t.Errorf("with floats the sum is %+v", d)
	}
}

// refusal verifies a program that must be refused, and checks that it says why.
func refusal(t *testing.T, row *opcode.Row, p *Program, why string) {
	t.Helper()
	if err := Verify(p).Err(); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%s: %v, want %q", row.Name, err, why)
	}
}

// sample is the command with an operand in range, for programs that are wrong elsewhere.
func sample(r *opcode.Row) Command {
	c := Command{Op: r.Op()}
	if r.Operand.IsObject() {
		c.A = 2
	}
	switch r.Operand {
	case opcode.WordsOperand:
		c.A, c.V = 2, 4
	case opcode.CountOperand:
		c.A = 1
	case opcode.KindOperand:
		c.A = uint32(rtvalue.KindText)
	case opcode.FormatOperand:
		c.A = map[opcode.Op]uint32{opcode.LogRange: 2, opcode.LogStr: 3}[r.Op()]
	}
	return c
}

// wrong is a program with the fixture's objects and formats, and commands of its own.
func wrong(t *testing.T, code ...Command) *Program {
	p := assembleSemantics(t, "exit\n")
	p.Code = append(code, p.Code...)
	p.Texts[0] = "ring 0 0 0 1" // what element reads
	return p
}

// TestWhatIsRefused derives from the table what must be refused of each command: too few words,
// words of the other type, too many words, operands out of range, and changes of the target
// where they are not allowed.
func TestWhatIsRefused(t *testing.T) {
	for i := range opcode.Table {
		row := &opcode.Table[i]
		c := sample(row)
		pops, pushed := row.Effect(c.A)
		word, text := Command{Op: opcode.PushD, V: 1}, Command{Op: opcode.PushS}
		if row.Op() == opcode.Poke || row.Op() == opcode.Pick {
			pops = int(c.A) + 1
		}
		fitting := repeated(word, pops)
		for j, k := range row.In {
			if k == 's' {
				fitting[j] = text
			}
		}
		if row.Op() == opcode.PokeBase || row.Op() == opcode.PickBase {
			refusal(t, row, wrong(t, c), "the stack has no word 0 above the base")
		} else if pops > 0 {
			refusal(t, row, wrong(t, append(fitting[1:], c)...), "takes more from the stack")
		}
		for at, kind := range row.In {
			code := repeated(word, len(row.In))
			for j, k := range row.In {
				if (k == 's') != (j == at) {
					code[j] = text
				}
			}
			switch kind {
			case 'w':
				refusal(t, row, wrong(t, append(code, c)...), "wants a number")
			case 's':
				code[at] = word
				refusal(t, row, wrong(t, append(code, c)...), "wants text")
			}
		}
		if grows := pushed - pops; grows > 0 && !strings.Contains(row.In+row.Out, "s") && row.Operand != opcode.TempOperand {
			refusal(t, row, wrong(t, append(repeated(word, runtime.DefaultStack-grows+1), c)...), "the program has 32")
		}
		if row.Operand != opcode.NoOperand && row.Operand != opcode.WordOperand {
			bad := c
			bad.A = 1 << 20
			refusal(t, row, wrong(t, append(repeated(word, pops), bad)...), "out of range")
		}
		if row.Unsafe() {
			p := wrong(t, append(repeated(word, pops), c)...)
			p.Unsafe = false
			refusal(t, row, p, "changes the target, which is not allowed here")
		}
	}
}

func repeated(c Command, n int) []Command {
	list := make([]Command, n)
	for i := range list {
		list[i] = c
	}
	return list
}

// TestUnverifiedStacksTrap: the machine itself lets no command take what is not there, nor go
// beyond the stack's end.
func TestUnverifiedStacksTrap(t *testing.T) {
	s := newStage(t)
	push := runtime.Inst{Op: opcode.PushD, V: 1}
	for i := range opcode.Table {
		row := &opcode.Table[i]
		c := sample(row)
		pops, pushed := row.Effect(c.A)
		inst := runtime.Inst{Op: row.Op(), A: c.A}
		run := func(words int) outcome.Trap {
			code := &runtime.Code{Unsafe: true}
			for range words {
				code.Insts = append(code.Insts, push)
			}
			code.Insts = append(code.Insts, inst, runtime.Inst{Op: opcode.Exit})
			var hit record.Log
			hit.Reset()
			return runtime.NewMachine(s.arena).Run(code, &runtime.Context{Thread: s.known, Regs: s.regs, Word: 8}, &hit).Trap
		}
		if pops > 0 && run(pops-1) != outcome.TrapStack {
			t.Errorf("%s takes words that are not there", row.Name)
		}
		if grows := pushed - pops; grows > 0 && run(runtime.DefaultStack-grows+1) != outcome.TrapStack {
			t.Errorf("%s goes beyond the end of the stack", row.Name)
		}
	}
}

// TestNeedsOfPrograms: what is bound says what an executor must have.
func TestNeedsOfPrograms(t *testing.T) {
	for text, want := range map[string]string{
		"exit\n":                         "nothing",
		"exit hold\n":                    "event hold",
		"push r,rdi\npop tv,0\nexit\n":   "regs",
		"push c,errno\npop tv,0\nexit\n": "context errno",
	} {
		p := assembled(t, ".program \"needs\"\n.temps 1\n.reg \"rdi\"\n"+text)
		if err := Verify(p).Err(); err != nil {
			t.Fatal(err)
		}
		code, err := Lower(p, Env{Arena: newStage(t).arena, WordSize: 8, Register: func(string) (int, int, int, bool) { return 0, 64, 0, true }})
		if err != nil {
			t.Fatal(err)
		}
		if got := code.Needs.String(); got != want {
			t.Errorf("%q needs %s, want %s", text, got, want)
		}
	}
}
