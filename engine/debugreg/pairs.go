//go:build linux && (arm || arm64)

package debugreg

import "gotap/engine/place"

// Regs is what the thread's debug unit watches, data and instructions. The zero value watches nothing.
type Regs struct {
	watch, exec [Slots]pair
}

// Set puts a watchpoint into slot i, from 0 on.
func (d *Regs) Set(i int, w Watch) {
	if w.Access == place.OnExecute {
		d.exec[i] = execPair(w)
		return
	}
	d.watch[i] = watchPair(w)
}

// Unset empties a slot.
func (d *Regs) Unset(i int) { d.watch[i], d.exec[i] = pair{}, pair{} }

// Any reports whether anything is watched.
func (d *Regs) Any() bool { return *d != Regs{} }
