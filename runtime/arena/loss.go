package arena

import (
	"sync/atomic"

	"gotap/runtime/key"
	"gotap/runtime/object"
	"gotap/runtime/outcome"
)

// Lost returns how much was lost, by cause: "ring full", "log full", "map NAME full", "hist NAME evicted" … It lists
// only causes that occurred; counts never decrease. It is safe for concurrent use.
func (a *Arena) Lost() map[string]uint64 {
	lost := map[string]uint64{}
	note := func(cause string, n uint64) {
		if n != 0 {
			lost[cause] += n
		}
	}
	note("ring full", a.load(wordLostRing))
	note("log full", a.load(wordLostLog))
	for _, obj := range *a.objects.Load() {
		name := obj.decl.Load().Label()
		if st := obj.storage.Load(); st != nil {
			st.keyShare.Collect()
		}
		if obj.kind == object.KindRecorder {
			note(name+": records larger than its bytes", atomic.LoadUint64(&obj.desc[descDropped]))
		} else {
			note(name+" full", atomic.LoadUint64(&obj.desc[descDropped]))
		}
		note(name+" evicted", atomic.LoadUint64(&obj.desc[descEvicted]))
		note(name+" contended", atomic.LoadUint64(&obj.desc[descContended]))
		note(name+": values missing in quantiles, memory is full", atomic.LoadUint64(&obj.desc[descUnsorted]))
	}
	return lost
}

// LostItem counts an item that did not fit into a log. Any thread may call it.
func (a *Arena) LostItem() { atomic.AddUint64(&a.words[wordLostLog], 1) }

// The trap table counts traps by place. An entry is three words:
//
//	place    trap<<56 | program<<32 | pc, never 0 because no trap is 0
//	count    how often
//	address  of the latest, for bad reads and writes
//
// An entry is allocated by a compare-and-swap on its first word and never freed. If all are allocated, a trap is still
// counted by its kind.
const (
	trapSlots = 1024
	trapWords = 3
	trapProbe = 64 // number of entries searched for one place
)

// TrapCount is the number of times that one instruction of one program caused one trap.
type TrapCount struct {
	Trap    outcome.Trap
	Program uint32
	PC      uint32
	Addr    uint64 // TrapRead, TrapWrite: the latest address
	Count   uint64
}

// Trapped counts a trap; it ignores NoTrap. Any thread may call it; it does not allocate.
func (a *Arena) Trapped(t outcome.Trap, program, pc uint32, addr uint64) {
	if t == outcome.NoTrap || t >= outcome.NumTraps {
		return
	}
	atomic.AddUint64(&a.words[wordTraps+uint64(t)], 1)
	place := uint64(t)<<56 | uint64(program&0xff_ffff)<<32 | uint64(pc)
	first := key.Hash([]uint64{place})
	for i := range uint64(trapProbe) {
		e := a.trapEntry(int((first + i) % trapSlots))
		at := atomic.LoadUint64(&e[0])
		if at == 0 && atomic.CompareAndSwapUint64(&e[0], 0, place) {
			at = place
		} else if at == 0 {
			at = atomic.LoadUint64(&e[0])
		}
		if at == place {
			atomic.StoreUint64(&e[2], addr)
			atomic.AddUint64(&e[1], 1)
			return
		}
	}
}

// trapEntry returns the words of one entry.
func (a *Arena) trapEntry(i int) []uint64 {
	return a.words[trapTable/8+i*trapWords:][:trapWords]
}

// Traps returns the traps counted by place, in no particular order. It is safe for concurrent use.
func (a *Arena) Traps() []TrapCount {
	var list []TrapCount
	for i := range trapSlots {
		e := a.trapEntry(i)
		place, n := atomic.LoadUint64(&e[0]), atomic.LoadUint64(&e[1])
		if place == 0 || n == 0 {
			continue
		}
		list = append(list, TrapCount{
			Trap: outcome.Trap(place >> 56), Program: uint32(place>>32) & 0xff_ffff, PC: uint32(place),
			Addr: atomic.LoadUint64(&e[2]), Count: n,
		})
	}
	return list
}

// TrapTotal returns the number of times that a trap occurred. It is safe for concurrent use.
func (a *Arena) TrapTotal(t outcome.Trap) uint64 {
	if t >= outcome.NumTraps {
		return 0
	}
	return a.load(wordTraps + uint64(t))
}
