package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"gotap/compile/diag"
	"gotap/engine"
	"gotap/engine/registry"
	"gotap/script"
)

// settleTime is how long a file has to be left alone before it is read: editors write in several steps.
const settleTime = 50 * time.Millisecond

// A watcher tells when the files a script was made of have changed. It watches their directories, because editors save by
// renaming a new file over the old one, which ends a watch of the file itself.
type watcher struct {
	fs    *fsnotify.Watcher
	files map[string]string // path → contents when it was last looked at
}

func newWatcher(paths []string) (*watcher, error) {
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("cannot watch files: %w", err)
	}
	v := &watcher{fs: fs, files: map[string]string{}}
	if err := v.follow(paths); err != nil {
		fs.Close()
		return nil, err
	}
	return v, nil
}

// follow watches exactly these files from now on. A file that was watched before keeps the contents it was last seen with:
// it may have changed again while the script was loaded.
func (v *watcher) follow(paths []string) error {
	before := v.files
	v.files = map[string]string{}
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return fmt.Errorf("cannot watch %s: %w", path, err)
		}
		seen, known := before[abs]
		if !known {
			seen = contents(abs)
		}
		v.files[abs] = seen
		if err := v.fs.Add(filepath.Dir(abs)); err != nil {
			return fmt.Errorf("cannot watch the directory of %s: %w", path, err)
		}
	}
	return nil
}

// contents is a file's text; "" when it is away for the moment.
func contents(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

// wait blocks until one of the files is different from before and has been left alone, or done is closed. An empty or
// missing file is an editor at work: it waits for what comes after.
func (v *watcher) wait(done <-chan struct{}) bool {
	var settled <-chan time.Time
	for {
		select {
		case <-done:
			return false
		case e := <-v.fs.Events:
			if _, mine := v.files[filepath.Clean(e.Name)]; mine && e.Op != fsnotify.Chmod {
				settled = time.After(settleTime)
			}
		case <-v.fs.Errors: // events were lost: look at everything
			settled = time.After(settleTime)
		case <-settled:
			settled = nil
			if v.different() {
				return true
			}
		}
	}
}

func (v *watcher) different() bool {
	found := false
	for path, before := range v.files {
		now := contents(path)
		if now == "" || now == before {
			continue
		}
		v.files[path] = now
		found = true
	}
	return found
}

func (v *watcher) close() { v.fs.Close() }

// watch replaces the script whenever its files change, until done is closed.
func (r *run) watch(v *watcher, done <-chan struct{}) {
	for v.wait(done) {
		if err := r.reload(); err != nil {
			r.complain(err)
			r.out.Flush()
			r.note("the script before it goes on")
			continue
		}
		v.follow(r.inputs()) // a directory that has gone since is looked for at the next change
		r.note("reloaded")
	}
}

// reload reads the script anew and exchanges what has changed. On error everything is as before.
func (r *run) reload() error {
	text, err := readFile(r.text.name)
	if err != nil {
		return err
	}
	r.change.Lock()
	defer r.change.Unlock()
	return r.exchange(text)
}

// exchange loads a new version of the script and puts it in the place of the running one; run.change is held. On error
// everything is as before.
func (r *run) exchange(text scriptText) error {
	if isDefinition(text) {
		return r.exchangeDefinition(text)
	}
	old := r.script()
	options := r.options(text)
	options.Previous = old
	next, list := script.Load(options)
	if err := list.Err(); err != nil {
		return err
	}
	next.SetTracer(r.tracer)
	swap, err := r.prepare(old, next)
	if err != nil {
		next.Close()
		return err
	}
	old.Pause()
	if err := swap.Commit(); err != nil {
		old.Resume()
		next.Close()
		return diagnoseAny(next.Probes(), err)
	}
	next.TakeOver(old)
	r.current.Store(next)
	next.Begin()
	next.Start()
	return nil
}

// prepare works out which probes move.
func (r *run) prepare(old, next *script.Script) (exchange, error) {
	_, add, remove := next.Plan(old)
	var specs []engine.ProbeSpec
	for _, p := range add {
		spec, err := r.tracer.spec(p)
		if err != nil {
			return nil, err
		}
		spec.Optional = spec.Optional || r.plan.missing != "error" || r.demo
		specs = append(specs, spec)
	}
	var gone []uint32
	for _, p := range remove {
		gone = append(gone, p.ID)
	}
	swap, err := r.session.Prepare(specs, gone)
	if err != nil && len(add) > 0 {
		return nil, withStatus(statusNoProbe, diagnoseAny(add, err))
	}
	return swap, err
}

// diagnoseAny points what was wrong with several probes at each of them.
func diagnoseAny(probes []*script.Probe, err error) diag.List {
	var list diag.List
	for _, e := range parts(err) {
		var of *registry.ProbeError
		i := -1
		if errors.As(e, &of) {
			i = slices.IndexFunc(probes, func(p *script.Probe) bool { return p.ID == of.ID })
		}
		if i < 0 {
			list = append(list, diag.Diagnostic{Text: e.Error()})
			continue
		}
		list = append(list, diagnose(scriptProbe{probes[i]}, of.Err)...)
	}
	return list
}
