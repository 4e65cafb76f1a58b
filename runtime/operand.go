package runtime

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
	FieldErrno   // of the C library; requested from ProcessInfo
	FieldFrame   // the stack pointer at the function's entry: in leave that of the ending call, elsewhere FieldSP
	FieldResult  // in leave: the address that the caller passed for a result in memory, 0 if the call passes none
	FieldRunTime // nanoseconds that the thread has run; requested from ProcessInfo
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
	TextCgroup
	NumTextFields
)

// OfPlace reports whether a text is the same at every hit of a program at a place.
func (f TextField) OfPlace() bool { return f == TextFunc || f == TextModule || f == TextProbe }
