package debuginfo

// AskAlone reports whether the unit of a function alone shows that it has no copies.
func (in *Info) AskAlone(vaddr uint64) (bool, error) { return in.askAlone(vaddr) }
