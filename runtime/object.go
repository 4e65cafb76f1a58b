package runtime

// ObjectKind is the kind of an object in the arena.
type ObjectKind uint8

// The kinds of objects.
const (
	KindInt       ObjectKind = iota // shared 64-bit variable
	KindText                        // shared text variable, at most DefaultText bytes
	KindArray                       // DPDF variables: Size words
	KindPerThread                   // a word for each thread, initially Init
	KindTrail                       // speculation(): records of each thread, Size bytes, that wait to be committed
	KindRecorder                    // recorder(): the last Max records of all threads, Size bytes each
	KindMap                         // map(): key → word or text
	KindCount
	KindSum
	KindMin
	KindMax
	KindAvg
	KindStats
	KindHist   // powers of two
	KindLhist  // Lo, Hi, Step
	KindSeries // Of, for each of the last Size intervals of Step nanoseconds; see series.go
)

// Full is the policy for a new key in a full keyed object.
type Full uint8

// The policies.
const (
	FullDrop  Full = iota // drop the addition, and count it
	FullEvict             // evict the key written longest ago, and count it
	FullError             // end the program with an error, and count it
)

// ValueKind is the type of a key part, a field of a record, or a map's value.
type ValueKind uint8

// The kinds of values that leave the machine.
const (
	ValueInt  ValueKind = iota
	ValueUint           // printed unsigned: pointers, u64 where the type is known
	ValueFloat
	ValueText
	ValueBytes
	ValueStack // return addresses
	ValueBool

	// ValueAny in Refine: the use does not determine the type (m.has(k), m.delete(k); a key whose type only the place
	// knows).
	ValueAny ValueKind = 0xff
)

// Object declares one object. Declare returns its ID, by which the compiler's programs name it.
type Object struct {
	Name         string // name in the script; may be ""
	Kind         ObjectKind
	Keys         int // parts of the key; 0: unkeyed. -1: determined by the first use that the compiler sees
	Max          int // maximum number of keys, threads of a trail, records of a recorder; 0: DefaultKeys
	Full         Full
	Init         int64      // KindInt, KindPerThread; KindSeries: wall clock (ns since 1970) minus monotonic clock
	Text         string     // KindText: initial text
	Size         int        // KindArray: words; KindTrail, KindRecorder: bytes; KindSeries: intervals
	Lo, Hi, Step int64      // KindLhist; KindSeries: Step is the interval in nanoseconds
	Of           ObjectKind // KindSeries: kind of an interval: KindSum, KindMin, KindMax or KindAvg
	Bits         int        // KindHist: every power of two is divided into 1<<Bits equal buckets; at most MaxBits
	Value        ValueKind  // KindMap: ValueInt or ValueText, decided by the compiler
}

// MaxBits is the finest division of a histogram: the width of a bucket is 1/32 of its lower bound.
const MaxBits = 5

// DefaultKeys is the default maximum number of keys of a map or keyed aggregation.
const DefaultKeys = 4096
