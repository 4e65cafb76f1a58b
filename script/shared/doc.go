// Package shared lists the objects of the arena that a script has declared: variables that programs share,
// aggregations, maps, trails and recorders. It also gives callbacks what such objects hold, from the arena or from a
// recording.
//
// # One object
//
// Table.Declare makes an object, or takes over the one of the same name and type of the running version of a watched
// script (Previous): both versions use it until the old one ends, so nothing is lost. Table.Get, Entries and Take read
// it for a callback. If programs change the object and the run is recorded, the answer is recorded too, since no
// program runs when the recording is played: the callback then finds what it found before.
//
// # Threads
//
// List, Values, TakeValues and Reset are safe for concurrent use; Table.mu guards the list and is a leaf. Everything
// else belongs to the goroutine that owns the JavaScript machine.
package shared
