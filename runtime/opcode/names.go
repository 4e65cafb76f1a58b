// Code generated from table.go by go generate; DO NOT EDIT.

package opcode

// The operations, with their stack pictures and what they do.
const (
	Nop         Op = iota // ( -- ) does nothing
	Jmp                   // ( -- ) jumps
	Jlt                   // ( w -- ) pops a word, jumps when it is below 0
	Jle                   // ( w -- ) pops a word, jumps when it is 0 or below
	Jgt                   // ( w -- ) pops a word, jumps when it is above 0
	Jge                   // ( w -- ) pops a word, jumps when it is 0 or above
	Jz                    // ( w -- ) pops a word, jumps when it is 0
	Jnz                   // ( w -- ) pops a word, jumps when it is not 0
	Loop                  // ( w -- w ) decrements the top word; jumps while it is not 0, else pops it
	Call                  // ( -- ) calls a routine, at most 32 deep
	Ret                   // ( -- ) returns from a routine
	Abort                 // ( -- ) ends; the log is discarded
	Remove                // ( -- ) ends; the log is kept, the probe removed
	Exit                  // ( -- ) ends; the log is committed when the probed instruction has completed
	SetX                  // ( -- ) sets the handler of this frame's exceptions, for once
	UnsetX                // ( -- ) takes back what sx set
	PushD                 // ( -- w ) a constant word
	PushS                 // ( -- s ) a constant text
	Dup                   // ( x -- x x ) copies the top word
	DupN                  // ( x -- x x… ) copies the top word n times more
	Xchg                  // ( x x -- x x ) exchanges the two top words
	Over                  // ( x x -- x x x ) copies the word below the top
	Drop                  // ( x… -- ) drops n words
	Pick                  // ( -- x ) copies the word n below the top
	Poke                  // ( x -- ) pops a word and stores it n below the top, counted before the pop
	Depth                 // ( -- w ) the number of words on the stack
	PushTV                // ( -- x ) a scratch word of this hit
	PopTV                 // ( x -- ) pops into a scratch word
	SaveTSP               // ( -- w ) the number of words above the entry of the routine
	RestoreTSP            // ( w -- ) drops words until that many are left
	SaveSBP               // ( -- w ) the base of the stack, counted like tsp
	RestoreSBP            // ( w -- ) sets the base of the stack; ret gives the caller's back
	Add                   // ( w w -- w ) a b gives a+b
	Sub                   // ( w w -- w ) a b gives a-b
	Mul                   // ( w w -- w ) a b gives a*b
	Quo                   // ( w w -- w ) a b gives a/b, signed, toward zero; by 0 traps
	Rem                   // ( w w -- w ) a b gives a%b with the sign of a; by 0 traps
	Udivmod               // ( w w -- w w ) a b gives a%b a/b, unsigned, quotient on top; by 0 traps
	Sdivmod               // ( w w -- w w ) a b gives a%b a/b, signed, quotient on top; by 0 traps
	Neg                   // ( w -- w ) two's complement
	Not                   // ( w -- w ) one's complement
	And                   // ( w w -- w ) bitwise and
	Or                    // ( w w -- w ) bitwise or
	Xor                   // ( w w -- w ) bitwise exclusive or
	Shl                   // ( w w -- w ) a n gives a<<n; n modulo 64
	Shr                   // ( w w -- w ) a n gives a>>n, logical; n modulo 64
	Sar                   // ( w w -- w ) a n gives a>>n, arithmetic; n modulo 64
	Rol                   // ( w w -- w ) a n rotates a left; n modulo 64
	Ror                   // ( w w -- w ) a n rotates a right; n modulo 64
	Eq                    // ( w w -- w ) a b gives a==b
	Ne                    // ( w w -- w ) a b gives a!=b
	Lt                    // ( w w -- w ) a b gives a<b, signed
	Le                    // ( w w -- w ) a b gives a<=b, signed
	Gt                    // ( w w -- w ) a b gives a>b, signed
	Ge                    // ( w w -- w ) a b gives a>=b, signed
	Ult                   // ( w w -- w ) a b gives a<b, unsigned
	Ule                   // ( w w -- w ) a b gives a<=b, unsigned
	Lnot                  // ( w -- w ) 1 for 0, else 0
	Bool                  // ( w -- w ) 0 for 0, else 1
	Min                   // ( w w -- w ) the smaller, signed
	Max                   // ( w w -- w ) the larger, signed
	Abs                   // ( w -- w ) absolute value; wraps for the smallest integer
	Clz                   // ( w -- w ) leading zero bits, 64 for 0
	Popcnt                // ( w -- w ) bits that are 1
	Ext                   // ( w -- w ) keeps the low n bits and extends their sign
	Zext                  // ( w -- w ) keeps the low n bits
	Within                // ( w -- w ) an index: traps unless it is below n, unsigned
	PickBase              // ( -- x ) copies the word n above the base, 0 being the first
	PokeBase              // ( x -- ) pops a word and stores it n above the base
	Fadd                  // ( w w -- w ) a b gives a+b
	Fsub                  // ( w w -- w ) a b gives a-b
	Fmul                  // ( w w -- w ) a b gives a*b
	Fdiv                  // ( w w -- w ) a b gives a/b as IEEE 754: no trap
	Frem                  // ( w w -- w ) a b gives a%b as C's fmod
	Fneg                  // ( w -- w ) the sign changed
	Feq                   // ( w w -- w ) a b gives a==b
	Fne                   // ( w w -- w ) a b gives a!=b
	Flt                   // ( w w -- w ) a b gives a<b
	Fle                   // ( w w -- w ) a b gives a<=b
	Fbool                 // ( w -- w ) 0 for 0 and NaN, else 1
	Itof                  // ( w -- w ) a signed integer as a float
	Utof                  // ( w -- w ) an unsigned integer as a float
	Ftoi                  // ( w -- w ) toward zero, saturating; NaN gives 0
	F32                   // ( w -- w ) the low 32 bits as a float
	ToF32                 // ( w -- w ) a float rounded to 32 bits, as they are in memory
	Narrow                // ( w w -- w ) l h: a number of 16 bytes as a word; an integer that does not fit traps
	Raise                 // ( w w w -- ) p2 p1 code: raises an exception; ends without a handler
	PushX                 // ( -- w w w ) p2 p1 code of the exception caught last, zeros for none
	TraceVars             // ( w w -- ) i n: traces show n variables of an array from i on for this frame
	TraceStack            // ( w w -- ) i n: traces show n words of the stack for this frame, from i below the top on
	LogTrace              // ( -- ) appends all frames to the trace of this hit
	PurgeTrace            // ( -- ) empties the trace of this hit
	PushSTP               // ( -- w ) bytes of trace so far
	PopSTP                // ( w -- ) shortens the trace to n bytes; more than there are traps
	PushR                 // ( -- w ) a register at the probe
	PopR                  // ( w -- ) changes a register
	Load8                 // ( w -- w ) a byte at an address; an unreadable one traps
	Load16                // ( w -- w ) 2 bytes at an address
	Load32                // ( w -- w ) 4 bytes at an address
	Load64                // ( w -- w ) 8 bytes at an address
	LoadS8                // ( w -- w ) a signed byte at an address
	LoadS16               // ( w -- w ) 2 signed bytes at an address
	LoadS32               // ( w -- w ) 4 signed bytes at an address
	LoadF32               // ( w -- w ) a float of 4 bytes at an address
	LoadPtr               // ( w -- w ) a pointer of the target's size at an address
	Store8                // ( w w -- ) p v writes a byte; an unwritable address traps
	Store16               // ( w w -- ) p v writes 2 bytes
	Store32               // ( w w -- ) p v writes 4 bytes
	Store64               // ( w w -- ) p v writes 8 bytes
	Readable              // ( w w -- w ) p n: can the n bytes at p be read
	Writable              // ( w w -- w ) p n: can the n bytes at p be written
	Arg                   // ( -- w ) an argument by calling convention
	ArgF                  // ( -- w ) a floating argument by calling convention
	Retval                // ( -- w ) the result of the function
	SetRet                // ( w -- ) changes the result of the function
	Field                 // ( -- w ) a number of the context
	Text                  // ( -- s ) a text of the context
	Skip                  // ( w -- ) the function is not run, and returns the word popped
	Signal                // ( w -- ) sends the thread a signal
	StorePtr              // ( w w -- ) p v writes a pointer of the target's size
	StoreStr              // ( w s -- ) p s writes text and a NUL
	Bias                  // ( -- w ) how far a module lies from the addresses in its file
	Element               // ( w w -- w ) p i: address of element i of the container at p, laid out as the text says; 0 where it is not there
	Str                   // ( w w -- s ) p n: text at p up to its NUL, at most n bytes
	Bytes                 // ( w w -- s ) p n: the n bytes at p
	Stack                 // ( w -- s ) up to n return addresses
	Scmp                  // ( s s -- w ) -1, 0 or 1
	Seq                   // ( s s -- w ) are the texts equal
	Sprefix               // ( s s -- w ) s t: does s begin with t
	Scat                  // ( s s -- s ) s t: both, one after the other
	Sdec                  // ( w -- s ) signed decimal digits
	Sudec                 // ( w -- s ) decimal digits of an unsigned word
	Sfloat                // ( w -- s ) a float's digits
	Shex                  // ( w -- s ) hexadecimal digits of an unsigned word, after 0x
	Swide                 // ( w w -- s ) l h: the digits of a number of 16 bytes
	Sflags                // ( w -- s ) the names of the bits that are set, which the text has: A=1 B=2
	Units                 // ( w w w -- s ) p k n: text at p of at most k units of 1, 2 or 4 bytes, as at most n bytes of UTF-8
	Slen                  // ( s -- w ) length in bytes
	Hash                  // ( s -- w ) 64-bit FNV-1a
	PushGV                // ( -- w ) a shared variable
	PopGV                 // ( w -- ) sets a shared variable
	AddGV                 // ( w -- ) adds to a shared variable, atomically
	IncGV                 // ( -- ) adds 1 to a shared variable, atomically
	DecGV                 // ( -- ) subtracts 1 from a shared variable, atomically
	FetchAddGV            // ( w -- w ) adds to a shared variable, atomically, and gives the value before
	PushGVS               // ( -- s ) a shared text variable
	PopGVS                // ( s -- ) sets a shared text variable
	PushLV                // ( w -- w ) i: element i of a variable array; out of range traps
	PopLV                 // ( w w -- ) v i: sets element i
	AddLV                 // ( w w -- ) d i: adds d to element i, atomically
	PushThis              // ( -- w ) a word of this call's storage; traps when its entry was not seen
	PopThis               // ( w -- ) sets a word of this call's storage
	PushThisS             // ( -- s ) a text of this call's storage
	PopThisS              // ( s -- ) sets a text of this call's storage
	PushPT                // ( -- w ) this thread's value of a per-thread variable
	PopPT                 // ( w -- ) sets this thread's value
	AddPT                 // ( w -- ) adds to this thread's value
	KeyInt                // ( w -- ) appends a number to the key of this hit
	KeyText               // ( s -- ) appends text, bytes or a stack to the key of this hit
	Agg                   // ( w -- ) adds a word to an aggregation, under the key built
	MapGet                // ( -- w ) the word under the key built, 0 when there is none
	MapGetS               // ( -- s ) the text under the key built, empty when there is none
	MapHas                // ( -- w ) is there such a key
	MapSet                // ( w -- ) sets the word under the key built
	MapSetS               // ( s -- ) sets the text under the key built
	MapDel                // ( -- ) forgets the key built
	MapAdd                // ( w -- w ) adds under the key built, atomically, and gives the new value
	AggFloat              // ( w -- ) adds a float to an aggregation, under the key built
	Item                  // ( -- ) begins an item of the log
	LogInt                // ( w -- ) appends an integer field
	LogFloat              // ( w -- ) appends a float field
	LogText               // ( s -- ) appends a field of text, bytes or a stack
	EndItem               // ( -- ) ends the item; one that does not fit is taken back and counted
	LogRange              // ( w w -- ) n p: an item of the n bytes at p
	LogStr                // ( w w -- ) n p: an item of the text at p, at most n bytes
	LogWords              // ( w… -- ) pops n words into an item, top first
	PushLP                // ( -- w ) the position in the log: bytes that this program has logged
	PushPLP               // ( -- w ) the position before the last item
	PopLP                 // ( w -- ) takes back the items from a position on; where none begins traps
	EndDeferred           // ( -- ) ends the item, which goes to a trail or a recorder and not to the host
	Keep                  // ( -- ) sends the records in this thread's trail to the host
	Forget                // ( -- ) empties this thread's trail
	Malloc                // ( w -- w ) n: the handle of a block of n bytes, which is freed at the end of the hit
	Free                  // ( w -- ) gives a block back
	PushH8                // ( w w -- w ) handle offset: reads a byte of a block
	PushH16               // ( w w -- w ) handle offset: reads 2 bytes of a block
	PushH32               // ( w w -- w ) handle offset: reads 4 bytes of a block
	PushH64               // ( w w -- w ) handle offset: reads 8 bytes of a block
	PopH8                 // ( w w w -- ) v handle offset: writes the low byte of a word into a block
	PopH16                // ( w w w -- ) v handle offset: writes the low 2 bytes of a word into a block
	PopH32                // ( w w w -- ) v handle offset: writes the low 4 bytes of a word into a block
	PopH64                // ( w w w -- ) v handle offset: writes the low 8 bytes of a word into a block

	NumOps // how many there are
)
