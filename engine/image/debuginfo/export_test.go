package debuginfo

// InPrologue reports whether pc is in the prologue of a function, where a debugger that trusts location expressions
// reads what is not stored yet.
func (in *Info) InPrologue(pc uint64) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	fn, err := in.functions.At(pc)
	return err == nil && in.lines.InPrologue(fn, pc)
}

// Searched returns the number of units that have been searched for a function that was inlined.
func (in *Info) Searched() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.inlines.searched
}
