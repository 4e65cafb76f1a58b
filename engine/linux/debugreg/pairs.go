//go:build linux && (arm || arm64)

package debugreg

import "gotap/engine/place"

// Regs are the data and execution watchpoints of a thread's debug unit. The zero value watches nothing.
type Regs struct {
	watch, exec [Slots]pair
}

// Set sets the watchpoint of slot i, from 0.
func (d *Regs) Set(i int, w Watch) {
	if w.Access == place.OnExecute {
		d.exec[i] = execPair(w)
		return
	}
	d.watch[i] = watchPair(w)
}

// Unset clears a slot.
func (d *Regs) Unset(i int) { d.watch[i], d.exec[i] = pair{}, pair{} }

// Any reports whether any slot is in use.
func (d *Regs) Any() bool { return *d != Regs{} }
