//go:build linux && (arm || arm64)

package engine

import "gotap/engine/place"

// debugRegs is what the thread's debug unit watches, data and instructions.
type debugRegs struct {
	watch, exec [debugSlots]debugPair
}

// set puts watchpoint i of the process into its slot.
func (d *debugRegs) set(i int, w *watch) {
	if w.spec.Access == place.OnExecute {
		d.exec[i] = execPair(w)
		return
	}
	d.watch[i] = watchPair(w)
}

// unset empties a slot.
func (d *debugRegs) unset(i int) { d.watch[i], d.exec[i] = debugPair{}, debugPair{} }

// any reports whether anything is watched.
func (d *debugRegs) any() bool { return *d != debugRegs{} }
