package compile

import (
	"strings"

	"gotap/runtime"
)

// Operand is what follows the name of a command, and how its number is to be read.
type Operand uint8

// The operands. All are kept in Command.A except a word, which is Command.V.
const (
	NoOperand       Operand = iota
	WordOperand             // a 64-bit word, in V
	CountOperand            // a small number: copies, words, bits, depth
	LabelOperand            // a jump target: index of a command
	TextOperand             // number of a text of the program
	FormatOperand           // number of a format of the program
	ObjectOperand           // number in Program.Objects
	RegisterOperand         // number in Program.Regs
	TempOperand             // scratch word
	ThisOperand             // word of the storage of a call
	ThisTextOperand         // byte offset in the storage of a call
	ArgOperand              // argument number
	FieldOperand            // runtime.Field
	ContextOperand          // runtime.TextField
	KindOperand             // runtime.ValueKind of text: text, bytes or stack
	ExitOperand             // runtime.ExitKind; the number of a facility is in V
	WordsOperand            // a count of words in A, and a format number in V
	BaseOperand             // a signed number of words above the base of the stack, as 32 bits
)

// Row describes one command. In and Out are the stack before and after, top on the right, one
// letter a word: w a 64-bit word (integer, float, boolean, address), s a reference to text, x
// either. Commands whose picture depends on their operand have Variable set, and Effect works
// it out.
type Row struct {
	Op       runtime.Op
	Name     string // as listings show it; DProbes' spelling where there is one
	Code     byte   // in files; never changes its meaning
	Operand  Operand
	In, Out  string
	Variable bool
	Unsafe   bool   // changes the target: refused unless the program says so
	Cost     int    // steps charged
	Doc      string // one line
}

