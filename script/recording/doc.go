// Package recording writes everything that a script gets from outside during a run to a file, and plays it to the
// script again without a target. Callbacks, their aggregations, timers and end callbacks run as if live; programs do
// not run.
//
// # Writing
//
// A Writer is a script.Journal. The host calls it, on its goroutine, before every callback, with the record, the event
// or the timer of the callback, and for every answer that a callback gets: symbols of addresses, memory, files, the
// clock, and the contents of objects that programs change. Formats of records are written once, before the first record
// that has them. Before timers and at the end the values of the objects that programs use are written, because no
// program runs in a playback.
//
// # Playing
//
// Read reads a whole file into a Recording and checks all of it. Play goes through its steps in order. A step is a
// record, an event, a timer or the end, with the answers that its callback got. They are loaded before the callback
// runs, so that the same questions get the same answers. A question that was not asked while recording, because the
// script has changed since, has no answer: memory is empty then, and files do not exist.
//
// Objects that programs use have the values that a callback read from them; in timers and at the end they have their
// recorded values, also when the callback did not read them then. All other values are computed by the callbacks again:
// they are what a test checks.
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
// Numbers are little-endian; numbers in payloads are varints of package encoding/binary. The payload of a record is in
// codec.go, that of all other kinds is JSON. The end chunk has the number of the chunks before it; a file without it
// was cut short. A file of another version is refused. No byte is trusted: lengths are limited before memory is
// allocated for them.
package recording
