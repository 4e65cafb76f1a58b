package link

import (
	"slices"
	"strings"
	"sync"

	"gotap/engine"
	"gotap/engine/place"
	"gotap/engine/registry"
)

// Versions knows which names of probes mean several functions of one file, as versions of a symbol. The versions are
// read when something asks for them. Safe for concurrent use; the zero value is ready.
type Versions struct {
	mu    sync.Mutex          // guards what follows
	plain map[uint32][]string // by probe, its names of functions without anything else
	found map[string]*Versioned
	told  map[string]bool
}

// Versioned is a name in a file, with the addresses of the functions that a probe is on.
type Versioned struct {
	Name string // "libc.so.6:memcpy"

	addrs []uint64
	at    registry.VersionedPlace
}

// Names returns the names that stand for single functions, "memcpy@GLIBC_2.2.5".
func (v Versioned) Names() []string { return v.at.Versions() }

// Watch has the names among the places of a probe observed: those of a pattern are expected to be many.
func (v *Versions) Watch(probe uint32, specs []place.Spec) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range specs {
		if s.Kind != place.Function || s.Of == place.Callees || s.File != "" || s.Pattern() {
			continue
		}
		if v.plain == nil {
			v.plain, v.found, v.told = map[uint32][]string{}, map[string]*Versioned{}, map[string]bool{}
		}
		v.plain[probe] = append(v.plain[probe], s.Name)
	}
}

// note remembers a place of a probe.
func (v *Versions) note(probe uint32, at engine.PlaceInfo) {
	versioned, ok := at.(registry.VersionedPlace)
	if !ok {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	name := at.Name()
	if !slices.ContainsFunc(v.plain[probe], func(plain string) bool { return strings.HasSuffix(name, ":"+plain) }) {
		return
	}
	f := v.found[name]
	if f == nil {
		f = &Versioned{Name: name, at: versioned}
		v.found[name] = f
	}
	if addr := versioned.Start(); !slices.Contains(f.addrs, addr) {
		f.addrs = append(f.addrs, addr)
	}
}

// Fresh returns the names that mean several functions, each once.
func (v *Versions) Fresh() (fresh []Versioned) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for name, f := range v.found {
		if len(f.addrs) > 1 && !v.told[name] && len(f.Names()) > 1 {
			v.told[name] = true
			fresh = append(fresh, *f)
		}
	}
	slices.SortFunc(fresh, func(a, b Versioned) int { return strings.Compare(a.Name, b.Name) })
	return fresh
}