// Table has one row for each operation, in no particular order.
//
// Codes are grouped by their high bits, with room in each group; a code that was given up is
// never used again.
var Table = []Row{
	// Execution and sequencing, 0x00.
	{runtime.OpNop, "nop", 0x00, NoOperand, "", "", false, false, 1, "does nothing"},
	{runtime.OpJmp, "jmp", 0x01, LabelOperand, "", "", false, false, 1, "jumps"},
	{runtime.OpJlt, "jlt", 0x02, LabelOperand, "w", "", false, false, 1, "pops a word, jumps when it is below 0"},
	{runtime.OpJle, "jle", 0x03, LabelOperand, "w", "", false, false, 1, "pops a word, jumps when it is 0 or below"},
	{runtime.OpJgt, "jgt", 0x04, LabelOperand, "w", "", false, false, 1, "pops a word, jumps when it is above 0"},
	{runtime.OpJge, "jge", 0x05, LabelOperand, "w", "", false, false, 1, "pops a word, jumps when it is 0 or above"},
	{runtime.OpJz, "jz", 0x06, LabelOperand, "w", "", false, false, 1, "pops a word, jumps when it is 0"},
	{runtime.OpJnz, "jnz", 0x07, LabelOperand, "w", "", false, false, 1, "pops a word, jumps when it is not 0"},
	{runtime.OpLoop, "loop", 0x08, LabelOperand, "w", "", true, false, 1, "decrements the top word; jumps while it is not 0, else pops it"},
	{runtime.OpCall, "call", 0x09, LabelOperand, "", "", true, false, 1, "calls a routine, at most 32 deep"},
	{runtime.OpRet, "ret", 0x0a, NoOperand, "", "", false, false, 1, "returns from a routine"},
	{runtime.OpAbort, "abort", 0x0b, NoOperand, "", "", false, false, 1, "ends; the log is discarded"},
	{runtime.OpRemove, "remove", 0x0c, NoOperand, "", "", false, false, 1, "ends; the log is kept, the probe removed"},
	{runtime.OpExit, "exit", 0x0d, ExitOperand, "", "", false, false, 1, "ends; the log is committed when the probed instruction has completed"},
	{runtime.OpSetX, "sx", 0x0e, LabelOperand, "", "", false, false, 1, "sets the handler of this frame's exceptions, for once"},
	{runtime.OpUnsetX, "ux", 0x0f, NoOperand, "", "", false, false, 1, "takes back what sx set"},

	// Stack, 0x10.
	{runtime.OpPushD, "push d", 0x10, WordOperand, "", "w", false, false, 1, "a constant word"},
	{runtime.OpPushS, "push s", 0x11, TextOperand, "", "s", false, false, 1, "a constant text"},
	{runtime.OpDup, "dup", 0x12, NoOperand, "x", "xx", true, false, 1, "copies the top word"},
	{runtime.OpDupN, "dup", 0x13, CountOperand, "x", "x", true, false, 1, "copies the top word n times more"},
	{runtime.OpXchg, "xchg", 0x14, NoOperand, "xx", "xx", true, false, 1, "exchanges the two top words"},
	{runtime.OpOver, "over", 0x15, NoOperand, "xx", "xxx", true, false, 1, "copies the word below the top"},
	{runtime.OpDrop, "ros", 0x16, CountOperand, "", "", true, false, 1, "drops n words"},
	{runtime.OpPick, "push tsp", 0x17, CountOperand, "", "x", true, false, 1, "copies the word n below the top"},
	{runtime.OpPoke, "pop tsp", 0x18, CountOperand, "x", "", true, false, 1, "pops a word and stores it n below the top, counted before the pop"},
	{runtime.OpDepth, "push depth", 0x19, NoOperand, "", "w", false, false, 1, "the number of words on the stack"},
	{runtime.OpPushTV, "push tv", 0x1a, TempOperand, "", "x", true, false, 1, "a scratch word of this hit"},
	{runtime.OpPopTV, "pop tv", 0x1b, TempOperand, "x", "", true, false, 1, "pops into a scratch word"},
	{runtime.OpSaveTSP, "save tsp", 0x1c, NoOperand, "", "w", false, false, 1, "the number of words above the entry of the routine"},
	{runtime.OpRestoreTSP, "restore tsp", 0x1d, NoOperand, "w", "", true, false, 1, "drops words until that many are left"},
	{runtime.OpSaveSBP, "save sbp", 0x1e, NoOperand, "", "w", false, false, 1, "the base of the stack, counted like tsp"},
	{runtime.OpRestoreSBP, "restore sbp", 0x1f, NoOperand, "w", "", true, false, 1, "sets the base of the stack; ret gives the caller's back"},

	// Integers, 0x20.
	{runtime.OpAdd, "add", 0x20, NoOperand, "ww", "w", false, false, 1, "a b gives a+b"},
	{runtime.OpSub, "sub", 0x21, NoOperand, "ww", "w", false, false, 1, "a b gives a-b"},
	{runtime.OpMul, "mul", 0x22, NoOperand, "ww", "w", false, false, 1, "a b gives a*b"},
	{runtime.OpQuo, "quo", 0x23, NoOperand, "ww", "w", false, false, 1, "a b gives a/b, signed, toward zero; by 0 traps"},
	{runtime.OpRem, "rem", 0x24, NoOperand, "ww", "w", false, false, 1, "a b gives a%b with the sign of a; by 0 traps"},
	{runtime.OpUdivmod, "div", 0x25, NoOperand, "ww", "ww", false, false, 1, "a b gives a%b a/b, unsigned, quotient on top; by 0 traps"},
	{runtime.OpSdivmod, "idiv", 0x26, NoOperand, "ww", "ww", false, false, 1, "a b gives a%b a/b, signed, quotient on top; by 0 traps"},
	{runtime.OpNeg, "neg", 0x27, NoOperand, "w", "w", false, false, 1, "two's complement"},
	{runtime.OpNot, "not", 0x28, NoOperand, "w", "w", false, false, 1, "one's complement"},
	{runtime.OpAnd, "and", 0x29, NoOperand, "ww", "w", false, false, 1, "bitwise and"},
	{runtime.OpOr, "or", 0x2a, NoOperand, "ww", "w", false, false, 1, "bitwise or"},
	{runtime.OpXor, "xor", 0x2b, NoOperand, "ww", "w", false, false, 1, "bitwise exclusive or"},
	{runtime.OpShl, "shl", 0x2c, NoOperand, "ww", "w", false, false, 1, "a n gives a<<n; n modulo 64"},
	{runtime.OpShr, "shr", 0x2d, NoOperand, "ww", "w", false, false, 1, "a n gives a>>n, logical; n modulo 64"},
	{runtime.OpSar, "sar", 0x2e, NoOperand, "ww", "w", false, false, 1, "a n gives a>>n, arithmetic; n modulo 64"},
	{runtime.OpRol, "rol", 0x2f, NoOperand, "ww", "w", false, false, 1, "a n rotates a left; n modulo 64"},
	{runtime.OpRor, "ror", 0x30, NoOperand, "ww", "w", false, false, 1, "a n rotates a right; n modulo 64"},
	{runtime.OpEq, "eq", 0x31, NoOperand, "ww", "w", false, false, 1, "a b gives a==b"},
	{runtime.OpNe, "ne", 0x32, NoOperand, "ww", "w", false, false, 1, "a b gives a!=b"},
	{runtime.OpLt, "lt", 0x33, NoOperand, "ww", "w", false, false, 1, "a b gives a<b, signed"},
	{runtime.OpLe, "le", 0x34, NoOperand, "ww", "w", false, false, 1, "a b gives a<=b, signed"},
	{runtime.OpGt, "gt", 0x35, NoOperand, "ww", "w", false, false, 1, "a b gives a>b, signed"},
	{runtime.OpGe, "ge", 0x36, NoOperand, "ww", "w", false, false, 1, "a b gives a>=b, signed"},
	{runtime.OpUlt, "ult", 0x37, NoOperand, "ww", "w", false, false, 1, "a b gives a<b, unsigned"},
	{runtime.OpUle, "ule", 0x38, NoOperand, "ww", "w", false, false, 1, "a b gives a<=b, unsigned"},
	{runtime.OpLnot, "lnot", 0x39, NoOperand, "w", "w", false, false, 1, "1 for 0, else 0"},
	{runtime.OpBool, "bool", 0x3a, NoOperand, "w", "w", false, false, 1, "0 for 0, else 1"},
	{runtime.OpMin, "min", 0x3b, NoOperand, "ww", "w", false, false, 1, "the smaller, signed"},
	{runtime.OpMax, "max", 0x3c, NoOperand, "ww", "w", false, false, 1, "the larger, signed"},
	{runtime.OpAbs, "abs", 0x3d, NoOperand, "w", "w", false, false, 1, "absolute value; wraps for the smallest integer"},
	{runtime.OpClz, "clz", 0x3e, NoOperand, "w", "w", false, false, 1, "leading zero bits, 64 for 0"},
	{runtime.OpPopcnt, "popcnt", 0x3f, NoOperand, "w", "w", false, false, 1, "bits that are 1"},
	{runtime.OpExt, "ext", 0x40, CountOperand, "w", "w", false, false, 1, "keeps the low n bits and extends their sign"},
	{runtime.OpZext, "zext", 0x41, CountOperand, "w", "w", false, false, 1, "keeps the low n bits"},
	{runtime.OpPickBase, "push sbp", 0x42, BaseOperand, "", "x", true, false, 1, "copies the word n above the base, 0 being the first"},
	{runtime.OpPokeBase, "pop sbp", 0x43, BaseOperand, "x", "", true, false, 1, "pops a word and stores it n above the base"},

	// Floats, 0x48.
	{runtime.OpFadd, "fadd", 0x48, NoOperand, "ww", "w", false, false, 1, "a b gives a+b"},
	{runtime.OpFsub, "fsub", 0x49, NoOperand, "ww", "w", false, false, 1, "a b gives a-b"},
	{runtime.OpFmul, "fmul", 0x4a, NoOperand, "ww", "w", false, false, 1, "a b gives a*b"},
	{runtime.OpFdiv, "fdiv", 0x4b, NoOperand, "ww", "w", false, false, 1, "a b gives a/b as IEEE 754: no trap"},
	{runtime.OpFrem, "frem", 0x4c, NoOperand, "ww", "w", false, false, 1, "a b gives a%b as C's fmod"},
	{runtime.OpFneg, "fneg", 0x4d, NoOperand, "w", "w", false, false, 1, "the sign changed"},
	{runtime.OpFeq, "feq", 0x4e, NoOperand, "ww", "w", false, false, 1, "a b gives a==b"},
	{runtime.OpFne, "fne", 0x4f, NoOperand, "ww", "w", false, false, 1, "a b gives a!=b"},
	{runtime.OpFlt, "flt", 0x50, NoOperand, "ww", "w", false, false, 1, "a b gives a<b"},
	{runtime.OpFle, "fle", 0x51, NoOperand, "ww", "w", false, false, 1, "a b gives a<=b"},
	{runtime.OpFbool, "fbool", 0x52, NoOperand, "w", "w", false, false, 1, "0 for 0 and NaN, else 1"},
	{runtime.OpItof, "itof", 0x53, NoOperand, "w", "w", false, false, 1, "a signed integer as a float"},
	{runtime.OpUtof, "utof", 0x54, NoOperand, "w", "w", false, false, 1, "an unsigned integer as a float"},
	{runtime.OpFtoi, "ftoi", 0x55, NoOperand, "w", "w", false, false, 1, "toward zero, saturating; NaN gives 0"},
	{runtime.OpF32, "f32", 0x56, NoOperand, "w", "w", false, false, 1, "the low 32 bits as a float"},
	{runtime.OpToF32, "tof32", 0x57, NoOperand, "w", "w", false, false, 1, "a float rounded to 32 bits, as they are in memory"},
	// Exceptions and the trace, 0x58.
	{runtime.OpRaise, "rx", 0x58, NoOperand, "www", "", false, false, 1, "p2 p1 code: raises an exception; ends without a handler"},
	{runtime.OpPushX, "push x", 0x59, NoOperand, "", "www", false, false, 1, "p2 p1 code of the exception caught last, zeros for none"},
	{runtime.OpTraceVars, "trace lv", 0x5a, ObjectOperand, "ww", "", false, false, 1, "i n: traces show n variables of an array from i on for this frame"},
	{runtime.OpTraceStack, "trace pv", 0x5b, NoOperand, "ww", "", false, false, 1, "i n: traces show n words of the stack for this frame, from i below the top on"},
	{runtime.OpLogTrace, "log st", 0x5c, NoOperand, "", "", false, false, 1, "appends all frames to the trace of this hit"},
	{runtime.OpPurgeTrace, "purge st", 0x5d, NoOperand, "", "", false, false, 1, "empties the trace of this hit"},
	{runtime.OpPushSTP, "push stp", 0x5e, NoOperand, "", "w", false, false, 1, "bytes of trace so far"},
	{runtime.OpPopSTP, "pop stp", 0x5f, NoOperand, "w", "", false, false, 1, "shortens the trace to n bytes; more than there are traps"},

	// The target, 0x60.
	{runtime.OpPushR, "push r", 0x60, RegisterOperand, "", "w", false, false, 1, "a register at the probe"},
	{runtime.OpPopR, "pop r", 0x61, RegisterOperand, "w", "", false, true, 1, "changes a register"},
	{runtime.OpLoad8, "push mem,u8", 0x62, NoOperand, "w", "w", false, false, 1, "a byte at an address; an unreadable one traps"},
	{runtime.OpLoad16, "push mem,u16", 0x63, NoOperand, "w", "w", false, false, 1, "2 bytes at an address"},
	{runtime.OpLoad32, "push mem,u32", 0x64, NoOperand, "w", "w", false, false, 1, "4 bytes at an address"},
	{runtime.OpLoad64, "push mem,u64", 0x65, NoOperand, "w", "w", false, false, 1, "8 bytes at an address"},
	{runtime.OpLoadS8, "push mem,i8", 0x66, NoOperand, "w", "w", false, false, 1, "a signed byte at an address"},
	{runtime.OpLoadS16, "push mem,i16", 0x67, NoOperand, "w", "w", false, false, 1, "2 signed bytes at an address"},
	{runtime.OpLoadS32, "push mem,i32", 0x68, NoOperand, "w", "w", false, false, 1, "4 signed bytes at an address"},
	{runtime.OpLoadF32, "push mem,f32", 0x69, NoOperand, "w", "w", false, false, 1, "a float of 4 bytes at an address"},
	{runtime.OpLoadPtr, "push mem,ptr", 0x6a, NoOperand, "w", "w", false, false, 1, "a pointer of the target's size at an address"},
	{runtime.OpStore8, "pop mem,u8", 0x6b, NoOperand, "ww", "", false, true, 1, "p v writes a byte; an unwritable address traps"},
	{runtime.OpStore16, "pop mem,u16", 0x6c, NoOperand, "ww", "", false, true, 1, "p v writes 2 bytes"},
	{runtime.OpStore32, "pop mem,u32", 0x6d, NoOperand, "ww", "", false, true, 1, "p v writes 4 bytes"},
	{runtime.OpStore64, "pop mem,u64", 0x6e, NoOperand, "ww", "", false, true, 1, "p v writes 8 bytes"},
	{runtime.OpReadable, "readable", 0x6f, NoOperand, "ww", "w", false, false, 1, "p n: can the n bytes at p be read"},
	{runtime.OpWritable, "writable", 0x70, NoOperand, "ww", "w", false, false, 1, "p n: can the n bytes at p be written"},
	{runtime.OpArg, "push arg", 0x71, ArgOperand, "", "w", false, false, 1, "an argument by calling convention"},
	{runtime.OpArgF, "push argf", 0x72, ArgOperand, "", "w", false, false, 1, "a floating argument by calling convention"},
	{runtime.OpRetval, "push ret", 0x73, NoOperand, "", "w", false, false, 1, "the result of the function"},
	{runtime.OpSetRet, "pop ret", 0x74, NoOperand, "w", "", false, true, 1, "changes the result of the function"},
	{runtime.OpField, "push c", 0x75, FieldOperand, "", "w", false, false, 1, "a number of the context"},
	{runtime.OpText, "push cs", 0x76, ContextOperand, "", "s", false, false, 1, "a text of the context"},
	{runtime.OpSkip, "skip", 0x77, NoOperand, "w", "", false, true, 1, "the function is not run, and returns the word popped"},
	{runtime.OpSignal, "signal", 0x78, NoOperand, "w", "", false, true, 1, "sends the thread a signal"},
	{runtime.OpStorePtr, "pop mem,ptr", 0x79, NoOperand, "ww", "", false, true, 1, "p v writes a pointer of the target's size"},
	{runtime.OpStoreStr, "pop mem,str", 0x7a, NoOperand, "ws", "", false, true, 1, "p s writes text and a NUL"},
	{runtime.OpBias, "push bias", 0x7b, TextOperand, "", "w", false, false, 1, "how far a module lies from the addresses in its file"},

	// Text, 0x80.
	{runtime.OpStr, "str", 0x80, NoOperand, "ww", "s", false, false, 1, "p n: text at p up to its NUL, at most n bytes"},
	{runtime.OpBytes, "bytes", 0x81, NoOperand, "ww", "s", false, false, 1, "p n: the n bytes at p"},
	{runtime.OpStack, "stack", 0x82, NoOperand, "w", "s", false, false, 1, "up to n return addresses"},
	{runtime.OpScmp, "scmp", 0x83, NoOperand, "ss", "w", false, false, 1, "-1, 0 or 1"},
	{runtime.OpSeq, "seq", 0x84, NoOperand, "ss", "w", false, false, 1, "are the texts equal"},
	{runtime.OpSprefix, "sprefix", 0x85, NoOperand, "ss", "w", false, false, 1, "s t: does s begin with t"},
	{runtime.OpScat, "scat", 0x86, NoOperand, "ss", "s", false, false, 1, "s t: both, one after the other"},
	{runtime.OpSdec, "sdec", 0x87, NoOperand, "w", "s", false, false, 1, "signed decimal digits"},
	{runtime.OpSfloat, "sfloat", 0x88, NoOperand, "w", "s", false, false, 1, "a float's digits"},
	{runtime.OpShex, "shex", 0x8b, NoOperand, "w", "s", false, false, 1, "hexadecimal digits of an unsigned word, after 0x"},
	{runtime.OpSlen, "slen", 0x89, NoOperand, "s", "w", false, false, 1, "length in bytes"},
	{runtime.OpHash, "hash", 0x8a, NoOperand, "s", "w", false, false, 1, "64-bit FNV-1a"},

	// State, 0x90.
	{runtime.OpPushGV, "push gv", 0x90, ObjectOperand, "", "w", false, false, 1, "a shared variable"},
	{runtime.OpPopGV, "pop gv", 0x91, ObjectOperand, "w", "", false, false, 1, "sets a shared variable"},
	{runtime.OpAddGV, "add gv", 0x92, ObjectOperand, "w", "", false, false, 1, "adds to a shared variable, atomically"},
	{runtime.OpIncGV, "inc gv", 0x93, ObjectOperand, "", "", false, false, 1, "adds 1 to a shared variable, atomically"},
	{runtime.OpDecGV, "dec gv", 0x94, ObjectOperand, "", "", false, false, 1, "subtracts 1 from a shared variable, atomically"},
	{runtime.OpFetchAddGV, "xadd gv", 0x95, ObjectOperand, "w", "w", false, false, 1, "adds to a shared variable, atomically, and gives the value before"},
	{runtime.OpPushGVS, "push gvs", 0x96, ObjectOperand, "", "s", false, false, 1, "a shared text variable"},
	{runtime.OpPopGVS, "pop gvs", 0x97, ObjectOperand, "s", "", false, false, 1, "sets a shared text variable"},
	{runtime.OpPushLV, "push lv", 0x98, ObjectOperand, "w", "w", false, false, 1, "i: element i of a variable array; out of range traps"},
	{runtime.OpPopLV, "pop lv", 0x99, ObjectOperand, "ww", "", false, false, 1, "v i: sets element i"},
	{runtime.OpAddLV, "add lv", 0x9a, ObjectOperand, "ww", "", false, false, 1, "d i: adds d to element i, atomically"},
	{runtime.OpPushThis, "push this", 0x9b, ThisOperand, "", "w", false, false, 1, "a word of this call's storage; traps when its entry was not seen"},
	{runtime.OpPopThis, "pop this", 0x9c, ThisOperand, "w", "", false, false, 1, "sets a word of this call's storage"},
	{runtime.OpPushThisS, "push thiss", 0x9d, ThisTextOperand, "", "s", false, false, 1, "a text of this call's storage"},
	{runtime.OpPopThisS, "pop thiss", 0x9e, ThisTextOperand, "s", "", false, false, 1, "sets a text of this call's storage"},
	{runtime.OpPushPT, "push pt", 0x9f, ObjectOperand, "", "w", false, false, 1, "this thread's value of a per-thread variable"},
	{runtime.OpPopPT, "pop pt", 0xa0, ObjectOperand, "w", "", false, false, 1, "sets this thread's value"},
	{runtime.OpAddPT, "add pt", 0xa1, ObjectOperand, "w", "", false, false, 1, "adds to this thread's value"},
	{runtime.OpKeyInt, "key", 0xa2, NoOperand, "w", "", false, false, 1, "appends a number to the key of this hit"},
	{runtime.OpKeyText, "key s", 0xa3, KindOperand, "s", "", false, false, 1, "appends text, bytes or a stack to the key of this hit"},
	{runtime.OpAgg, "agg", 0xa4, ObjectOperand, "w", "", false, false, 1, "adds a word to an aggregation, under the key built"},
	{runtime.OpMapGet, "map get", 0xa5, ObjectOperand, "", "w", false, false, 1, "the word under the key built, 0 when there is none"},
	{runtime.OpMapGetS, "map gets", 0xa6, ObjectOperand, "", "s", false, false, 1, "the text under the key built, empty when there is none"},
	{runtime.OpMapHas, "map has", 0xa7, ObjectOperand, "", "w", false, false, 1, "is there such a key"},
	{runtime.OpMapSet, "map set", 0xa8, ObjectOperand, "w", "", false, false, 1, "sets the word under the key built"},
	{runtime.OpMapSetS, "map sets", 0xa9, ObjectOperand, "s", "", false, false, 1, "sets the text under the key built"},
	{runtime.OpMapDel, "map del", 0xaa, ObjectOperand, "", "", false, false, 1, "forgets the key built"},
	{runtime.OpMapAdd, "map add", 0xab, ObjectOperand, "w", "w", false, false, 1, "adds under the key built, atomically, and gives the new value"},

	// The log, 0xb0.
	{runtime.OpItem, "item", 0xb0, FormatOperand, "", "", false, false, 1, "begins an item of the log"},
	{runtime.OpLogInt, "log d", 0xb1, NoOperand, "w", "", false, false, 1, "appends an integer field"},
	{runtime.OpLogFloat, "log f", 0xb2, NoOperand, "w", "", false, false, 1, "appends a float field"},
	{runtime.OpLogText, "log s", 0xb3, NoOperand, "s", "", false, false, 1, "appends a field of text, bytes or a stack"},
	{runtime.OpEndItem, "end item", 0xb4, NoOperand, "", "", false, false, 1, "ends the item; one that does not fit is taken back and counted"},
	{runtime.OpLogRange, "log mrf", 0xb5, FormatOperand, "ww", "", false, false, 1, "n p: an item of the n bytes at p"},
	{runtime.OpLogStr, "log str", 0xb6, FormatOperand, "ww", "", false, false, 1, "n p: an item of the text at p, at most n bytes"},
	{runtime.OpLogWords, "log", 0xb7, WordsOperand, "", "", true, false, 1, "pops n words into an item, top first"},
	{runtime.OpPushLP, "push lp", 0xb8, NoOperand, "", "w", false, false, 1, "the position in the log: bytes that this program has logged"},
	{runtime.OpPushPLP, "push plp", 0xb9, NoOperand, "", "w", false, false, 1, "the position before the last item"},
	{runtime.OpPopLP, "pop lp", 0xba, NoOperand, "w", "", false, false, 1, "takes back the items from a position on; where none begins traps"},
	{runtime.OpEndAside, "end aside", 0xbb, ObjectOperand, "", "", false, false, 1, "ends the item, which goes to a trail or a recorder and not to the host"},
	{runtime.OpKeep, "keep", 0xbc, ObjectOperand, "", "", false, false, 1, "has what waits in this thread's trail told to the host"},
	{runtime.OpForget, "forget", 0xbd, ObjectOperand, "", "", false, false, 1, "empties this thread's trail"},

	// The heap of a hit, 0xc0.
	{runtime.OpMalloc, "malloc", 0xc0, NoOperand, "w", "w", false, false, 1, "n: the handle of a block of n bytes, which is gone with the hit"},
	{runtime.OpFree, "free", 0xc1, NoOperand, "w", "", false, false, 1, "gives a block back"},
	{runtime.OpPushH8, "pushh u8", 0xc2, NoOperand, "ww", "w", false, false, 1, "handle offset: reads a byte of a block"},
	{runtime.OpPushH16, "pushh u16", 0xc3, NoOperand, "ww", "w", false, false, 1, "handle offset: reads 2 bytes of a block"},
	{runtime.OpPushH32, "pushh u32", 0xc4, NoOperand, "ww", "w", false, false, 1, "handle offset: reads 4 bytes of a block"},
	{runtime.OpPushH64, "pushh u64", 0xc5, NoOperand, "ww", "w", false, false, 1, "handle offset: reads 8 bytes of a block"},
	{runtime.OpPopH8, "poph u8", 0xc6, NoOperand, "www", "", false, false, 1, "v handle offset: writes the low byte of a word into a block"},
	{runtime.OpPopH16, "poph u16", 0xc7, NoOperand, "www", "", false, false, 1, "v handle offset: writes the low 2 bytes of a word into a block"},
	{runtime.OpPopH32, "poph u32", 0xc8, NoOperand, "www", "", false, false, 1, "v handle offset: writes the low 4 bytes of a word into a block"},
	{runtime.OpPopH64, "poph u64", 0xc9, NoOperand, "www", "", false, false, 1, "v handle offset: writes the low 8 bytes of a word into a block"},
}

