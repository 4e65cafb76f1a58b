package main

import (
	"errors"
	"fmt"

	"gotap"
	"gotap/cmd/gotap/filewatch"
	"gotap/cmd/gotap/status"
	"gotap/engine"
)

// openWatch begins to watch the script's files as soon as they are read: a save while probes are armed counts, too.
func (r *run) openWatch(text gotap.Script) (err error) {
	if !r.plan.watch {
		return nil
	}
	if !r.watchable() {
		return status.With(status.Usage, fmt.Errorf("--watch: %s is not a file", text.Name))
	}
	loaded := map[string]string{}
	if !isDefinition(text) {
		loaded[text.Name] = text.Text
	}
	if r.watcher, err = filewatch.New(r.inputs(), loaded); err != nil {
		return status.With(status.Failure, err)
	}
	return nil
}

// closeWatch ends what openWatch began.
func (r *run) closeWatch() {
	if r.watcher != nil {
		r.watcher.Close()
	}
}

// watch replaces the script whenever its files change, until done is closed.
func (r *run) watch(v *filewatch.Watcher, done <-chan struct{}) {
	for v.Wait(done) {
		err := r.reload()
		if errors.Is(err, engine.ErrInterrupted) {
			return
		}
		if v.Lacks = err != nil; err != nil {
			r.complain(err)
			r.out.Flush()
			r.note("the script before it goes on")
			continue
		}
		v.Follow(r.inputs()) // a directory that was removed meanwhile is watched again when it is back
		r.note("reloaded")
	}
}

// reload reads the script again and replaces the running version. On error nothing has changed.
func (r *run) reload() error {
	text, err := readFile(r.text.Name)
	if err != nil {
		return err
	}
	if err := r.session.Control().Replace(text); err != nil {
		return err
	}
	r.keys.listen(r)
	return nil
}

// startWatch begins to reload the script as its files change. The function it returns ends that, and returns when no
// reload is under way.
func (r *run) startWatch() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		r.watch(r.watcher, done)
	}()
	return func() {
		close(done)
		<-ended
	}
}
