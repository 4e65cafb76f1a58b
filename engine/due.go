package engine

// When a script is exchanged while it runs, calls are under way whose entries the old programs have seen. They end as they
// began: their frames stay, the exits of their functions stay watched for their sake, and the old program has its leave. So
// no call is counted by its entry and missed at its end, whichever of the two the exchange comes between.

// keepCalls makes the leaves due of all calls that are under way for a probe, which is about to be dropped. Tracing thread.
func (s *Session) keepCalls(pr *probe) {
	if !pr.Armed() {
		return
	}
	for _, p := range s.procs {
		for _, t := range p.threads {
			t.keepCalls(pr)
		}
	}
}

func (t *thread) keepCalls(pr *probe) {
	for i := range t.frames {
		if f := &t.frames[i]; f.pl != nil && f.pl.Probe == pr && !f.last {
			f.last, f.kept = true, true
			f.fn.due++
		}
	}
	for i := range t.sys.pending {
		if w := &t.sys.pending[i]; w.pl.Probe == pr {
			w.last = true
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
		fn.dropExits(s)
		fn.entry.fn = nil
		return
	}
	for _, e := range fn.exits {
		s.sync(e)
	}
}
