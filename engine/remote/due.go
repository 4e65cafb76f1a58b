package remote

// Calls that are under way when a script is exchanged end as they began: the old program has its leave (see due.go of package engine).

// keepCalls makes the leaves due of all calls that are under way for a probe, which is about to be dropped. The target is stopped.
func (s *Session) keepCalls(pr *probe) {
	if !pr.Armed() {
		return
	}
	s.shared.keep(pr)
	for _, t := range s.threads {
		t.own.keep(pr)
		for i := range t.pending {
			if w := &t.pending[i]; w.pl.Probe == pr {
				w.last = true
			}
		}
	}
}

func (c *calls) keep(pr *probe) {
	for i := range c.frames {
		if f := &c.frames[i]; f.pl.Probe == pr && !f.last {
			f.last, f.kept = true, true
			f.fn.due++
		}
	}
}

// endDue ends the watch for a call that was kept, and with the last one the watch on a function that nobody else wants.
func (s *Session) endDue(f *frame) {
	if !f.kept {
		return
	}
	f.kept = false
	fn := f.fn
	if fn.due--; fn.due > 0 {
		return
	}
	if fn.users <= 0 {
		s.dropExits(fn)
		fn.entry.fn = nil
		return
	}
	for _, e := range fn.exits {
		s.sync(e)
	}
}
