package outcome

// ExitKind is how a program ended, and what happens to its event.
type ExitKind uint8

// The ways to end.
const (
	ExitPlain    ExitKind = iota // no event
	ExitEvent                    // the callback gets the record, the target continues
	ExitHold                     // the thread is kept until the callback has returned
	ExitDump                     // an ELF core is written, the target continues
	ExitStop                     // the process is left stopped for a debugger
	ExitFacility                 // facility number Outcome.Facility
)

// Outcome describes how one run of a program ended.
type Outcome struct {
	Kind     ExitKind
	Abort    bool // discard the log
	Remove   bool // remove the probe
	Trap     Trap
	Addr     uint64 // TrapRead, TrapWrite: the address
	PC       uint32 // the instruction that ended the program
	Steps    uint32
	Facility uint32
	Skip     bool // skip the function, with result SkipRet
	SkipRet  uint64
	Signal   uint8

	SkipPC, SignalPC uint32 // the operations that requested it
}
