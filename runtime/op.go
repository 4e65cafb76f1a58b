package runtime

// Op is an operation of the machine. A program file stores operations by the code in package
// compile's opcode table, whose row for each gives its name, operands, cost and documentation;
// the numbers here are private to one build.
//
// The stack picture beside each operation is ( before -- after ), top of stack on the right.
// Every operation pops what it uses. Booleans are 0 and 1. s is a text reference (see Ref), all
// else are 64-bit words. An operand in the instruction is written A (32 bits) or V (64 bits).
type Op uint8

// The operations.
const (
	OpNop Op = iota // ( -- )

	// Sequence. A is the index of the instruction jumped to.
	OpJmp  // ( -- )
	OpJz   // ( v -- ) jumps when v = 0
	OpJnz  // ( v -- )
	OpJlt  // ( v -- ) signed, against 0
	OpJle  // ( v -- )
	OpJgt  // ( v -- )
	OpJge  // ( v -- )
	OpLoop // ( n -- n-1 ) decrements, jumps while not 0; when it falls through n is popped: ( n -- )
	OpCall // ( -- ) pushes the return index on the call stack, at most MaxCalls deep
	OpSetX // ( -- ) errors of this frame, and of what it calls, go to A: once
	OpRet  // ( -- )

	// Ends of a program. A of OpExit is an ExitKind; an event's record has been logged before.
	OpExit   // ends; what was logged is committed once the probed instruction has completed
	OpAbort  // ends; what was logged is discarded
	OpRemove // ends like OpExit, and removes the probe
	OpRaise  // ( p2 p1 code -- ) raises an exception that no mask stops; without a handler the program ends with TrapUser

	// Stack.
	OpPushD  // ( -- V )
	OpPushS  // ( -- s ) constant text A of the program
	OpDup    // ( v -- v v )
	OpDupN   // ( v -- v … v ) A further copies
	OpXchg   // ( a b -- b a )
	OpOver   // ( a b -- a b a )
	OpDrop   // ( v1 … vA -- ) drops A words
	OpPick   // ( -- v ) copies the word A below the top (0: the top)
	OpPoke   // ( v -- ) stores v in the word A below the top, counted before the pop
	OpDepth  // ( -- n )
	OpPushTV // ( -- v ) scratch word A of this hit
	OpPopTV  // ( v -- )

	// Integers.
	OpAdd     // ( a b -- a+b )
	OpSub     // ( a b -- a-b )
	OpMul     // ( a b -- a*b )
	OpQuo     // ( a b -- a/b ) signed, toward zero; b = 0 traps
	OpRem     // ( a b -- a%b ) signed, sign of a; b = 0 traps
	OpUdivmod // ( a b -- a%b a/b ) unsigned; the quotient is on top; b = 0 traps
	OpSdivmod // ( a b -- a%b a/b ) signed
	OpNeg     // ( a -- -a )
	OpNot     // ( a -- ^a )
	OpAnd     // ( a b -- a&b )
	OpOr      // ( a b -- a|b )
	OpXor     // ( a b -- a^b )
	OpShl     // ( a n -- a<<n ) counts are taken modulo 64
	OpShr     // ( a n -- a>>n ) logical
	OpSar     // ( a n -- a>>n ) arithmetic
	OpRol     // ( a n -- v ) rotates
	OpRor     // ( a n -- v )
	OpEq      // ( a b -- a==b )
	OpNe      // ( a b -- a!=b )
	OpLt      // ( a b -- a<b ) signed
	OpLe      // ( a b -- a<=b )
	OpGt      // ( a b -- a>b )
	OpGe      // ( a b -- a>=b )
	OpUlt     // ( a b -- a<b ) unsigned
	OpUle     // ( a b -- a<=b )
	OpLnot    // ( a -- a==0 )
	OpBool    // ( a -- a!=0 )
	OpMin     // ( a b -- v ) signed
	OpMax     // ( a b -- v )
	OpAbs     // ( a -- v ) wraps for the smallest
	OpClz     // ( a -- n ) 64 for 0
	OpPopcnt  // ( a -- n )
	OpExt     // ( a -- v ) keeps the low A bits (A < 64) and sign-extends
	OpZext    // ( a -- v ) keeps the low A bits

	// Floats: words that hold an IEEE 754 double.
	OpFadd  // ( a b -- a+b )
	OpFsub  // ( a b -- a-b )
	OpFmul  // ( a b -- a*b )
	OpFdiv  // ( a b -- a/b ) as IEEE 754: no trap
	OpFrem  // ( a b -- a%b ) as C's fmod
	OpFneg  // ( a -- -a )
	OpFeq   // ( a b -- a==b )
	OpFne   // ( a b -- a!=b )
	OpFlt   // ( a b -- a<b )
	OpFle   // ( a b -- a<=b )
	OpFbool // ( a -- bool ) 0 for 0 and NaN
	OpItof  // ( i -- f )
	OpUtof  // ( u -- f )
	OpFtoi  // ( f -- i ) toward zero, saturating; NaN gives 0
	OpF32   // ( w -- f ) the low 32 bits as a float
	OpToF32 // ( f -- w ) rounded to a float of 32 bits

	// The target's registers and memory.
	OpPushR    // ( -- v ) register V>>16 of the file, bit width V&0xff, shift V>>8&0xff, as Lower prepared it
	OpPopR     // ( v -- ) destructive
	OpLoad8    // ( p -- v ) zero-extended; an unreadable address traps
	OpLoad16   // ( p -- v )
	OpLoad32   // ( p -- v )
	OpLoad64   // ( p -- v )
	OpLoadS8   // ( p -- v ) sign-extended
	OpLoadS16  // ( p -- v )
	OpLoadS32  // ( p -- v )
	OpLoadF32  // ( p -- f )
	OpLoadPtr  // ( p -- v ) a pointer of the target's word size
	OpStore8   // ( p v -- ) destructive
	OpStore16  // ( p v -- )
	OpStore32  // ( p v -- )
	OpStore64  // ( p v -- )
	OpStorePtr // ( p v -- ) of the target's word size
	OpStoreStr // ( p s -- ) text and a NUL behind it
	OpReadable // ( p n -- bool )
	OpWritable // ( p n -- bool )
	OpArg      // ( -- v ) argument A by calling convention
	OpArgF     // ( -- f ) floating argument A by calling convention
	OpRetval   // ( -- v )
	OpSetRet   // ( v -- ) destructive
	OpField    // ( -- v ) field A of the context (see Field)
	OpText     // ( -- s ) text field A of the context
	OpSkip     // ( v -- ) destructive: the function is not run, and returns v
	OpBias     // ( -- v ) how far the module that text A names lies from the addresses in its file
	OpSignal   // ( n -- ) destructive: signal n is sent to the thread

	// Text. Texts made here live in the scratch memory of this hit.
	OpStr     // ( p n -- s ) up to the first NUL, at most min(n, 4096) bytes; longer text is cut and marked
	OpBytes   // ( p n -- s ) n bytes
	OpStack   // ( n -- s ) up to n return addresses, 8 bytes each
	OpScmp    // ( s t -- n ) -1, 0, 1
	OpSeq     // ( s t -- bool )
	OpSprefix // ( s t -- bool ) does s begin with t
	OpScat    // ( s t -- s+t )
	OpSdec    // ( v -- s ) signed decimal digits
	OpSfloat  // ( f -- s ) as the host prints a number
	OpShex    // ( v -- s ) unsigned hexadecimal digits after 0x
	OpSlen    // ( s -- n )
	OpHash    // ( s -- v ) 64-bit FNV-1a

	// State in the arena. V is the arena offset of the object, as Lower prepared it from the
	// object's number.
	OpPushGV     // ( -- v ) shared variable
	OpPopGV      // ( v -- )
	OpAddGV      // ( v -- ) adds, atomically
	OpIncGV      // ( -- )
	OpDecGV      // ( -- )
	OpFetchAddGV // ( d -- v ) adds, atomically, and gives the value before
	OpPushGVS    // ( -- s ) shared text variable
	OpPopGVS     // ( s -- )
	OpPushLV     // ( i -- v ) element i of a variable array: DPDF's lv and gv; out of range traps
	OpPopLV      // ( v i -- )
	OpAddLV      // ( d i -- )
	OpPushThis   // ( -- v ) word A of this call's storage; traps when the call was not entered under this probe
	OpPopThis    // ( v -- )
	OpPushThisS  // ( -- s ) text at byte offset A of this call's storage
	OpPopThisS   // ( s -- )
	OpPushPT     // ( -- v ) this thread's value of a per-thread variable
	OpPopPT      // ( v -- )
	OpAddPT      // ( v -- )
	OpKeyInt     // ( v -- ) appends a part to the key of this hit
	OpKeyText    // ( s -- ) appends text, bytes or a stack; A is its ValueKind
	OpAgg        // ( v -- ) adds v to an aggregation, under the key built; the key is empty afterwards. count ignores v.
	OpMapGet     // ( -- v ) 0 when there is no such key
	OpMapGetS    // ( -- s ) "" when there is none
	OpMapHas     // ( -- bool )
	OpMapSet     // ( v -- )
	OpMapSetS    // ( s -- )
	OpMapDel     // ( -- )
	OpMapAdd     // ( d -- v ) adds, atomically, and gives the new value

	// Exceptions, and the frames they go through (exception.go). Depths are counted from the
	// entry of the routine.
	OpUnsetX     // ( -- ) takes back what OpSetX set in this frame
	OpPushX      // ( -- p2 p1 code ) the exception caught last, zeros when there was none
	OpSaveTSP    // ( -- n ) how many words lie above the entry of the routine
	OpRestoreTSP // ( n -- ) drops words until n lie there
	OpSaveSBP    // ( -- n ) the base of the stack, a depth
	OpRestoreSBP // ( n -- ) sets it
	OpPickBase   // ( -- v ) copies the word A (signed) above the base
	OpPokeBase   // ( v -- ) stores into the word A (signed) above the base
	OpTraceVars  // ( first count -- ) variables of the array at V that a trace shows for this frame
	OpTraceStack // ( first count -- ) words of the stack that a trace shows for this frame, from the top
	OpLogTrace   // ( -- ) appends a trace of the frames to the trace of this hit
	OpPurgeTrace // ( -- ) empties the trace of this hit
	OpPushSTP    // ( -- n ) bytes of trace so far
	OpPopSTP     // ( n -- ) shortens the trace to n bytes; more than there are traps

	// The log of this hit. A of OpItem is the number of the program's Format; its fields follow
	// in order.
	OpItem     // ( -- ) begins an item
	OpLogInt   // ( v -- ) appends a field
	OpLogFloat // ( f -- )
	OpLogText  // ( s -- ) text, bytes or a stack
	OpEndItem  // ( -- ) an item that does not fit is taken back whole and counted
	OpLogRange // ( n p -- ) DPDF "log mrf": a whole item of format A (ItemRange, one field): n bytes at p
	OpLogStr   // ( n p -- ) DPDF "log str": a whole item of format A (ItemString, one field): text at p, at most n bytes
	OpLogWords // ( w1 … wA -- ) DPDF "log N": a whole item of format V (ItemWords, A fields), popped: wA first
	OpPushLP   // ( -- n ) position in the log: bytes that this program has logged
	OpPushPLP  // ( -- n ) position before the last item
	OpPopLP    // ( n -- ) takes back the items from position n on; a position where no item begins traps

	// Items that wait (aside.go). V is the offset of a trail or a recorder.
	OpEndAside // ( -- ) ends the item, which goes to the object and not to the host
	OpKeep     // ( -- ) has what waits in this thread's trail told to the host
	OpForget   // ( -- ) empties this thread's trail

	// The heap of this hit (heap.go). Handles are words.
	OpMalloc  // ( n -- h ) a block of n bytes
	OpFree    // ( h -- )
	OpPushH8  // ( h off -- v ) zero-extended, little-endian
	OpPushH16 // ( h off -- v )
	OpPushH32 // ( h off -- v )
	OpPushH64 // ( h off -- v )
	OpPopH8   // ( v h off -- )
	OpPopH16  // ( v h off -- )
	OpPopH32  // ( v h off -- )
	OpPopH64  // ( v h off -- )

	NumOps // how many there are; new ones go before it
)

