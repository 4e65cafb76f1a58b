package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"gotap/compile/diag"
	"gotap/engine"
	"gotap/engine/registry"
	"gotap/script"
	"gotap/script/output"
)

// settleTime is how long a file has to be left alone before it is read: editors write in several steps.
const settleTime = 50 * time.Millisecond

// returnTime is how often a directory that has gone is looked for: a check-out of another version makes it anew.
const returnTime = 200 * time.Millisecond

// A watcher tells when the files a script was made of have changed. It watches their directories, because editors save by
// renaming a new file over the old one, which ends a watch of the file itself.
type watcher struct {
	fs    *fsnotify.Watcher
	files map[string]string // path → contents when it was last looked at
	names map[string]bool   // what the paths lead through: every link on the way, and the file in the end
	ends  map[string]string // path → the file that it led to when it was last looked at
	away  bool              // a directory that was watched has gone
	lacks bool              // the script could not be loaded: another module beside it may be what it lacks
}

// newWatcher watches files from now on. loaded is what is known to be in use of them: one that has been saved since then is different.
func newWatcher(paths []string, loaded map[string]string) (*watcher, error) {
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("cannot watch files: %w", err)
	}
	v := &watcher{fs: fs, files: map[string]string{}, ends: map[string]string{}}
	for path, text := range loaded {
		if abs, err := filepath.Abs(path); err == nil {
			v.files[abs] = text
		}
	}
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
		if v.ends[abs] == "" {
			v.ends[abs] = end(abs)
		}
	}
	return v.addNames()
}

// addNames watches the directories of all that the files' paths lead through.
func (v *watcher) addNames() (err error) {
	v.names = map[string]bool{}
	for path := range v.files {
		for _, name := range trail(path) {
			v.names[name] = true
			if e := v.fs.Add(filepath.Dir(name)); e != nil && err == nil {
				err = fmt.Errorf("cannot watch the directory of %s: %w", name, e)
			}
		}
	}
	return err
}

// end is the file that an absolute path leads to.
func end(path string) string {
	names := trail(path)
	return names[len(names)-1]
}

// mostLinks is how many symbolic links Linux follows in a path.
const mostLinks = 40

// trail lists what an absolute path leads through: each symbolic link on the way and the file in the end, under paths that have no links in
// front of their last part. A part that is not there ends it.
func trail(path string) []string {
	var list []string
	at, rest := "/", strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		to, err := os.Readlink(next)
		if err != nil || links == mostLinks {
			at = next
			continue
		}
		links++
		list = append(list, next)
		if filepath.IsAbs(to) {
			at = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return append(list, at)
}

// isModule reports whether a file can be one that a script imports.
func isModule(path string) bool {
	switch filepath.Ext(path) {
	case ".js", ".ts", ".mjs", ".mts", ".cjs", ".cts", ".json":
		return true
	}
	return false
}

// contents is a file's text; "" when it is away for the moment.
func contents(path string) string {
	text, _ := diag.ReadFile(path)
	return withoutMark(text)
}

// wait blocks until one of the files is different from before and has been left alone, or done is closed. An empty or
// missing file is an editor at work: it waits for what comes after.
func (v *watcher) wait(done <-chan struct{}) bool {
	settled := time.After(settleTime) // what was saved while files were read may have told of it before they were watched
	other := false
	var back <-chan time.Time
	for {
		if v.away && back == nil {
			back = time.After(returnTime)
		}
		select {
		case <-done:
			return false
		case <-back:
			if back = nil; v.rewatch() {
				settled = time.After(settleTime)
			}
		case e := <-v.fs.Events:
			v.away = v.away || e.Op.Has(fsnotify.Remove) && v.holds(e.Name) || e.Op.Has(fsnotify.Rename) && v.holds(e.Name)
			mine := v.names[filepath.Clean(e.Name)]
			lacked := v.lacks && !mine && isModule(e.Name)
			if (mine || lacked) && e.Op != fsnotify.Chmod {
				settled = time.After(settleTime)
			}
			other = other || lacked
		case <-v.fs.Errors: // events were lost: look at everything
			settled = time.After(settleTime)
		case <-settled:
			settled = nil
			v.away = v.addNames() != nil || v.away // a link may lead elsewhere now
			if v.different() || other {
				return true
			}
		}
	}
}

// holds reports whether a path is the directory of one of the files.
func (v *watcher) holds(dir string) bool {
	for name := range v.names {
		if filepath.Dir(name) == dir {
			return true
		}
	}
	return false
}

// rewatch watches all directories again, and reports whether they are there.
func (v *watcher) rewatch() bool {
	v.away = v.addNames() != nil
	return !v.away
}

func (v *watcher) different() bool {
	found := false
	for path, before := range v.files {
		now, leads := contents(path), end(path)
		if now == "" || now == before && leads == v.ends[path] { // what is imported beside another file is another's, too
			continue
		}
		v.files[path], v.ends[path] = now, leads
		found = true
	}
	return found
}

func (v *watcher) close() { v.fs.Close() }

// openWatch begins to watch the script's files, as soon as they have been read: a save while probes are armed counts too.
func (r *run) openWatch(text scriptText) (err error) {
	if !r.plan.watch {
		return nil
	}
	loaded := map[string]string{}
	if !isDefinition(text) {
		loaded[text.name] = text.text
	}
	if r.watcher, err = newWatcher(r.inputs(), loaded); err != nil {
		return withStatus(statusFailure, err)
	}
	return nil
}

// closeWatch ends what openWatch began.
func (r *run) closeWatch() {
	if r.watcher != nil {
		r.watcher.close()
	}
}

// watch replaces the script whenever its files change, until done is closed.
func (r *run) watch(v *watcher, done <-chan struct{}) {
	for v.wait(done) {
		err := r.reload()
		if errors.Is(err, engine.ErrInterrupted) {
			return
		}
		if v.lacks = err != nil; err != nil {
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
	said := output.NewHeld(r.out)
	options.Output = said
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
		if errors.Is(err, engine.ErrInterrupted) {
			return err
		}
		return diagnoseAny(next.Probes(), err)
	}
	next.TakeOver(old)
	r.current.Store(next)
	said.Release()
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
	if err != nil && len(add) > 0 && !errors.Is(err, engine.ErrInterrupted) {
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
