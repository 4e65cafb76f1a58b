// Package host runs a script: one goroutine owns the JavaScript machine and calls it for records, for posted functions
// and for timers.
//
// # Goroutines
//
// The loop waits for several things at once. A second goroutine, the pump, waits for the ring, and rests while the loop
// reads it, since a ring has one reader:
//
//	arena ring ──▶ pump ─────────────▶ loop: records in batches
//	Do, Event ───▶ bounded queue ────▶ loop: posted functions
//	Ask ─────────▶ a queue of one ───▶ loop: does not wait behind them
//	clock ───────────────────────────▶ loop: timers
//
// # One record
//
// The pump sees a record and wakes the loop. The loop hands records to Script.Deliver, at most a batch at a time, and
// then looks at timers and queues; when the ring is empty it flushes the output and wakes the pump. The loop never
// queues records itself: a slow callback only fills the ring, whose producers count what they drop.
//
// # Order
//
// Records come through the ring and events of processes through the queue. A callback must see what a process did
// before it sees the process end, so Event notes the ring's position, and the loop waits until the records before it
// have been delivered.
//
// # What may be called from where
//
// Do, Event, Ask and CatchUp are safe for concurrent use while the host runs. Start, Pause, Stop and the rest belong to
// the goroutine that started it; after Pause and Stop the machine is that goroutine's again.
package host
