package main

import "syscall"

// What ends a run is looked at while its probes are placed, too: that may take long.

// placeNoMore ends the placing of probes, now and for the rest of the run. Safe for concurrent use.
func (r *run) placeNoMore() { r.quits.Do(func() { close(r.quit) }) }

// attend has what ends a run end the placing of probes as well, until what it returns is called.
func (r *run) attend(c control) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-c.Interrupts:
			r.placeNoMore()
			go r.hurry(c)
		case <-c.Gone:
			r.orphaned.Store(c.Orphaned.Load())
			r.placeNoMore()
		case <-done:
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// interrupted ends a run while its probes are placed: COMMAND has not run an instruction of its own, and ends so unless the supervisor
// was killed. It returns the status.
func (r *run) interrupted() int {
	r.cut = true
	r.progress.end()
	r.said.Release()
	r.announce()
	r.note("interrupted while probes were placed: nothing was traced")
	if r.launched != 0 && !r.orphaned.Load() {
		syscall.Kill(r.launched, syscall.SIGTERM)
	}
	return r.finish()
}
