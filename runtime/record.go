package runtime

// Format describes one kind of item in a program's log: what the fields that follow are, and what the host makes of them.
// It never leaves the tracer; an item in the log carries only the number of its format.
type Format struct {
	Kind   ItemKind
	Text   string // ItemPrintf: the format; ItemLog: unused
	Fields []RecordField
}

// ItemKind is what an item is for.
type ItemKind uint8

// The kinds of items.
const (
	ItemLog    ItemKind = iota // log(…), print(…), console.log(…): fields joined by a blank, end of line added
	ItemPrintf                 // printf(fmt, …): as given
	ItemEvent                  // the record of an exit
	ItemRange                  // DPDF "log mrf"
	ItemString                 // DPDF "log str"
	ItemWords                  // DPDF "log N"
	ItemFault                  // a fault inside a DPDF log command
)

// RecordField is one field of an item. A field with the same Part as the one before it is concatenated with it without a
// blank: a template literal logs its parts as fields of one part. Literal fields take no room in the log.
type RecordField struct {
	Name      string // ItemEvent: the property; dotted for nested records
	Kind      ValueKind
	Literal   string // when IsLiteral: this text, nothing in the log
	IsLiteral bool
	Part      int
}

// Header begins every record in the ring. Layout: see Ring.
type Header struct {
	Size    uint32 // bytes of the record with its header, a multiple of 8
	Flags   uint16 // RecordEvent, RecordHold, …
	Kind    ExitKind
	Program uint32 // Code.ID
	Probe   uint32 // the engine's number of the logical probe
	Pid     uint32
	Tid     uint32
	Time    uint64 // monotonic nanoseconds
	Hold    uint32 // ticket to release a held thread with
	Comm    [16]byte
}
