package affinity

import (
	"fmt"

	"gotap/engine/image/module"
)

// mostCode is how much code of a process is searched for system calls, in bytes.
const mostCode = 64 << 20

// current makes the image that a target runs the one that is known of.
func (k *Keeper) current(t Target) {
	if id := t.Image(); k.image.id != id {
		k.image = image{id: id}
	}
}

// search begins to search the modules of a target that have not been searched, and reports whether all have been.
func (k *Keeper) search(t Target) (done bool) {
	k.current(t)
	done = true
	mods := t.Modules()
	for i := range mods {
		m := &mods[i]
		if m.File == nil || m.Err != nil {
			continue
		}
		s := k.files[m.File]
		if s == nil {
			s = &search{}
			k.files[m.File] = s
			go k.searchFile(s, m.File, t.IsLibC(m))
		}
		done = done && s.done
	}
	return done
}

// searchFile searches a file, on a goroutine of its own.
func (k *Keeper) searchFile(s *search, f *module.File, libC bool) {
	sites, err := findSites(f, libC)
	k.on.Post(func() { *s = search{true, sites, err} })
}

// watch watches the system calls by which a target may read or set its CPUs, or returns why it does not.
func (k *Keeper) watch(t Target) (why string) {
	if why = searchable(t.Modules()); why != "" {
		return why
	}
	if !k.search(t) {
		return "its system calls are still being searched for"
	}
	k.watched = t
	mods := t.Modules()
	for i := range mods {
		m := &mods[i]
		s := k.files[m.File]
		if s.err != nil {
			return fmt.Sprintf("its system calls cannot all be watched: %v", s.err)
		}
		for _, site := range s.sites {
			if !t.Watch(m, site, k.Called) {
				t.Unwatch()
				return fmt.Sprintf("the system call at %s+%#x cannot be watched", m.Path, site.Addr)
			}
		}
	}
	return ""
}

// searchable returns why the code of modules cannot be searched, "" if it can.
func searchable(mods []module.Loaded) string {
	size := uint64(0)
	for i := range mods {
		m := &mods[i]
		if m.File == nil || m.Err != nil {
			return fmt.Sprintf("%s cannot be searched for system calls", m.Path)
		}
		for _, text := range m.File.Text() {
			size += text.End - text.Start
		}
	}
	switch {
	case len(mods) == 0:
		return "the target maps no program"
	case size > mostCode:
		return fmt.Sprintf("its code, %d MB, is too large to be searched for system calls", size>>20)
	}
	return ""
}

// Called is called before a thread makes a system call at a watched instruction.
func (k *Keeper) Called(tid int, number uint64) {
	switch {
	case tid != k.last.tid:
	case number == SetAffinity:
		k.refuse("it sets its CPUs")
	case number != GetAffinity:
		k.image.calls++
	case k.with != nil:
		if k.image.reads++; k.image.reads >= mostReads {
			k.refuse("it reads its CPUs again and again")
		} else {
			k.Apart("it has just read its CPUs")
		}
	}
}

// Replaced is called when the target runs another program, before it runs anything of it, or has mapped further
// modules.
func (k *Keeper) Replaced() {
	k.Apart("the target has just executed a program or opened a library")
}
