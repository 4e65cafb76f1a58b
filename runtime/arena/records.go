package arena

import (
	"gotap/runtime/object"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
)

// Commit makes the log of a hit visible to the host. The engine calls it on the thread that owns the hit, after the
// probed instruction has completed, so that an instruction that faults logs nothing. Without items Commit writes
// nothing and wakes nobody, unless the program asked for a facility. Commit fills in Size and the flags FlagEvent and
// FlagHold of the header. It returns false if the ring was full and the hit was lost and counted. A thread that was
// to be held for that hit must then continue.
func (a *Arena) Commit(hdr record.Header, h *record.Log) bool {
	if !h.HasItems() && hdr.Kind != outcome.ExitFacility {
		return true
	}
	items := h.Items()
	if h.HasDeferred() {
		if items = a.sortOut(&hdr, items); len(items) == 0 && hdr.Kind != outcome.ExitFacility {
			return true
		}
	}
	if h.HasEvent() {
		hdr.Flags |= record.FlagEvent
	}
	if hdr.Hold != 0 {
		hdr.Flags |= record.FlagHold
	}
	return a.ring.Commit(&hdr, items)
}

// Next removes the oldest record from the ring; ok is false if there is none. Only one goroutine may call it at a time.
// For a record with damaged items Next returns the items before the damage.
func (a *Arena) Next() (rec record.Record, ok bool) { return a.ring.Next(a.Programs()) }

// RingLayout is where the ring lies, for writers in other processes: offsets in bytes from the start of the arena.
type RingLayout struct {
	Data, Size              uint64 // Size is a power of two
	Head, Tail, Sleep, Lost uint64 // words: see record.RingWords
}

// RingLayout returns where the ring lies.
func (a *Arena) RingLayout() RingLayout {
	return RingLayout{Data: ringData, Size: a.words[wordRingBytes], Head: wordRingHead * 8, Tail: wordRingTail * 8, Sleep: wordRingSleep * 8, Lost: wordLostRing * 8}
}

// PopulateRing makes the kernel provide the memory of the whole ring now, in our name. Writers in other processes then
// wait for it no more, and it does not count against their limits. The error is that of the kernel, and harmless. Any
// goroutine may call it.
func (a *Arena) PopulateRing() error {
	l := a.RingLayout()
	return populate(a.bytes[l.Data : l.Data+l.Size])
}

// WakeReader wakes the reader for a writer in another process: see record.Ring.Wake. Any goroutine may call it.
func (a *Arena) WakeReader() { a.ring.Wake() }

// Unfinished returns the position of the next record if that is reserved and not committed. Any goroutine may call it.
func (a *Arena) Unfinished() (at uint64, ok bool) { return a.ring.Unfinished() }

// SkipUnfinished skips records of writers that have ended: see record.Ring.SkipUnfinished.
func (a *Arena) SkipUnfinished() (skipped int) { return a.ring.SkipUnfinished() }

// Written returns the position up to which the ring has been written, in bytes since its creation; Consumed returns the
// position up to which it has been read. Everything committed before a call of Written has been removed once Consumed
// reaches the value it returned. Any goroutine may call them.
func (a *Arena) Written() uint64 { return a.ring.Written() }

// Consumed is described at Written.
func (a *Arena) Consumed() uint64 { return a.ring.Consumed() }

// Pending reports whether a record is in the ring or being written to it. Any goroutine may call it.
func (a *Arena) Pending() bool { return a.ring.Pending() }

// Wait sleeps until a record is available (true) or done is closed (false). Only the goroutine that calls Next may call
// it.
func (a *Arena) Wait(done <-chan struct{}) bool { return a.ring.Wait(done) }

// sortOut sends the items of a log to their destinations. It returns the host's items after the last kept trail, with
// hdr as their header. Host items before a kept trail go to the host before the trail, as separate records. The log is
// overwritten. Any thread may call it; it does not allocate.
func (a *Arena) sortOut(hdr *record.Header, log []byte) []byte {
	host := log[:0]
	for {
		item, rest, to, ok := record.CutItem(log)
		if !ok {
			return host
		}
		log = rest
		switch to {
		case record.ToObject:
			a.putDeferred(*hdr, item)
		case record.Keep, record.Forget:
			if len(host) > 0 && to == record.Keep {
				a.ring.Commit(plainHeader(hdr), host)
				host = host[:0]
			}
			a.endTrail(hdr.Tid, item, to == record.Keep)
		default:
			host = append(host, item...) // never extends beyond the item itself
		}
	}
}

// plainHeader returns the header for a part of a hit that is sent before its end.
func plainHeader(hdr *record.Header) *record.Header {
	part := *hdr
	part.Kind, part.Hold, part.Exit = outcome.ExitPlain, 0, 0
	return &part
}

// putDeferred gives one item to its object, as a record with a separate header.
func (a *Arena) putDeferred(hdr record.Header, item []byte) {
	item, off, ok := record.Detach(item)
	obj := a.At(off)
	if obj == nil || !ok {
		return
	}
	st := obj.storage.Load()
	if st == nil {
		return
	}
	hdr.Kind, hdr.Hold, hdr.Exit, hdr.Size = outcome.ExitPlain, 0, 0, uint32(record.HeaderSize+len(item))
	if record.IsEvent(a.Programs(), item) {
		hdr.Flags |= record.FlagEvent
	}
	switch st.Kind {
	case object.KindTrail:
		st.leave(&hdr, item)
	case object.KindRecorder:
		st.record(&hdr, item)
	}
}

// forgetAll empties a trail for all threads, or a recorder.
func (obj *Instance) forgetAll(st *Storage) {
	if st.Kind == object.KindRecorder {
		obj.skip()
		return
	}
	for slot := range st.table.slots() {
		if st.table.pinAny(slot) {
			st.table.kill(slot) // the last thread to unpin it empties it
			st.table.unpin(slot)
		}
	}
}
