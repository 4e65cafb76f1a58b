package native

import (
	"encoding/binary"

	"gotap/runtime"
	"gotap/runtime/record"
)

// Bell is a doorbell: a breakpoint in a stub, before an operation that native code does not execute. It rings with a
// SIGTRAP.
//
// The tracer calls State for the interpreter and Restore for the registers as they were at the place, which the
// interpreter's Context must have. When the interpreter has finished the program, the thread continues at Resume, with
// the registers that it had when the doorbell rang. After a predicate that let the hit pass, it continues at Pass
// instead: native code then asks the gate and runs the program. After a program that Changes the target, the thread can
// continue at the tail, with the registers of the place as they are then.
//
// If no tracer is left, a handler replaces the breakpoint by a nop. Behind it stands a way to the tail, on which no
// other program runs.
type Bell struct {
	Offset  int    // of the breakpoint in the code of the stub
	Program int    // index of the program, as given to Emit
	When    bool   // it is in the predicate
	PC      uint32 // the operation
	Resume  int    // offset at which the thread continues: the next program, or the tail
	Pass    int    // When: offset at which it continues if the hit passed

	Reads *ReadOf   // it rings for memory that the table of ranges does not have; nil: for something else
	Wakes bool      // a record has been written, and the reader of the ring is to be woken: nothing else
	Call  CallState // what the program has to do with a call

	Below    int                               // bytes of the stack pointer below its value at the place
	SP       int                               // index of the stack pointer in the register file
	Saved    []Saved                           // registers that have lost their values; all others have those from the place
	Flags    int                               // offset from the stack pointer of the word with the flags (see Restore); -1: nobody needs the flags
	SetFlags func(regs []uint64, saved uint64) // Flags: replaces the flags among registers by those that a word holds
	Stack    []Word                            // the operand stack, its lowest word first
	Temps    []Word                            // scratch words

	Number uint32    // that of the program, for its log
	Log    *Log      // what it has logged; nil: it does not matter
	Fields []Word    // of the log
	Texts  KeptTexts // that the program has made
	Frame  Word      // InCall: the address of the call's frame
	Time   Word      // the time that the program has read last; 0: none
	Steps  uint64    // operations executed, plus Left
	Left   *Word     // the counter of steps; nil: there is none
}

// ReadOf is what a program is about to read, or what the instruction at the place is about to access.
type ReadOf struct {
	Addr    Word
	Size    int  // in bytes
	Operand bool // it is what the instruction at the place accesses
	Writes  bool // Operand: it is written
}

// Operand is the memory that an instruction accesses: Size bytes, 1 to 8, at the sum of two registers and a number.
type Operand struct {
	Base, Index int    // in the register file; -1: none
	Scale       uint8  // how far Index is shifted to the left, 0 to 3
	Disp        uint64 // the number
	Size        int
	Writes      bool // else it only reads
}

// Address returns where it is to be read. See Bell.State for the arguments.
func (f *ReadOf) Address(regs, frame []uint64) uint64 { return f.Addr.read(regs, frame) }

// CallState says what a program has to do with a call when its doorbell rings.
type CallState uint8

// The states.
const (
	NoCall     CallState = iota
	InCall               // the call has a frame: see FrameOffset
	EntersCall           // native code cannot record that the call begins. Nothing of the program has been executed
	LeavesCall           // native code does not find the frame of a call that may end. Nothing has been executed; it may not even have been seen to begin
)

// FrameOffset returns where the frame of the call lies, as an offset from the arena, which the target maps at an
// address.
func (d *Bell) FrameOffset(regs, frame []uint64, arena uint64) uint64 {
	return d.Frame.read(regs, frame) - arena
}

// Saved is where the value of a register lies that it had at the place.
type Saved struct {
	Register int // index in the register file
	Offset   int // bytes above the stack pointer, a multiple of 8
}

// Word is where a word of a program lies when a doorbell rings.
type Word struct {
	Kind  WordKind
	Value uint64 // the constant, the index in the register file, or the bytes above the stack pointer, a multiple of 8
}

// WordKind says how Word.Value is meant.
type WordKind uint8

// The kinds of words.
const (
	Constant WordKind = iota
	Register
	Memory
)

// read returns the word. frame are the words from the stack pointer upwards.
func (w Word) read(regs, frame []uint64) uint64 {
	switch w.Kind {
	case Register:
		return regs[w.Value]
	case Memory:
		return frame[w.Value/8]
	}
	return w.Value
}

// FrameWords returns how many words of the stack, from the stack pointer upwards, State and Restore need.
func (d *Bell) FrameWords() int { return d.Below / 8 }

// Written returns how many bytes the code has written to the stack, above the stack pointer when the doorbell rings.
// What is above them, below that of the place, is the program's: the red zone of x86-64.
func (d *Bell) Written() int {
	n := 0
	for _, s := range d.Saved {
		n = max(n, s.Offset+8)
	}
	if d.Flags >= 0 {
		n = max(n, d.Flags+8)
	}
	return n
}

// State writes the program to s, for Machine.Resume. regs are the registers with which the doorbell rang, in the order
// of the register file; frame are the words on the stack. It reuses the memory of s and allocates nothing if that
// suffices.
func (d *Bell) State(regs, frame []uint64, s *runtime.State) {
	text := d.Texts.appendAll(s.Text[:0], regs, frame)
	stack, temps := s.Stack[:0], s.Temps[:0]
	for _, w := range d.Stack {
		stack = append(stack, w.read(regs, frame))
	}
	for _, w := range d.Temps {
		temps = append(temps, w.read(regs, frame))
	}
	steps := d.Steps
	if d.Left != nil {
		steps -= d.Left.read(regs, frame)
	}
	log := s.Log
	if log = (record.Part{Items: log.Items[:0], Item: log.Item[:0]}); d.Log != nil {
		d.Log.Write(&log, d.Number, func(i int) uint64 { return d.Fields[i].read(regs, frame) }, &Texts{Constants: d.Texts.Constants, Made: text})
	}
	*s = runtime.State{PC: d.PC, Steps: uint32(steps), Depth: len(stack), Stack: stack, Temps: temps, Log: log, Text: text,
		Time: d.Time.read(regs, frame)}
}

// Restore replaces the registers with which the doorbell rang by those from the place, except for the program counter.
// If the flags were saved, it restores them.
func (d *Bell) Restore(regs, frame []uint64) {
	for _, s := range d.Saved {
		regs[s.Register] = frame[s.Offset/8]
	}
	if d.Flags >= 0 {
		d.SetFlags(regs, frame[d.Flags/8])
	}
	regs[d.SP] += uint64(d.Below)
}

// KeptTexts is where texts lie that a program has made when a doorbell rings.
type KeptTexts struct {
	Used      Word // how many bytes
	At        int  // bytes above the stack pointer
	Bytes     int  // at most
	Constants []Text
}

// appendAll appends the memory of texts.
func (k *KeptTexts) appendAll(to []byte, regs, frame []uint64) []byte {
	if k.Bytes == 0 {
		return to
	}
	start := len(to)
	n := int(min(k.Used.read(regs, frame), uint64(k.Bytes)))
	for i := 0; i < n; i += 8 {
		to = binary.LittleEndian.AppendUint64(to, frame[(k.At+i)/8])
	}
	return to[:start+n]
}