// rows finds a row by operation, codes by file code; both are filled once, from Table.
var (
	rows  = indexRows(func(r *Row) int { return int(r.Op) })
	codes = indexRows(func(r *Row) int { return int(r.Code) })
	names = indexNames()
)

func indexRows(key func(*Row) int) (index [256]*Row) {
	for i := range Table {
		index[key(&Table[i])] = &Table[i]
	}
	return index
}

// indexNames finds rows by name. A name may stand twice, once with an operand and once without.
func indexNames() map[string][]*Row {
	index := make(map[string][]*Row, len(Table))
	for i := range Table {
		index[Table[i].Name] = append(index[Table[i].Name], &Table[i])
	}
	return index
}

// rowNames are the names of all commands.
func rowNames() []string {
	list := make([]string, len(Table))
	for i := range Table {
		list[i] = Table[i].Name
	}
	return list
}

// RowOf is the row of an operation, nil when there is no such operation.
func RowOf(op runtime.Op) *Row { return rows[op] }

// Effect is how many words the command pops and then pushes. For loop it is the effect of
// jumping; call has none of its own.
func (r *Row) Effect(c Command) (pops, pushes int) {
	switch r.Op {
	case runtime.OpLoop:
		return 1, 1
	case runtime.OpDupN:
		return 1, 1 + int(c.A)
	case runtime.OpDrop, runtime.OpLogWords:
		return int(c.A), 0
	}
	return len(r.In), len(r.Out)
}

