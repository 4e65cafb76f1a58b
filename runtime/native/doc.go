// Package native decides which operations of a program machine code can execute in the traced process.
//
// Machine code runs at a probe without a stop. It executes a program from its start, up to the first operation that it
// cannot execute. There is a doorbell: a breakpoint before that operation. The tracer then takes over, and the
// interpreter finishes the program from a runtime.State. So nearly every program can run natively, its rare ways at the
// price of a stop, and no operation is ever executed twice.
//
// # A plan
//
// PlanOf follows a program from its start, as the machine would, with the depth of the stack in place of its words. It
// gives each operation that can be reached a Verdict: Native, or Doorbell. It does not go on behind a doorbell, because
// native code does not either. The result is a Plan: the operations with their depths, the blocks that they form, and
// how many steps were taken before each. Packages amd64 and arm64 make machine code of it; the plan itself belongs to
// no architecture.
//
// Some programs are refused as a whole: those whose stack is circular, which has no depth. A Refused error names the
// operation and the reason.
//
// # Doorbells
//
// A native operation may ring too. If the interpreter would trap at it (a division by zero, an index out of range),
// native code stops before it, and the interpreter executes it again and traps. The same happens where the program
// could run out of fuel, and where a key is not in its table and it does not insert the key itself. Only the interpreter
// traps.
//
// What a program has begun when a doorbell rings must fit a runtime.State, which has its words and what it has logged,
// but here no part of a key. A key is built natively only if everything from its first part to its use can be undone by
// forgetting it; a doorbell in between stands before the first part.
//
// # Changes
//
// Operations that change the target ring: stores to memory, new values of registers and results, signals, and functions
// that are skipped. Native code has saved registers on the stack of the thread, so a new value would be lost, and a store
// below the stack pointer could hit what it has saved. So when the interpreter has finished such a program, the thread
// does not continue in native code where the doorbell rang, but at the tail of the stub, with the registers of the place.
// The tracer runs the programs that follow.
//
// # The log
//
// Native code keeps the values that a program logs, and writes the record when the program ends. So at each operation
// the plan has to know which items have been logged, whichever way led there. A program that logs on one way only, as
// `if (c.arg0 == 5) log(c.arg1)` does, is split for that (split.go): what follows is copied for each form of the log.
//
// # Reads
//
// Reads of the target's memory are native for addresses that package ranges has in a table, and ring for others. A read
// may fault nevertheless; the tracer then lets it count as a doorbell.
//
// # Texts
//
// A text is a word on the stack, its runtime.Ref. Where it is known (Plan.Operands), native code has its bytes as
// constants. Texts that are made when the program runs lie in memory of the program, as in the interpreter's scratch
// memory, so that references and doorbells are the interpreter's: Str and Bytes copy one, and so do PushThisS from the
// storage of the call and MapGetS from a map. They can be stored in the storage of the call, logged, hashed, measured,
// compared, joined, and be parts of keys, in which only their reference is kept until the key is used. Integers are
// written as digits. All other operations on texts ring: among them those that store one in memory that threads share,
// because a thread that is left there for good would hold its lock.
//
// A log contains references to texts. The lengths of the texts decide how long it is when the record is written. Where
// it might exceed the limit, native code adds up the lengths before it logs another item. If the item does not fit,
// native code rings, and the interpreter drops the item.
//
// # The thread
//
// A thread is known by the address of its own data. C libraries have errno at an offset from there (Place.Errno).
//
// # Floats
//
// Operations on floats are native if the architecture says so, and give the interpreter's results bit by bit. Where the
// processor chooses between two operands that are not numbers, the interpreter's result depends on how Go's compiler
// ordered them; native code rings there, or wherever a result is not a number. Native code may change vector registers
// between its start and a read that faults, so a program that reads such a register has its floats left to the
// interpreter.
//
// # Steps
//
// The interpreter counts every operation. Native code must only know the count where a doorbell may ring. Mostly it is
// the same whichever way led there, and known here. If it is not, or if the program may run out of fuel, the plan is
// Counted: native code subtracts the length of each block from a counter, and rings before a block that would use up
// the fuel.
//
// # Trust
//
// Programs are verified before they are lowered. PlanOf does not rely on it: it follows what it proves and refuses what
// it cannot, so no instructions make native code read a word that was not written, or jump outside the program.
//
// # Threads
//
// A Plan is immutable. PlanOf reads the arena, whose objects do not move once they have a layout.
package native
