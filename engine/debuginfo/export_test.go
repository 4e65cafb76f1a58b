package debuginfo

// InPrologue lets tests know where a debugger that trusts location expressions reads what is not there yet.
func (in *Info) InPrologue(pc uint64) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	fn, err := in.functionAt(pc)
	return err == nil && in.inPrologue(fn, pc)
}
