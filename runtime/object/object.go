package object

import (
	"fmt"
	"time"

	"gotap/runtime/value"
)

// Kind is the kind of an object in the arena.
type Kind uint8

// The kinds of objects.
const (
	KindInt       Kind = iota // shared 64-bit variable
	KindText                  // shared text variable, at most DefaultText bytes
	KindArray                 // DPDF variables: Size words
	KindPerThread             // a word for each thread, initially Init
	KindTrail                 // speculation(): records of each thread, Size bytes, that wait to be committed
	KindRecorder              // recorder(): the last Max records of all threads, Size bytes each
	KindMap                   // map(): key → word or text
	KindCount
	KindSum
	KindMin
	KindMax
	KindAvg
	KindStats
	KindHist   // powers of two
	KindLhist  // Lo, Hi, Step
	KindSeries // Of, for each of the last Size intervals of Step nanoseconds; see Interval
)

// Full is the policy for a new key in a full keyed object.
type Full uint8

// The policies.
const (
	FullDrop  Full = iota // drop the addition, and count it
	FullEvict             // evict the key written longest ago, and count it
	FullError             // end the program with an error, and count it
)

// Object declares one object. Declare returns its ID, by which the compiler's programs name it.
type Object struct {
	Name         string // name in the script; may be ""
	Library      bool   // a map of a module of the standard library, which tells people nothing
	Kind         Kind
	Keys         int // parts of the key; 0: unkeyed. -1: determined by the first use that the compiler sees
	Max          int // maximum number of keys, threads of a trail, records of a recorder; 0: DefaultKeys
	Full         Full
	Init         int64      // KindInt, KindPerThread; KindSeries: wall clock (ns since 1970) minus monotonic clock
	Text         string     // KindText: initial text
	Size         int        // KindArray: words; KindTrail, KindRecorder: bytes; KindSeries: intervals
	Lo, Hi, Step int64      // KindLhist; KindSeries: Step is the interval in nanoseconds
	Of           Kind       // KindSeries: kind of an interval: KindSum, KindMin, KindMax or KindAvg
	Bits         int        // KindHist: every power of two is divided into 1<<Bits equal buckets; at most MaxBits
	Value        value.Kind // KindMap: value.KindInt or value.KindText, decided by the compiler; KindInt: KindBool of a truth value
}

// MaxBits is the finest division of a histogram: the width of a bucket is 1/32 of its lower bound.
const MaxBits = 5

// DefaultKeys is the default maximum number of keys of a map or keyed aggregation.
const DefaultKeys = 4096

// Limits of objects.
const (
	MaxKeys       = 1 << 20  // keys of one object
	DefaultTrail  = 16 << 10 // bytes a thread's trail holds
	MaxTrail      = 1 << 20
	MaxThreads    = 16384 // threads that a per-thread variable or a trail can distinguish
	TrailThreads  = 1024  // number of threads that have a trail at a time, unless Max is set
	DefaultEvents = 1024  // records of a recorder
	MaxEvents     = 1 << 20
	RecordBytes   = 512    // bytes of one such record, with its header
	MaxIntervals  = 10_000 // of a time series
	minInterval   = int64(100 * time.Microsecond)
	defaultSeries = 64 // default number of keys of a time series
)

// kindNames are the names of the kinds in the script language.
var kindNames = [...]string{"variable", "text", "variables", "perThread", "trail", "recorder", "map", "count", "sum", "min", "max", "avg", "stats", "hist", "lhist", "tseries"}

// String returns the kind's name in the script language.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", k)
}

// Label returns the name of an object for messages.
func (o *Object) Label() string {
	if o.Name == "" {
		return "a " + o.Kind.String()
	}
	return o.Kind.String() + " " + o.Name
}

// Interval returns the number of the interval that contains a time in monotonic nanoseconds. Intervals are aligned to
// the wall clock: intervals of one second begin with the second.
func (o *Object) Interval(at int64) int64 { return (at + o.Init) / o.Step }

// UserKeys returns the number of key parts that the script supplies. It is negative while that number is undecided.
func (o *Object) UserKeys() int {
	if o.Kind == KindSeries && o.Keys > 0 {
		return o.Keys - 1
	}
	return o.Keys
}

// Rows returns the number of cells of a series whose keys have the given number of parts. It has room for one interval
// more than is shown, because the oldest is evicted only after the newest has arrived.
func (o *Object) Rows(parts int) int {
	keys := o.Max
	switch {
	case parts == 1:
		keys = 1
	case keys == 0:
		keys = defaultSeries
	}
	return min(keys*(o.Size+1), MaxKeys)
}
