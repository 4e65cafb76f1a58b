// Package dpdf reads probe definition files: the language of IBM's Dynamic Probes, for programs of users.
//
// A file goes through four stages, all in Parse. The scanner cuts lines into tokens that know where they stand. The
// preprocessor follows directives and replaces macros; a token that a macro made stands where the macro was used. The
// parser takes the header's keywords, then for each probe its keywords and its commands. The emitter writes each
// command as commands of package compile. Every probe becomes a program of its own; a label that another probe of the
// file has brings that probe's commands with it. All errors are reported at once, in the order of the file.
//
// # Where the language differs from DProbes
//
// Words have 64 bits. The operand stack has 32 of them and neither wraps nor keeps what an earlier hit left, unless the
// header says "stack = circular". Every command takes what it uses from the stack: the conditional jumps too. sub is
// the next word minus the top one, neg is the two's complement, and not the one's complement. jmpmax becomes fuel: as
// many steps as that many jumps can lead to. An error that no handler takes ends the program and is counted; what it
// had logged stays. What cannot be verified, and what only a kernel has, is refused with the reason. The whole list,
// command by command, is in the second part of commands.md of package compile.
//
// # The preprocessor
//
// It does as C's does (ISO C, 6.10), on tokens of this language; a test compares it with a C compiler's.
//
//	#define NAME …, #define NAME(a, b, ...) …     with #a, a ## b and __VA_ARGS__; #undef NAME
//	#if #elif #else #endif                        expressions of 64 bits, with defined NAME and ?:
//	#ifdef #ifndef #elifdef #elifndef NAME
//	#include "PATH", #include <PATH>              beside the file that names it, then where -I says; in <> only there
//	#error, #warning, #pragma once
//
// -D NAME=VALUE defines a macro from outside, as 1 without a value; so does -D 'NAME(a)=VALUE'. __LINE__ and __FILE__
// are there. Arguments may go on over several lines, and so may a line that ends in a backslash; but one line stays one
// command. Numbers may have C's u and l behind them, and a character in single quotes is a number. Nothing is escaped
// in quotes, so
// # takes a quoted text as it is.
//
// # Keywords
//
// The header, whose first keyword is usually name, stands before the first probe. Numbers are decimal, octal,
// hexadecimal or expressions of them.
//
//	name            module: a path, a file's name, or a quoted one
//	modtype         user; kernel and kmod are refused
//	major, id       0 to 65535; major of all probes, 0 when it does not say
//	jmpmax          0 to 65535 jumps, from which the fuel follows; without it there is the machine's
//	logmax          0 to 1024 bytes of logged data, headers and padding not counted, 0: nothing is logged; without it 1024
//	ex_logmax       0 to 1024 bytes of trace, 0: there is none; without it 1024
//	autostacktrace  yes: every exception appends to the trace
//	vars, globals   0 to 256 variables of the file (lv), of the session (gv)
//	stack           1 to 256 words, or circular; without it 32 that are not
//	dfltexit        0 to 255, kept and not acted upon: the reference does not say what it meant
//	heapmax         0 to 16384 bytes of heap; without it there is none
//	align           only 0: there is no module of the kernel
//
// A probe begins with its place, and its keywords stand before its commands.
//
//	offset          a symbol, a symbol and a distance, an address in the file, or any other place of gotap's in quotes
//	address         an address in the process
//	opcode          the first byte that the instruction must have
//	major, minor    codes of its records, which setmaj and setmin change for one
//	group, type     what --group and --type choose by
//	pass_count      hits that pass first
//	max_hits        hits after which the probe is disabled, 0: never
//	logonfault      yes: the log is kept when the probed instruction faults
//	ex_mask         0 to 0xffff, see below
//	heap            0 to 16384 bytes of heap of this probe; without it as the header says
//
// # Exceptions
//
// "sx L" sets the handler of the frame that runs: of the program, or of the routine that was called last. An error goes
// to the innermost frame that has one; those within are left. The handler serves once; while it runs its frame has
// none, unless it sets one. It starts on the stack as it was when its frame was entered, with three words on top:
//
//	code                      p1                                     p2
//	0x0001  bad address       the address
//	0x0020  division by 0
//	0x0040  operand           1 lv, 2 gv, 5 a position               its value
//	0x0100  no room in the heap               the size
//	0x0200  no such handle                    the handle                      the offset
//	0x0400  outside the block                 the handle                      the offset
//	0x1000  log overflow      bytes of the log                                only when ex_mask has it
//	0x8000  by convention     rx takes any code and parameters; no mask stops it
//
// ex_mask chooses which errors go to handlers; it is 0x0fff when the probe does not say. An error that is not in it
// ends the program. DProbes' other codes cannot happen: MAX_JMPS (fuel, which nothing catches), CALL_STACK_OVERFLOW,
// INVALID_OPCODE and RPN_STACK_WRAP (refused before), SEG_FAULT (not there).
//
// The trace shows the frames with what they chose by trace lv, gv and pv. log st appends to it, and "autostacktrace =
// yes" lets every exception do so; it is logged at the end as one item of at most ex_logmax bytes, beside logmax.
// Commands in it are numbered as gotap dis shows them.
//
// # Commands
//
// The stack is shown before and after, its top on the right. A number behind a comma that is shown in brackets may be
// left out: it is then taken from the stack.
//
//	nop                      ( -- )
//	jmp L                    ( -- )
//	jlt jle jgt jge jz jnz L ( v -- )           in DProbes v stays
//	loop L                   ( n -- n-1 )       n goes when it has become 0
//	call L, ret              ( -- )             32 deep
//	abort, remove            ( -- )
//	exit                     ( -- )
//	exit 1                   the process is stopped for a debugger; in DProbes the kernel's debugger
//	exit 2                   the thread waits until facility(2, fn) has run; in DProbes a dump of the kernel
//	exit 3                   a core of the process, which goes on
//	exit N                   the facility of that number, 4 to 255; 0 is none
//	add sub mul and or xor   ( a b -- r )       sub is a-b
//	div idiv                 ( a b -- a%b a/b ) by 0 ends the program
//	neg, not                 ( a -- r )         two's and one's complement; in DProbes neg is the latter
//	shl shr rol ror [,n]     ( v -- r )         without n: ( n v -- r )
//	pbl pbr pzl pzr [,i]     ( v -- r )         without i: ( v i -- r ), i modulo 64
//	xchg                     ( a b -- b a )
//	dup [,n]                 ( v -- v … v )     n more; without n: ( n v -- v … v ), n a constant pushed just before v
//	push sbp, pop sbp, copy sbp [,i]            from the base up; -1 is below it; without i: as tsp
//	save tsp, save sbp       ( -- p )           counted from the entry of the routine
//	restore tsp, restore sbp ( p -- )           tsp: p is known before the hit
//	ros,n                    ( v1 … vn -- )
//	push tsp, pop tsp, copy tsp [,i]            without i: a constant pushed just before
//	push r, pop r, push u, pop u,REG            r and u are the same; pop needs --unsafe
//	                                            esp and eip are for 32-bit programs; sp and pc are whole in all
//	push r, push u,FLOAT     ( -- v )           fcw fsw ftw fip fdp mxcsr, d0 … fpscr on ARM, fpcr fpsr on AArch64
//	push r, push u,WIDE      ( -- high low )    fr0 … fr7, xmm0 …, v0 … on AArch64; they are not popped
//	push d,N                 ( -- N )
//	push mem,u8 u16 u32 u64  ( p -- v )         u64 is one word; a bad address ends the program
//	pop mem,u8 u16 u32 u64   ( p v -- )         needs --unsafe
//	push pid, push procid    ( -- v )           process, processor
//	push wid                 ( -- -64 )
//	vfy r, vfy rw            ( p -- 0 or 1 )    0 is accessible as the memory is mapped; nothing is written
//	push lv, push gv [,i]    ( -- v )           without i: ( i -- v )
//	pop lv, pop gv [,i]      ( v -- )           without i: ( i v -- )
//	move lv, move gv [,i]    ( v -- v )         without i: ( v i -- v )
//	inc lv, dec lv, inc gv, dec gv [,i]         atomic; without i: ( i -- )
//	log str, log mrf         ( n p -- )
//	log [N]                  ( wN … w1 -- )     without N: a constant pushed just before
//	log lv, log gv[,FIRST,N] ( -- )             without them: two constants pushed just before
//	push lp, push plp        ( -- p )           position in the log now, and before the last item
//	pop lp                   ( p -- )           takes back what was logged from there on
//	sx L, ux                 ( -- )             set and unset the handler
//	rx                       ( p2 p1 code -- )  raises an exception
//	push x                   ( -- p2 p1 code )  the last one
//	log st, purge st         ( -- )             append the frames to the trace, empty it
//	trace lv, gv, pv         ( first n -- )     what the trace shows of this frame
//	push stp, pop stp        ( -- p ), ( p -- ) bytes of trace
//	setmin, setmaj [,N]      ( -- )             without N: ( N -- )
//	malloc                   ( n -- h )         a block of the heap, which is gone with the hit; at most 64 at a time
//	free                     ( h -- )
//	pushh,u8 u16 u32 u64[,n] ( h off -- v1 … vn ) n numbers in a row, 1 without n; u64 is one word
//	poph,u8 u16 u32 u64[,n]  ( v1 … vn h off -- )
//
// Refused: suspend and resume, alloc gv and free gv, callk, push task, seg2lin and registers of the kernel, push io and
// pop io.
package dpdf
