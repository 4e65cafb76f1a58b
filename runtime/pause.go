package runtime

import gort "runtime"

// pause lets the thread one waits for go on. It is called in bounded loops that almost never turn more than once.
func pause() { gort.Gosched() }
