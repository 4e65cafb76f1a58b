package fallback

// Region is what a session knows of the region that it has installed, or taken over, in an address space.
type Region struct {
	Base     uint64 // 0: there is none
	Table    Table
	Threads  int         // entries in use in the list of threads
	Watching bool        // the handler knows that debug registers are armed
	Stub     int         // index of the latest stub
	Left     map[int]int // thread IDs that an earlier session withheld signals from, with their entries in the list; nil: the region is the session's own
}

// Clone returns the region of a forked child, whose memory is a copy.
func (r *Region) Clone() Region {
	c := *r
	c.Threads = 0
	c.Table = r.Table.Clone()
	return c
}

// IsEntry reports whether the entry with an index in the list of threads belongs to a thread that an earlier session
// withheld signals from.
func (r *Region) IsEntry(i int) bool {
	for _, left := range r.Left {
		if left == i {
			return true
		}
	}
	return false
}
