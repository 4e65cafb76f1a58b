package script

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/dop251/goja/ast"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/runtime"
)

// sharedObject is an object of the arena as the script declared it.
type sharedObject struct {
	object runtime.Object
	id     int
}

// keepShared notes an object.
func (s *Script) keepShared(o sharedObject) {
	s.sharedMu.Lock()
	defer s.sharedMu.Unlock()
	s.shared = append(s.shared, o)
}

// adopted finds an object of the running version of the script with the same name and type, for this one to go on with. The
// two share it: what the old version's programs add until they are gone is not lost. A setting is a variable that nothing changes:
// it has to begin with the same value, or else the new version's word for it counts.
func (s *Script) adopted(o runtime.Object, setting bool) (int, bool) {
	if s.opts.Previous == nil || o.Name == "" {
		return 0, false
	}
	for _, old := range s.opts.Previous.shared {
		if !s.taken[old.id] && sameType(old.object, o) && (!setting || old.object.Init == o.Init && old.object.Text == o.Text) {
			s.taken[old.id] = true
			return old.id, true
		}
	}
	return 0, false
}

// sameType compares all that a declaration says but the initial value.
func sameType(a, b runtime.Object) bool {
	a.Init, a.Text, a.Value = b.Init, b.Text, b.Value
	return a == b
}

// compileAnew handles errors that may come from adopted objects whose keys have another shape now: these start afresh. When
// the errors remain they were the script's own.
func (s *Script) compileAnew(before diag.List) diag.List {
	changed := false
	for _, a := range s.aggregates {
		if !s.taken[a.id] || a.object.Keys == 0 || !a.hasValues() {
			continue
		}
		id, err := s.arena.Declare(a.object)
		if err != nil {
			return before
		}
		s.replaceShared(a.id, id)
		a.id, a.handle, changed = id, s.arena.Handle(id), true
	}
	if !changed {
		return before
	}
	var list diag.List
	for _, p := range s.probes {
		p.result, p.list = nil, nil
		s.foldProbe(p)
		_, diags := p.Compile(nil)
		list = append(list, diags...)
	}
	return list
}

func (s *Script) replaceShared(old, id int) {
	s.sharedMu.Lock()
	defer s.sharedMu.Unlock()
	for i := range s.shared {
		if s.shared[i].id == old {
			s.shared[i].id = id
		}
	}
}

// Plan says how to get from the running version of a watched script to this one: probes whose places, options and
// programs are the same keep their number, and need not be touched. It is called once, before Start.
func (s *Script) Plan(old *Script) (keep, add, remove []*Probe) {
	left := map[string][]*Probe{}
	for _, p := range old.probes {
		fp := p.Fingerprint()
		left[fp] = append(left[fp], p)
	}
	kept := map[*Probe]bool{}
	for _, p := range s.probes {
		fp := p.Fingerprint()
		if same := left[fp]; len(same) > 0 {
			left[fp] = same[1:]
			kept[same[0]] = true
			delete(s.byID, p.ID)
			p.ID = same[0].ID
			keep = append(keep, p)
			continue
		}
		add = append(add, p)
	}
	for _, p := range s.probes {
		s.byID[p.ID] = p
	}
	for _, p := range old.probes {
		if !kept[p] {
			remove = append(remove, p)
		}
	}
	s.inherit(old, add, remove)
	return keep, add, remove
}

// inherit finds the probes that take the places of those that go. Calls that are under way at the exchange end with the old
// programs, whose callbacks are gone by then: their events go to the heirs. What an earlier version left goes on to the heir's own.
func (s *Script) inherit(old *Script, add, remove []*Probe) {
	s.heirs = map[uint32]*Probe{}
	for id, p := range old.heirs {
		if heir := s.byID[p.ID]; heir != nil {
			s.heirs[id] = heir
		} else if heir := heirOf(p, add); heir != nil {
			s.heirs[id] = heir
		}
	}
	for _, p := range remove {
		if heir := heirOf(p, add); heir != nil {
			s.heirs[p.ID] = heir
		}
	}
}

// heirOf is the probe of the same name, or at the same place; nil when there is none.
func heirOf(p *Probe, among []*Probe) *Probe {
	for _, same := range []func(*Probe) bool{
		func(o *Probe) bool { return o.Name == p.Name },
		func(o *Probe) bool { return len(o.Specs) > 0 && len(p.Specs) > 0 && o.Specs[0].Text == p.Specs[0].Text },
	} {
		if i := slices.IndexFunc(among, same); i >= 0 {
			return among[i]
		}
	}
	return nil
}

// Fingerprint is equal for probes that do the same at the same places: callbacks do not count.
func (p *Probe) Fingerprint() string {
	h := &writer{done: map[*js.Function]int{}, seen: map[*names]bool{}}
	for _, spec := range p.Specs {
		fmt.Fprintf(&h.b, "%q ", spec.Text)
	}
	fmt.Fprintf(&h.b, "%q %d %d %d %d %d %d %d %v %v %v %v %v", p.Name, p.After, p.Limit, p.Every, p.Rate, p.MaxActive, p.LogMax, p.Fuel,
		p.LogOnFault, p.Optional, p.Disabled, p.unit.Unsafe, p.Order)
	for _, kind := range js.Kinds() {
		if fn := p.unit.Handlers[kind]; fn != nil {
			fmt.Fprintf(&h.b, "\n%v ", kind)
			h.function(fn)
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(h.b.String())))
}

// writer writes functions with the meaning of their names, each once.
type writer struct {
	b    strings.Builder
	done map[*js.Function]int
	seen map[*names]bool
}

func (h *writer) function(fn *js.Function) {
	if n, ok := h.done[fn]; ok {
		fmt.Fprintf(&h.b, "#%d", n)
		return
	}
	h.done[fn] = len(h.done)
	h.b.WriteString(sourceOf(fn))
	if n, ok := fn.Scope.(*names); ok {
		h.names(n)
	}
}

func (h *writer) names(n *names) {
	if h.seen[n] {
		return
	}
	h.seen[n] = true
	var list []string
	for name := range n.bindings {
		if _, host := hostOnly[name]; !host {
			list = append(list, name)
		}
	}
	sort.Strings(list)
	for _, name := range list {
		b := n.bindings[name]
		fmt.Fprintf(&h.b, "\n%s=%d %d %v %q %d", name, b.Kind, b.Int, b.Float, b.Text, b.Object)
		if b.Func != nil {
			h.function(b.Func)
		}
		if inner, ok := b.Scope.(*names); ok {
			h.names(inner)
		}
	}
}

// sourceOf is the text of a function.
func sourceOf(fn *js.Function) string {
	switch n := fn.Node.(type) {
	case *ast.FunctionLiteral:
		if n.Source != "" {
			return n.Source
		}
	case *ast.ArrowFunctionLiteral:
		return n.Source
	}
	start, end := int(fn.Node.Idx0())-fn.Base, int(fn.Node.Idx1())-fn.Base
	if fn.Source == nil || start < 0 || end > len(fn.Source.Text) || start > end {
		return ""
	}
	return fn.Source.Text[start:end]
}
