package runtime

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
	FieldErrno  // of the C library; asked of ProcessInfo
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
