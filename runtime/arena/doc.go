// Package arena is the memory that programs and the host share: the objects of scripts, the storage of calls, the ring,
// counters.
//
// All state is in the Arena: words at offsets, in the layout that arena.go describes, without a Go pointer, so that an
// executor in another process can map the same memory and do the same. Besides the arena, the Go side keeps only what
// can be recomputed from it, names, and the formats of records.
//
//	Object     file         safe under concurrency by
//	variables  program.go   one atomic operation
//	shares     share.go     belonging to one thread each; the host adds them up. By key: keyshare.go
//	cells      cell.go      atomic additions; two-word cells without keys have two banks that the host switches (storage.go)
//	tables     table.go     pins in the slots' state words, or a swap of state and cell at once
//	texts      textcell.go  a version that is odd while the text changes
//	trails     trail.go     belonging to one thread, found in a table
//	recorders  recorder.go  a sequence number and a state word for each record
//	ring       ../record    reservation by compare-and-swap, commitment by the last store
//	gates      ../gate      one atomic operation
//
// # One object
//
// Declare checks a declaration and returns an ID; Lookup returns the offset by which programs name the object. Refine,
// for the first use that the compiler sees, determines the kinds of its keys and values, and allocates its Storage.
// From then on programs pin slots and change cells (program.go), and the host reads, changes and takes contents through
// a Handle, at any time.
//
// # One hit
//
// The engine calls Commit at the end of a hit, which copies the hit's log into the ring as one record and wakes the
// host if it sleeps. The host, one goroutine, loops over Next and Wait.
//
// # Threads and locks
//
// The storage of calls (AllocThis) belongs to the tracing thread. Any number of threads may call Commit and Trapped and
// operate on objects. Only one goroutine may call Next and Wait. Declare, Refine and Register take the arena's mutex. A
// Handle's read takes the object's mutex only while it copies a cell. The lock order is: object's host mutex, share's
// mutex, evictor's mutex, arena's mutex. Programs take the evictor's only.
//
// # Reasons
//
// Tables use pins, and not a lock for each table, because an executor may be stopped or killed at any instruction. A
// lock that it holds would stop everybody. A pin that it holds prevents one slot from being emptied, and a slot that it
// left busy costs one key.
//
// Cells of one word, which most maps and counts have, lie behind their states, so that native code needs no pin.
//
// Without keys, only aggregations that add, one word at a time, have shares (share.go). Kinds of two words have banks,
// which need their pins. With keys, only counts and sums under one word have them (keyshare.go), as entries that cache
// what was added: keys live in the table, where their number is limited. Entries take up to 33 KiB of a thread's block
// for an object that counts; a hist would take as much for every 64 keys. An entry belongs to its key for ever. To
// replace it, its thread would have to add what it holds to the table first, in several steps, between which signal
// handlers would find it. So threads that see ever new keys count most of them in the table, as all keys were before.
//
// Tables have no tombstones. Short-lived keys (addresses of blocks, thread IDs) would fill a table with them, and a
// cleanup needs a moment without readers. With a reach for each home, a slot is free as soon as its key is deleted.
//
// Aggregations without keys are not tables of one slot: count, sum and histograms need one atomic addition at a fixed
// offset, which suits native code best. Kinds of two words have banks instead, so that an average is never torn.
//
// Every loss is counted: Lost and Traps list them all.
package arena
