// Package record carries what programs log from the thread of a hit to the host.
//
// # One record
//
// The machine appends items to the Log of the hit, field by field (Log.Begin, Word, Text, End). An item has the number
// of its Format and the fields, without their kinds. At the end of the hit the arena takes Log.Items, gives the items
// that have another Destination to their objects (CutItem), and writes the rest to the Ring with a Header
// (Ring.Commit). The host reads a Record (Ring.Next): its items are decoded by the formats of their Programs, and print
// themselves (Item.Print).
//
// Encode and Decode do the same with the words of an object that keeps records, a trail or a recorder.
//
// # Concurrency
//
// A Log belongs to one thread. Any number of threads may commit to a Ring, also of other processes that map its memory.
// One goroutine may call Next and Wait; it is woken only if it sleeps. Nothing takes a lock. Only a Log that becomes
// longer than ever before allocates.
//
// # Reasons
//
// A full ring drops the newest record, because the reader may already be reading the others, and counts it. Other
// processes can write to a ring, so its contents are checked like a file: damage costs the rest of one record, or all
// that was reserved if sizes cannot be trusted any more.
package record