// ExitKind is how a program ended, and what is to be done with its event.
type ExitKind uint8

// The ways to end.
const (
	ExitPlain    ExitKind = iota // no event
	ExitEvent                    // the callback gets the record, the target goes on
	ExitHold                     // the thread is kept until the callback has returned
	ExitDump                     // an ELF core is written, the target goes on
	ExitStop                     // the process is left stopped for a debugger
	ExitFacility                 // facility number Outcome.Facility
)

// Field is a number in the context of a hit (c.pid …).
type Field uint8

// The numbers of a context.
const (
	FieldPid Field = iota
	FieldTid
	FieldPpid
	FieldCPU
	FieldTime    // monotonic nanoseconds
	FieldElapsed // in leave: nanoseconds since the call was entered
	FieldPC
	FieldSP
	FieldCaller
	FieldUid
	FieldFault // in a fault handler: the address that faulted
	FieldSignal
	FieldGid
	FieldErrno  // of the C library; asked of Surrounded
	FieldFrame  // the stack pointer as the function was entered with it: in leave that of the call that ends, elsewhere FieldSP
	FieldResult // in leave: the address that the caller passed for a result in memory, 0 where calls pass none
	NumFields
)

// TextField is a text in the context of a hit (c.comm …).
type TextField uint8

// The texts of a context.
const (
	TextComm TextField = iota
	TextFunc
	TextModule
	TextProbe
	NumTextFields
)
