package debuginfo

import (
	"debug/dwarf"
	"fmt"
	"strings"

	"gotap/compile"
	"gotap/compile/shape"
	"gotap/engine/image/debuginfo/ctype"
)

// chain is how the nodes of a container of libstdc++ are linked. A node has pointers first, then its element, whose
// type the links do not have.
type chain struct {
	first, next string // path to the link to the first node, and from one node to the next
	links       int64  // pointers at the beginning of a node
	of          string // path of the class whose template parameter is the element's type; "": the container
	parameter   int
}

var (
	listChain     = chain{first: "_M_impl._M_node._M_next", next: "_M_next", links: 2}
	oneWay        = chain{first: "_M_impl._M_head._M_next", next: "_M_next", links: 1}
	libcList      = chain{first: "__end_.__next_", next: "__next_", links: 2}
	libcOneWay    = chain{first: "__before_begin_.__value_.__next_", next: "__next_", links: 1}
	libcNewOneWay = chain{first: "__before_begin_.__next_", next: "__next_", links: 1}
	libcHash      = chain{first: "__table_.__p1_.__value_.__next_", next: "__next_", links: 2, of: "__table_"}
	libcNewHash   = chain{first: "__table_.__first_node_.__next_", next: "__next_", links: 2, of: "__table_"}
	hashChain     = chain{first: "_M_h._M_before_begin._M_nxt", next: "_M_nxt", links: 1, of: "_M_h", parameter: 1}
)

// element returns the type of the elements in a container of type t; ok is false when the debug information does not
// have what is needed to find them.
func (in *Info) element(t *ctype.Type, c *chain) (elem dwarf.Offset, ok bool) {
	if !in.hasPath(t, strings.Split(c.first, ".")) {
		return 0, false
	}
	if c.of != "" {
		m, ok, err := in.types.FindMember(t, c.of)
		if err != nil || !ok {
			return 0, false
		}
		if t, err = in.types.Strip(m.Type, true); err != nil {
			return 0, false
		}
	}
	if elem, ok = in.types.TemplateType(t, c.parameter); !ok {
		return 0, false
	}
	inner, err := in.types.Strip(elem, true)
	return elem, err == nil && in.types.Size(inner) > 0
}

// linked moves to element i of a container of type t whose elements are linked, which costs a load for each node before
// it. The access checks that the container has more than i elements; where their number is not known, a null link ends
// the program with a trap. ok is false if t is not a container with linked elements.
func (w *walk) linked(t *ctype.Type, i int64) (ok bool, err error) {
	l := w.in.layoutOf(t)
	if l == nil || l.chain == nil {
		return false, nil
	}
	elem, ok := w.in.element(t, l.chain)
	if !ok {
		return false, nil
	}
	if i < 0 || i >= maxLinked {
		return true, &AccessError{Name: w.name, Reason: fmt.Sprintf("its elements are linked; only 0 to %d can be reached by number", maxLinked-1)}
	}
	if l.size != "" {
		w.checks = append(w.checks, compile.Check{Depth: w.depth, Length: l.size, Index: i})
	}
	for _, name := range strings.Split(l.chain.first, ".") {
		if err := w.step(name); err != nil {
			return true, err
		}
	}
	for range i {
		if err := w.step(l.chain.next); err != nil {
			return true, err
		}
	}
	node, err := w.stripped()
	if err != nil {
		return true, err
	}
	if _, err := w.follow(node); err != nil {
		return true, err
	}
	w.setType(elem, true)
	inner, err := w.stripped()
	if err != nil {
		return true, err
	}
	align := max(w.in.rules.Align(inner), 1)
	at := (l.chain.links*w.in.entries.Word() + align - 1) / align * align
	if err := w.part(at, w.in.types.Size(inner)); err != nil {
		return true, err
	}
	return true, w.unhide(inner)
}

// maxLinked bounds the nodes that are followed.
const maxLinked = 64

// chainShape adds to the shape of a container how its elements are shown, when they are linked.
func (w *walk) chainShape(s *shape.Shape, t *ctype.Type, l *layout) {
	if l.chain == nil {
		return
	}
	if _, ok := w.in.element(t, l.chain); !ok {
		return
	}
	s.Sequence, s.Length, s.Count = true, l.size, ""
	s.Set = l.set
	if l.size == "" {
		s.First, s.Next = l.chain.first, l.chain.next
	}
	if l.entries {
		s.Key, s.Mapped = "first", "second" // of what unhide moves to
	}
}
