package runtime

// ObjectKind is what an object in the arena is.
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

// Full is what happens to a new key when a keyed object is full.
type Full uint8

// The policies.
const (
	FullDrop  Full = iota // drop what was to be added, and count it
	FullEvict             // forget the key written longest ago, and count it
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

	// ValueAny in Refine: the use does not tell (m.has(k), m.delete(k); a key of which only the place knows the type).
	ValueAny ValueKind = 0xff
)

// Object declares one object. Declaring gives its number; the compiler's programs name objects
// by number.
type Object struct {
	Name         string // as the script calls it; may be ""
	Kind         ObjectKind
	Keys         int // parts of the key; 0: not keyed. -1: decided by the first use the compiler sees
	Max          int // keys held at most, threads of a trail, records of a recorder; 0: DefaultKeys
	Full         Full
	Init         int64      // KindInt, KindPerThread; KindSeries: what the wall clock, in nanoseconds since 1970, is ahead of the monotonic one
	Text         string     // KindText: initial text
	Size         int        // KindArray: words; KindTrail, KindRecorder: bytes; KindSeries: intervals
	Lo, Hi, Step int64      // KindLhist; KindSeries: Step is the interval in nanoseconds
	Of           ObjectKind // KindSeries: what an interval holds, KindSum, KindMin, KindMax or KindAvg
	Bits         int        // KindHist: every power of two is parted into 1<<Bits equal buckets; at most MaxBits
	Value        ValueKind  // KindMap: ValueInt or ValueText, decided by the compiler
}

// MaxBits is the finest division of a histogram: buckets are as wide as a 32nd of where they begin.
const MaxBits = 5

// DefaultKeys is how many keys a map or keyed aggregation holds when nothing is said.
const DefaultKeys = 4096
