// Package filewatch reports when the files that a script is made of have been saved. A Watcher belongs to one goroutine
// at a time, but for Close, which may be called while no Wait is under way.
package filewatch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"gotap/compile/diag"
)

// SettleTime is how long a file has to stay unchanged before it is read: editors write in several steps.
const SettleTime = 50 * time.Millisecond

// returnTime is the interval for checking whether a removed directory is back: checking out another version recreates
// it.
const returnTime = 200 * time.Millisecond

// A Watcher reports when the files of a script have changed. It watches their directories, because editors save by
// renaming a new file over the old one, which ends a watch of the file itself.
type Watcher struct {
	fs    *fsnotify.Watcher
	files map[string]string // path → contents when last read
	names map[string]bool   // every symbolic link on the paths, and the files
	ends  map[string]string // path → the file that it led to when last read
	away  bool              // a watched directory was removed
	Lacks bool              // the script could not be loaded: a new module beside it counts as a change
}

// New watches files from now on. loaded is what is known to be in use of them: one that has been saved since then is
// different.
func New(paths []string, loaded map[string]string) (*Watcher, error) {
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("cannot watch files: %w", err)
	}
	v := &Watcher{fs: fs, files: map[string]string{}, ends: map[string]string{}}
	for path, text := range loaded {
		if abs, err := filepath.Abs(path); err == nil {
			v.files[abs] = text
		}
	}
	if err := v.Follow(paths); err != nil {
		fs.Close()
		return nil, err
	}
	return v, nil
}

// Follow watches exactly these files from now on. A file that was watched before keeps the contents it was last seen
// with: it may have changed again while the script was loaded.
func (v *Watcher) Follow(paths []string) error {
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
func (v *Watcher) addNames() (err error) {
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

// end returns the file that an absolute path leads to.
func end(path string) string {
	names := trail(path)
	return names[len(names)-1]
}

// maxLinks is how many symbolic links Linux follows in a path.
const maxLinks = 40

// trail lists what an absolute path leads through: each symbolic link on the way and the file in the end, under paths
// that have no links in front of their last part. A part that is not there ends it.
func trail(path string) []string {
	var list []string
	at, rest := "/", strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		to, err := os.Readlink(next)
		if err != nil || links == maxLinks {
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

// contents returns a file's text; "" when it is away for the moment.
func contents(path string) string {
	text, _ := diag.ReadFile(path)
	return strings.TrimPrefix(string(text), "\ufeff")
}

// Wait blocks until one of the files is different from before and has been left alone, or done is closed. An empty or
// missing file is an editor at work: it waits for what comes after.
func (v *Watcher) Wait(done <-chan struct{}) bool {
	settled := time.After(SettleTime) // a file may have been saved before it was watched
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
				settled = time.After(SettleTime)
			}
		case e := <-v.fs.Events:
			v.away = v.away || e.Op.Has(fsnotify.Remove) && v.holds(e.Name) || e.Op.Has(fsnotify.Rename) && v.holds(e.Name)
			mine := v.names[filepath.Clean(e.Name)]
			lacked := v.Lacks && !mine && isModule(e.Name)
			if (mine || lacked) && e.Op != fsnotify.Chmod {
				settled = time.After(SettleTime)
			}
			other = other || lacked
		case <-v.fs.Errors: // events were lost: check all files
			settled = time.After(SettleTime)
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
func (v *Watcher) holds(dir string) bool {
	for name := range v.names {
		if filepath.Dir(name) == dir {
			return true
		}
	}
	return false
}

// rewatch watches all directories again, and reports whether they are there.
func (v *Watcher) rewatch() bool {
	v.away = v.addNames() != nil
	return !v.away
}

func (v *Watcher) different() bool {
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

// Close ends the watch.
func (v *Watcher) Close() { v.fs.Close() }
