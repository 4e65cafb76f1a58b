package crashsafe

import (
	"fmt"

	"gotap/engine/crashsafe/fallback"
	"gotap/engine/linux/cpumask"
)

// A session may set the CPUs that its target may run on (package affinity). The record of that in the region is written
// before they are set and removed after they are set again, so the program that cleans up finds it. The CPUs are put
// back where those in force are still those of the record: by the handler in the target when it runs, for its own
// thread; by Clean and by the next session for all threads.

// RecordPinned records the CPUs that are about to be set, and the mask that restores the present ones. It returns false
// if there is no room for the record.
func (sp *Space) RecordPinned(former, given cpumask.Mask) bool {
	if sp.Base == 0 || 8*len(given) > fallback.MaskSize || len(former) != len(given) {
		return false
	}
	mem, stopped := sp.on.Memory(), sp.on.StoppedTid()
	masksAt, masks, sizeAt, size := fallback.PinnedRecord(sp.Base, fallback.Pinned{Former: former.Bytes(), Given: given.Bytes()})
	return mem.Poke(masksAt, masks, stopped) == nil && mem.Poke(sizeAt, size, stopped) == nil
}

// ForgetPinned removes the record.
func (sp *Space) ForgetPinned() {
	if sp.Base != 0 {
		at, none := fallback.NoPinned(sp.Base)
		sp.on.Memory().Poke(at, none, sp.on.StoppedTid())
	}
}

// forgetInherited removes the record from the memory of a forked child, which is a copy. Who created the child's thread
// has restored its CPUs.
func (sp *Space) forgetInherited() {
	if _, ok := fallback.ReadPinned(sp.on.Memory(), sp.Base); ok {
		sp.ForgetPinned()
	}
}

// restorePinned restores the CPUs of a process by the record in a region that an earlier session left, and removes the
// record. It returns the CPUs that were restored, "" if none.
func restorePinned(pid int, mem fallback.Memory, base uint64) (cpus string, err error) {
	p, ok := fallback.ReadPinned(mem, base)
	if !ok {
		return "", nil
	}
	n, err := cpumask.Replace(pid, cpumask.FromBytes(p.Given), cpumask.FromBytes(p.Former))
	if err != nil {
		return "", fmt.Errorf("cannot restore the CPUs of process %d: %w", pid, err)
	}
	at, none := fallback.NoPinned(base)
	mem.Poke(at, none, 0)
	if now, there := cpumask.Of(pid); there && n > 0 {
		cpus = now.String()
	}
	return cpus, nil
}
