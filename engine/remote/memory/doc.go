// Package memory is the memory of a stub's target while the target is stopped. It implements arch.Memory for emulated
// instructions, and reads texts, pointers and code.
//
// # One read, from start to end
//
// Read requests whole blocks and keeps them until Forget, which is called when the target has run: the programs of a
// hit read the same few places, and each request takes a round trip. Where a block cannot be read completely, as at the
// end of a mapping, Read requests the few bytes that it needs. Then it hides breakpoints: what they displace is
// restored in what was read. WriteMemory reads what it overwrites first, so that a missing page makes the whole write
// fail, and forgets the blocks that it has changed.
//
// # Concurrency
//
// A Memory may be used only while the target is stopped, by the goroutine that may use the Client.
package memory