// Picture is the stack picture as documentation shows it: "( w w -- w )".
func (r *Row) Picture() string {
	before, after := r.In, r.Out
	switch r.Op {
	case runtime.OpLoop:
		before, after = "w", "w or nothing"
		return "( " + before + " -- " + after + " )"
	case runtime.OpDupN:
		return "( x -- x … x )"
	case runtime.OpDrop, runtime.OpLogWords:
		return "( x1 … xn -- )"
	}
	return "( " + spaced(before) + "-- " + spaced(after) + ")"
}

// spaced sets a blank after each letter.
func spaced(letters string) string {
	var b strings.Builder
	for _, l := range letters {
		b.WriteRune(l)
		b.WriteByte(' ')
	}
	return b.String()
}

// fieldNames, contextNames, kindNames and exitNames spell the operands that are names in listings.
var (
	fieldNames = [...]string{
		runtime.FieldPid: "pid", runtime.FieldTid: "tid", runtime.FieldPpid: "ppid", runtime.FieldCPU: "cpu",
		runtime.FieldTime: "time", runtime.FieldElapsed: "elapsed", runtime.FieldPC: "pc", runtime.FieldSP: "sp",
		runtime.FieldCaller: "caller", runtime.FieldUid: "uid", runtime.FieldFault: "fault", runtime.FieldSignal: "signal",
		runtime.FieldGid: "gid", runtime.FieldErrno: "errno", runtime.FieldFrame: "frame",
		runtime.FieldResult: "result",
	}
	contextNames = [...]string{
		runtime.TextComm: "comm", runtime.TextFunc: "func", runtime.TextModule: "module", runtime.TextProbe: "probe",
	}
	kindNames = [...]string{
		runtime.ValueInt: "int", runtime.ValueUint: "uint", runtime.ValueFloat: "float", runtime.ValueText: "text",
		runtime.ValueBytes: "bytes", runtime.ValueStack: "stack", runtime.ValueBool: "bool",
	}
	exitNames = [...]string{
		runtime.ExitPlain: "plain", runtime.ExitEvent: "event", runtime.ExitHold: "hold",
		runtime.ExitDump: "dump", runtime.ExitStop: "stop", runtime.ExitFacility: "facility",
	}
	itemNames = [...]string{
		runtime.ItemLog: "log", runtime.ItemPrintf: "printf", runtime.ItemEvent: "event", runtime.ItemRange: "range",
		runtime.ItemString: "string", runtime.ItemWords: "words", runtime.ItemFault: "fault",
		runtime.ItemTrace: "trace",
	}
)
