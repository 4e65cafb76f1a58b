// Package snapshot has the content of an object at one moment, as the host reads, prints and saves it.
//
// The arena makes a Snapshot: the declaration, and an Entry with its Data for each key. With selects the largest
// entries and divides values, Series combines the intervals of a time series, Print writes bpftrace's text, and JSON
// returns a form for encoding/json. A saved Snapshot can be restored into an object of the same declaration.
//
// A Snapshot is a copy: programs that go on do not change it. Its methods do not change it either, except Sort, so any
// goroutine may use it.
//
// The text is that of bpftrace to the letter, because people compare and parse it; testdata has output of bpftrace for
// small programs. Print lists what goes beyond it.
package snapshot
