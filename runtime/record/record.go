package record

import (
	"gotap/runtime/outcome"
	"gotap/runtime/value"
)

// Format describes one kind of item in a program's log: its fields, and how the host uses them. It never leaves the
// tracer; an item in the log contains only the number of its format.
type Format struct {
	Kind   ItemKind
	Text   string // ItemPrintf: the format; ItemLog: unused
	Fields []Field
}

// ItemKind is the purpose of an item.
type ItemKind uint8

// The kinds of items.
const (
	ItemLog    ItemKind = iota // log(…), print(…), console.log(…): fields joined by a blank, end of line added
	ItemPrintf                 // printf(fmt, …): the filled-in format
	ItemEvent                  // the record of an exit
	ItemRange                  // DPDF "log mrf"
	ItemString                 // DPDF "log str"
	ItemWords                  // DPDF "log N"
	ItemFault                  // a fault inside a DPDF log command
	ItemTrace                  // the trace of a hit, one text of several lines
)

// Field is one field of an item. A field with the same Part as the previous one is appended to it without a
// space: a template literal logs its parts as fields of one part. Literal fields take no space in the log.
type Field struct {
	Name      string // ItemEvent: the property; dotted for nested records
	Kind      value.Kind
	Literal   string // if IsLiteral: this text, which is not in the log
	IsLiteral bool
	Part      int
}

// Flags of a record.
const (
	FlagEvent uint16 = 1 << iota // the program ended with an event
	FlagHold                     // the thread is held until Header.Hold is released
	FlagFault                    // logged although the probed instruction faulted
)

// Header begins every record in the ring. Layout: see Ring.
type Header struct {
	Size    uint32 // bytes of the record with its header, a multiple of 8
	Flags   uint16 // FlagEvent, FlagHold, …
	Kind    outcome.ExitKind
	Program uint32 // Code.ID
	Probe   uint32 // the engine's number of the logical probe
	Pid     uint32
	Tid     uint32
	Time    uint64 // monotonic nanoseconds
	Hold    uint32 // ticket for releasing a held thread
	Exit    uint32 // for ExitFacility: the number of the facility
	Comm    [16]byte
}

// Record is one committed hit as the host sees it.
type Record struct {
	Header
	Items []Item
}

// Item is one thing a program logged.
type Item struct {
	Program uint32        // the program that logged it; usually the record's
	Format  *Format       // never nil
	Values  []value.Value // one for each field of Format that is not a literal
}

// Program is what the host needs to know about a program to read its records and to report its traps.
type Program struct {
	Name    string
	Formats []Format
	Fuel    int // steps a run may take; 0: unknown

	// Where returns "file:line:col" of an instruction, and of the calls of the function that it is in. It may be nil.
	Where func(pc uint32) (place string, calls []string)
}

// FormatOf returns a format of a program, or nil if there is none.
func FormatOf(programs []Program, program, format uint32) *Format {
	if uint64(program) >= uint64(len(programs)) || uint64(format) >= uint64(len(programs[program].Formats)) {
		return nil
	}
	return &programs[program].Formats[format]
}
