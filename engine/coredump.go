package engine

// dump writes a core of the thread's process.
func (t *thread) dump() {}
