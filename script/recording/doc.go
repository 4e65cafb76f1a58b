// Package recording keeps what a run of a script got from outside in a file, and plays it to the script again without a target.
// Callbacks, their aggregations, timers and end callbacks run as if live; programs do not.
//
// # Writing
//
// A Writer is a script.Journal: the host calls it, on its goroutine, in front of every callback, with the record, the event or the
// timer that the callback is for, and for every answer of the world to a question of a callback: symbols of addresses, memory,
// files, the clock, and what is in the objects that programs change. Formats of records are written once, in front of the first
// record that has them. In front of timers and at the end come the values of the objects that programs use, since no program will
// run to make them.
//
// # Playing
//
// Read reads a whole file into a Recording and checks all of it. Play goes through its steps in order. A step is a record, an
// event, a timer or the end, with the answers that were given while it was at work: they are known before its callback runs, so that
// the callback finds the same answers to the same questions. A question that was not asked while recording, because
// the script has been changed since, has no answer: memory is empty then, and files are not there.
//
// Objects that programs use have, where a callback looks at them, what it found in them; in timers and at the end they have the
// values that they had, also for a callback that did not look then. All others are made by the callbacks anew:
// these are what a test is about.
//
// # The file
//
// A line "gotap recording VERSION\n", then chunks until the end chunk:
//
//	kind     1 byte
//	length   4 bytes, of the payload
//	payload
//	check    4 bytes: CRC-32 (IEEE) of kind, length and payload
//
// Numbers are little-endian; numbers in payloads are varints of package encoding/binary. The payload of a record is in codec.go, that of
// all other kinds is JSON. The end chunk has the number of the chunks before it. A file without it was cut short; one
// of another version is refused with the version it has. No byte is trusted: lengths are limited before memory is taken
// for them.
package recording
