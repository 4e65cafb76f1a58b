package debuginfo

// AskAlone reports whether the unit of a function alone shows that it has no copies.
func AskAlone(in *Info, vaddr uint64) (bool, error) { return askAlone(in, vaddr) }

// SearchAtMost changes how much debug information is searched for copies outside the function's unit, and returns a
// function that changes it back.
func SearchAtMost(n int) (undo func()) {
	before := maxSearched
	maxSearched = n
	return func() { maxSearched = before }
}
