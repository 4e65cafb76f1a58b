package runtime

import (
	"encoding/binary"
	"errors"
	"fmt"

	"gotap/runtime/opcode"
)

// Deferred items. An item of the log may go to an object of the arena instead of the host: to the trail of its thread
// (trail.go), from which it is sent or discarded later, or to a recorder (recorder.go), which keeps the most recent
// ones.
//
// This happens only when the hit is committed: a program that traps, aborts, or whose probed instruction faults has not
// logged, kept or discarded anything. So keeping and discarding are items too, in the order in which the program did
// them. The low bits of an item's length give its destination:
//
//	whereHost     to the host
//	whereDeferred    to the object whose offset is the last word of the item
//	whereKeep     an item of two words, header and offset of a trail: its records go to the host, then it is empty
//	whereForget   the same, and its records are forgotten
const (
	whereHost     = 0
	whereDeferred = 1
	whereKeep     = 2
	whereForget   = 3
	whereMask     = 7

	deferredItem = 16 // bytes of an item that keeps or forgets
)

// logDeferred executes the operations on deferred items.
func (m *Machine) logDeferred(in *Inst) Trap {
	h, where := m.hit, byte(whereDeferred)
	h.deferred = true
	switch in.Op {
	case opcode.Keep:
		where = whereKeep
		h.begin(m.code.ID, 0)
	case opcode.Forget:
		where = whereForget
		h.begin(m.code.ID, 0)
	case opcode.EndDeferred:
	default:
		return TrapOp
	}
	h.word(in.V)
	at := h.open
	trap := m.endItem()
	if at >= 0 && h.n > at {
		h.buf[at] |= where
	}
	return trap
}

// sortOut sends the items of a log to their destinations. It returns the host's items after the last kept trail, with
// hdr as their header. Host items before a kept trail go to the host before the trail, as separate records. The log is
// overwritten. Any thread may call it; it does not allocate.
func (a *Arena) sortOut(hdr *Header, log []byte) []byte {
	host := log[:0]
	for len(log) >= itemHeader {
		size := int(binary.LittleEndian.Uint16(log))
		where := size & whereMask
		if size &^= whereMask; size < itemHeader || size > len(log) {
			break // only in a hit that no machine has written
		}
		item := log[:size]
		log = log[size:]
		switch where {
		case whereDeferred:
			a.putDeferred(*hdr, item)
		case whereKeep, whereForget:
			if len(host) > 0 && where == whereKeep {
				a.commit(plainHeader(hdr), host)
				host = host[:0]
			}
			a.endTrail(hdr.Tid, item, where == whereKeep)
		default:
			host = append(host, item...) // never extends beyond the item itself
		}
	}
	return host
}

// plainHeader returns the header for a part of a hit that is sent before its end.
func plainHeader(hdr *Header) *Header {
	part := *hdr
	part.Kind, part.Hold, part.Exit = ExitPlain, 0, 0
	return &part
}

// putDeferred gives one item to its object, as a record with a separate header.
func (a *Arena) putDeferred(hdr Header, item []byte) {
	n := len(item) - 8
	obj := a.objectAt(binary.LittleEndian.Uint64(item[n:]))
	if obj == nil || n < itemHeader {
		return
	}
	st := obj.storage.Load()
	if st == nil {
		return
	}
	item = item[:n]
	binary.LittleEndian.PutUint16(item, uint16(n))
	hdr.Kind, hdr.Hold, hdr.Exit, hdr.Size = ExitPlain, 0, 0, uint32(recordHeader+n)
	if a.isEvent(binary.LittleEndian.Uint64(item)) {
		hdr.Flags |= RecordEvent
	}
	switch st.Kind {
	case KindTrail:
		obj.leave(st, &hdr, item)
	case KindRecorder:
		obj.record(st, &hdr, item)
	}
}

// isEvent reports whether an item with this header is the record of an exit.
func (a *Arena) isEvent(header uint64) bool {
	list, format := *a.programs.Load(), int(header>>16&0xffff)
	program := header >> 32
	return program < uint64(len(list)) && format < len(list[program].Formats) && list[program].Formats[format].Kind == ItemEvent
}

// checkDeferred returns an error if the declaration of a trail or a recorder is invalid.
func (o *Object) checkDeferred() error {
	least, most := recordHeader+itemHeader, MaxTrail
	if o.Kind == KindRecorder {
		most = MaxLog + recordHeader
	}
	switch {
	case o.Max == 0:
		return errors.New("max is 0: it must be at least 1")
	case o.Kind == KindTrail && o.Max > MaxThreads:
		return fmt.Errorf("%d threads: there can be %d", o.Max, MaxThreads)
	case o.Size < least || o.Size > most || o.Size%8 != 0:
		return fmt.Errorf("%d bytes: there can be %d to %d, in multiples of 8", o.Size, least, most)
	}
	return nil
}

// forgetAll empties a trail for all threads, or a recorder.
func (obj *object) forgetAll(st *storage) {
	if st.Kind == KindRecorder {
		obj.skip()
		return
	}
	for slot := range st.table.state {
		if st.table.pinAny(slot) {
			st.table.kill(slot) // the last thread to unpin it empties it
			st.table.unpin(slot)
		}
	}
}
