// Package turns decides when a session looks at each thread for a stop, so that none waits for ever.
//
// Of several threads that are stopped, wait(2) reports the one that has been traced for the shortest time. Where
// threads hit probes faster than their stops are handled, those few that are reported first have their next stop before
// the others' turn comes: of eight threads in a loop the oldest was seen to go 3 times where the youngest went 200,000
// times. So from time to time the session asks for a stop of each thread by its number.
//
// Such a round costs a system call a thread. After a round that found many stops the next one comes at once; after one
// that found few, when about as many stops have been handled as were asked for in vain; after rounds that found none,
// less and less often. So a program of many threads of which one hits probes pays next to nothing.
//
// A Turns belongs to one goroutine at a time. The package starts none.
package turns

// rarely is how many stops a thread are handled between rounds that find nothing, at most.
const rarely = 64

// Turns counts the stops between rounds. The zero value begins with a round.
type Turns struct {
	left  int // stops until the next round
	pause int // stops between the last rounds, where they found none
}

// Due counts a stop that wait(2) has reported, and reports whether a round is due.
func (t *Turns) Due() bool {
	t.left--
	return t.left < 0
}

// Found says how many stops a round of some threads has found.
func (t *Turns) Found(stops, threads int) {
	if stops > 0 {
		t.pause = 0
		t.left = max(0, threads/2-stops)
		return
	}
	t.pause = min(max(2*t.pause, threads), rarely*threads)
	t.left = t.pause
}
