package python

import (
	"bytes"
	"encoding/binary"
)

// none is the offset of what a version does not have.
const none = ^uint64(0)

// layout has the offsets in the structures of a version, in bytes.
type layout struct {
	runtime runtimeLayout
	thread  threadLayout
	frame   frameLayout
	code    codeLayout
	ascii   uint64 // size of PyASCIIObject, behind which the text is
	compact uint64 // size of PyCompactUnicodeObject
}

// runtimeLayout is of _PyRuntimeState and PyInterpreterState.
type runtimeLayout struct{ interpreters, next, threads uint64 }

// threadLayout is of PyThreadState and _PyCFrame.
type threadLayout struct {
	next, interp, id  uint64
	frame             uint64 // the innermost frame
	cframe, root      uint64 // the innermost _PyCFrame, and the one of no call
	previous, current uint64 // in _PyCFrame: the outer one, the innermost frame
}

// frameLayout is of PyFrameObject before 3.11, of _PyInterpreterFrame since.
type frameLayout struct {
	previous, code uint64
	lasti          uint64 // before 3.11: index of the instruction
	instr          uint64 // since 3.11: its address
	owner          uint64
	entry          uint64 // 3.11: whether C has called this frame
}

// codeLayout is of PyCodeObject.
type codeLayout struct {
	file, name, firstLine, lines uint64
	start                        uint64 // of its instructions
	first                        uint64 // index of the first instruction that a traceback shows
}

// layouts has the versions, by their minor number. The offsets come from the headers of 3.9.18, 3.10.13, 3.11.7, 3.12.1
// and 3.13.0; a test compiles against the headers that it finds.
var layouts = map[int]*layout{
	9: {
		runtimeLayout{32, 0, 8},
		threadLayout{next: 8, interp: 16, id: 176, frame: 24, cframe: none, root: none, previous: none, current: none},
		frameLayout{previous: 24, code: 32, lasti: 104, instr: none, owner: none, entry: none},
		codeLayout{file: 104, name: 112, firstLine: 40, lines: 120, start: none, first: none},
		48, 72,
	},
	10: {
		runtimeLayout{32, 0, 8},
		threadLayout{next: 8, interp: 16, id: 176, frame: 24, cframe: 48, root: 264, previous: 8, current: none},
		frameLayout{previous: 24, code: 32, lasti: 96, instr: none, owner: none, entry: none},
		codeLayout{file: 104, name: 112, firstLine: 40, lines: 120, start: none, first: none},
		48, 72,
	},
	11: {
		runtimeLayout{40, 0, 16},
		threadLayout{next: 8, interp: 16, id: 152, frame: none, cframe: 56, root: 336, previous: 16, current: 8},
		frameLayout{previous: 48, code: 32, lasti: none, instr: 56, owner: 69, entry: 68},
		codeLayout{file: 112, name: 128, firstLine: 72, lines: 136, start: 184, first: 168},
		48, 72,
	},
	12: {
		runtimeLayout{40, 0, 72},
		threadLayout{next: 8, interp: 16, id: 136, frame: none, cframe: 56, root: 272, previous: 8, current: 0},
		frameLayout{previous: 8, code: 0, lasti: none, instr: 56, owner: 70, entry: none},
		codeLayout{file: 112, name: 128, firstLine: 68, lines: 136, start: 192, first: 176},
		40, 56,
	},
	13: {
		runtimeLayout{632, 7264, 7344},
		threadLayout{next: 8, interp: 16, id: 152, frame: 72, cframe: none, root: none, previous: none, current: none},
		frameLayout{previous: 8, code: 0, lasti: none, instr: 56, owner: 70, entry: none},
		codeLayout{file: 112, name: 128, firstLine: 68, lines: 136, start: 200, first: 184},
		40, 56,
	},
}

// Offsets that no version has changed.
const (
	objectType = 8 // of PyObject
	varSize    = 16
	textLength = 16
	textState  = 32
	bytesData  = 32
)

// debugCookie is what _Py_DebugOffsets begins with.
const debugCookie = "xdebugpy"

// debugOffsets is the part of _Py_DebugOffsets of 3.13 that is read: 64-bit numbers, in this order.
type debugOffsets struct {
	Cookie                              [8]byte
	Version, FreeThreaded               uint64
	_, _, Interpreters                  uint64    // of the runtime
	_, _, NextInterp, Threads           uint64    // of an interpreter
	_                                   [9]uint64 // what else there is
	_, _, NextThread, Interp, Frame, ID uint64    // of a thread
	_, _, _                             uint64
	_, Previous, Code, Instr, _, Owner  uint64 // of a frame
	_, File, _, Name, Lines, FirstLine  uint64 // of code
	_, _, _, Start                      uint64
}

// maxOffset is more than any structure has.
const maxOffset = 1 << 20

// described returns the layout that an interpreter of 3.13 describes. ok is false if it describes none, or one of a
// build without the GIL, whose objects are different.
func described(base *layout, text []byte) (l *layout, ok bool) {
	var d debugOffsets
	if binary.Read(bytes.NewReader(text), binary.LittleEndian, &d) != nil || string(d.Cookie[:]) != debugCookie || d.FreeThreaded != 0 {
		return nil, false
	}
	for _, n := range []uint64{d.Interpreters, d.NextInterp, d.Threads, d.NextThread, d.Interp, d.Frame, d.ID, d.Previous, d.Code, d.Instr, d.Owner,
		d.File, d.Name, d.Lines, d.FirstLine, d.Start} {
		if n > maxOffset {
			return nil, false
		}
	}
	own := *base
	own.runtime = runtimeLayout{d.Interpreters, d.NextInterp, d.Threads}
	own.thread.next, own.thread.interp, own.thread.frame, own.thread.id = d.NextThread, d.Interp, d.Frame, d.ID
	own.frame.previous, own.frame.code, own.frame.instr, own.frame.owner = d.Previous, d.Code, d.Instr, d.Owner
	own.code.file, own.code.name, own.code.lines, own.code.firstLine, own.code.start = d.File, d.Name, d.Lines, d.FirstLine, d.Start
	return &own, true
}
