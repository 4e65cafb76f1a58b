package debuginfo

import (
	"debug/dwarf"
	"fmt"
	"strconv"
	"strings"

	"gotap/compile"
	"gotap/compile/shape"
	"gotap/engine/image/debuginfo/ctype"
	"gotap/runtime/element"
)

// finding is how elements of a container are found, and their type.
type finding struct {
	layout element.Layout
	typ    dwarf.Offset
}

// measure reads offsets and types that a layout needs. After the first that is not there the rest is zero.
type measure struct {
	in     *Info
	failed bool
}

// findings returns how the elements of a container are found: one for elements, two for keys and values that lie apart;
// nil when the debug information does not have what is needed.
func (in *Info) findings(t *ctype.Type, l *layout) []finding {
	if l.find == nil {
		return nil
	}
	m := measure{in: in}
	all := l.find(&m, t)
	for _, f := range all {
		inner, err := in.types.Strip(f.typ, true)
		if err != nil || in.types.Size(inner) <= 0 {
			return nil
		}
	}
	if m.failed {
		return nil
	}
	return all
}

// place is the offset of what a path names in a type, and its type. Pointers are not followed.
func (m *measure) place(t *ctype.Type, path string) (offset int64, at dwarf.Offset) {
	for _, name := range strings.Split(path, ".") {
		if m.failed || t == nil || t.Kind != ctype.Struct && t.Kind != ctype.Union {
			m.failed = true
			return 0, 0
		}
		found, ok, err := memberOf(m.in, t, name)
		if err == nil && !ok {
			found, ok = m.alternative(t, name)
		}
		if err != nil || !ok || found.Virtual {
			m.failed = true
			return 0, 0
		}
		offset, at = offset+found.Offset, found.Type
		t = m.strip(at)
	}
	return offset, at
}

// alternative is the member that an alternative is.
func (m *measure) alternative(t *ctype.Type, name string) (ctype.Member, bool) {
	if v := m.in.types.Variants(t); v != nil {
		for _, c := range v.Cases {
			if c.Name == name {
				return ctype.Member{Type: c.Type, Offset: c.Offset}, true
			}
		}
	}
	return ctype.Member{}, false
}

// offset is that of what a path names.
func (m *measure) offset(t *ctype.Type, path string) int64 {
	offset, _ := m.place(t, path)
	return offset
}

// member is the type of what a path names.
func (m *measure) member(t *ctype.Type, path string) *ctype.Type {
	_, at := m.place(t, path)
	return m.strip(at)
}

// target is the type that a pointer of type t points to.
func (m *measure) target(t *ctype.Type) *ctype.Type { return m.strip(m.elem(t)) }

// elem is the type that a pointer or an array of type t has inside.
func (m *measure) elem(t *ctype.Type) dwarf.Offset {
	if m.failed || t.Kind != ctype.Pointer && t.Kind != ctype.Array || !t.HasElem {
		m.failed = true
		return 0
	}
	return t.Elem
}

func (m *measure) strip(at dwarf.Offset) *ctype.Type {
	if !m.failed {
		if t, err := m.in.types.Strip(at, true); err == nil {
			return t
		}
	}
	m.failed = true
	return &ctype.Type{}
}

// parameter is an argument of the template that t is made from.
func (m *measure) parameter(t *ctype.Type, number int) dwarf.Offset {
	if !m.failed {
		if at, ok := m.in.types.TemplateType(t, number); ok {
			return at
		}
	}
	m.failed = true
	return 0
}

func (m *measure) size(t *ctype.Type) int64 { return max(m.in.types.Size(t), 0) }

// behind is the offset of a value of type t that follows others of so many bytes.
func (m *measure) behind(bytes int64, t dwarf.Offset) int64 {
	if m.failed {
		return 0
	}
	align := max(m.in.rules.Align(m.strip(t)), 1)
	return (bytes + align - 1) / align * align
}

// found is one finding.
func found(t dwarf.Offset, kind element.Kind, numbers ...int64) []finding {
	return []finding{{element.Layout{Kind: kind, Numbers: numbers}, t}}
}

// stdTree is the red-black tree of libstdc++.
func stdTree(m *measure, t *ctype.Type) []finding {
	const header = "_M_t._M_impl._M_header"
	node, elem := m.member(t, header), m.parameter(m.member(t, "_M_t"), 1)
	return found(elem, element.Tree, m.offset(t, header+"._M_left"),
		m.offset(node, "_M_left"), m.offset(node, "_M_right"), m.offset(node, "_M_parent"), m.behind(m.size(node), elem))
}

// libcTree is the tree of libc++, whose nodes have three links and a colour first.
func libcTree(m *measure, t *ctype.Type) []finding {
	elem, word := m.parameter(m.member(t, "__tree_"), 0), m.in.entries.Word()
	return found(elem, element.Tree, m.offset(t, "__tree_.__begin_node_"), 0, word, 2*word, m.behind(3*word+1, elem))
}

// stdDeque is the deque of libstdc++, whose blocks have 512 bytes or one element.
func stdDeque(m *measure, t *ctype.Type) []finding {
	elem := m.parameter(t, 0)
	size := m.size(m.strip(elem))
	const start, finish = "_M_impl._M_start.", "_M_impl._M_finish."
	return found(elem, element.Deque, m.offset(t, start+"_M_node"), m.offset(t, start+"_M_cur"), m.offset(t, start+"_M_first"),
		m.offset(t, finish+"_M_node"), m.offset(t, finish+"_M_cur"), m.offset(t, finish+"_M_first"), perBlock(size, 512, 1), size)
}

// libcDeque is the deque of libc++, whose blocks have 4096 bytes or 16 elements.
func libcDeque(m *measure, t *ctype.Type) []finding {
	elem := m.parameter(t, 0)
	size := m.size(m.strip(elem))
	return found(elem, element.Blocks, m.offset(t, "__map_.__begin_"), m.offset(t, "__start_"), perBlock(size, 4096, 16), size)
}

func perBlock(size, bytes, least int64) int64 {
	if size <= 0 {
		return least
	}
	return max(bytes/size, least)
}

// stdBits is the std::vector<bool> of libstdc++.
func stdBits(m *measure, t *ctype.Type) []finding {
	const impl = "_M_impl."
	return found(m.parameter(t, 0), element.Bits, m.offset(t, impl+"_M_start._M_p"), m.offset(t, impl+"_M_finish._M_p"), m.offset(t, impl+"_M_finish._M_offset"))
}

// libcBits is the std::vector<bool> of libc++.
func libcBits(m *measure, t *ctype.Type) []finding {
	return found(m.parameter(t, 0), element.CountedBits, m.offset(t, "__begin_"), m.offset(t, "__size_"))
}

// hashbrown is the table of Rust's maps and sets. raw is the path of the table.
func hashbrown(raw string) func(m *measure, t *ctype.Type) []finding {
	return func(m *measure, t *ctype.Type) []finding {
		elem := m.parameter(m.member(t, raw), 0)
		inner := raw + ".table."
		return found(elem, element.Slots, m.offset(t, inner+"ctrl.pointer"), m.offset(t, inner+"bucket_mask"), m.size(m.strip(elem)))
	}
}

// btree is the B-tree of Rust's maps and sets. path is that of the map, with a dot behind it. Nodes with children have
// them behind what leaves have.
func btree(path string) func(m *measure, t *ctype.Type) []finding {
	return func(m *measure, t *ctype.Type) []finding {
		whole := t
		if path != "" {
			whole = m.member(t, strings.TrimSuffix(path, "."))
		}
		root := path + "root.Some.__0."
		leaf := m.target(m.member(t, root+"node.pointer"))
		part := func(member string, parameter int) []finding {
			elem := m.parameter(whole, parameter)
			return found(elem, element.BTree, m.offset(t, root+"node.pointer"), m.offset(t, root+"height"),
				m.offset(leaf, "len"), m.size(leaf), m.offset(leaf, member), m.size(m.strip(elem)))
		}
		keys := part("keys", 0)
		if path != "" {
			return keys
		}
		return append(keys, part("vals", 1)...)
	}
}

// vecDeque is Rust's ring.
func vecDeque(m *measure, t *ctype.Type) []finding {
	elem := m.parameter(t, 0)
	return found(elem, element.Ring, m.offset(t, "buf.inner.ptr.pointer.pointer"), m.offset(t, "buf.inner.cap.__0"), m.offset(t, "head"), m.size(m.strip(elem)))
}

// goMap is Go's map of tables.
func goMap(m *measure, t *ctype.Type) []finding {
	table := m.target(m.target(m.member(t, "dirPtr")))
	group := m.target(m.member(table, "groups.data"))
	slot := m.elem(m.member(group, "slots"))
	return found(slot, element.Groups, m.offset(t, "dirPtr"), m.offset(t, "dirLen"), m.offset(table, "groups.data"),
		m.offset(table, "groups.lengthMask"), m.size(group), m.offset(group, "slots"), m.size(m.strip(slot)))
}

// goChan is Go's channel. Those who wait for it know the type of its elements.
func goChan(m *measure, t *ctype.Type) []finding {
	elem := m.elem(m.member(m.target(m.member(t, "recvq.first")), "elem"))
	return found(elem, element.Ring, m.offset(t, "buf"), m.offset(t, "dataqsiz"), m.offset(t, "recvx"), m.size(m.strip(elem)))
}

// findShape adds to the shape of a container how its elements are found. t is its type.
func (w *walk) findShape(s *shape.Shape, t *ctype.Type, l *layout) bool {
	all := w.in.findings(t, l)
	if all == nil {
		return false
	}
	if l.bits {
		s.Sequence, s.Count, s.Extent = true, "", shape.Extent{Length: l.size, Start: l.data, End: l.end, Rest: l.rest}
		return true
	}
	s.Sequence, s.Length, s.Count, s.Set, s.Capacity = true, l.size, "", l.set, l.capacity
	for i, f := range all {
		inner, err := w.in.types.Strip(f.typ, true)
		if err != nil {
			return false
		}
		name := w.in.types.Canonical(inner, 0)
		s.Found = append(s.Found, shape.Found{Path: foundAt + strconv.Itoa(i) + "#", Type: uint64(f.typ), Name: name})
		if i == 0 && l.entries {
			s.Key, s.Mapped = w.in.entryNames(inner)
		}
	}
	return true
}

// entryNames are the paths of key and value in an entry of a map; without a value there is none, or one of no size.
func (in *Info) entryNames(t *ctype.Type) (key, value string) {
	inside := ""
	for _, hidden := range hiddenEntries {
		if m, ok, err := in.types.FindMember(t, hidden); ok && err == nil {
			if inner, err := in.types.Strip(m.Type, true); err == nil {
				t, inside = inner, hidden+"."
			}
		}
	}
	for _, names := range [][2]string{{"first", "second"}, {"__0", "__1"}, {"key", "elem"}} {
		if !in.hasPath(t, names[:1]) || !in.hasPath(t, names[1:]) {
			continue
		}
		value, _, _ := in.types.FindMember(t, names[1])
		if of, err := in.types.Strip(value.Type, true); err == nil && in.types.Size(of) == 0 {
			return inside + names[0], ""
		}
		return inside + names[0], inside + names[1]
	}
	return "", ""
}

// hiddenEntries are the members of libc++ around an entry.
var hiddenEntries = []string{"__cc_", "__cc"}

// foundAt begins the pseudo-members that are the addresses of elements: which finding, #, and the element's number.
const foundAt = "@found"

// foundAddress moves to the address of an element that is found; ok is false for other names.
func (w *walk) foundAddress(t *ctype.Type, name string) (ok bool, err error) {
	which, number, ok := strings.Cut(strings.TrimPrefix(name, foundAt), "#")
	l := w.in.layoutOf(t)
	if !ok || !strings.HasPrefix(name, foundAt) || l == nil {
		return false, nil
	}
	i, err := strconv.Atoi(which)
	n, err2 := strconv.ParseInt(number, 10, 64)
	all := w.in.findings(t, l)
	if err != nil || err2 != nil || i >= len(all) {
		return true, errNoElements
	}
	if !w.place.Memory {
		return true, errNoAddress
	}
	w.place = w.place.Find(all[i].layout.String(), n, false)
	w.rest = &ctype.Type{Kind: ctype.Func} // an address, of what does not matter
	return true, nil
}

// searched moves to element i of a container whose elements are found; ok is false for others. chosen: the element is
// that of the program's index of this number.
func (w *walk) searched(t *ctype.Type, i int64, chosen bool) (ok bool, err error) {
	l := w.in.layoutOf(t)
	if l == nil {
		return false, nil
	}
	all := w.in.findings(t, l)
	switch {
	case all == nil:
		return false, nil
	case len(all) > 1:
		return true, &AccessError{Name: w.name, Reason: "its keys and values lie apart; pretty shows them"}
	case !chosen && (i < 0 || i >= all[0].layout.Kind.Most()):
		return true, &AccessError{Name: w.name, Reason: fmt.Sprintf("only its elements 0 to %d can be reached by number", all[0].layout.Kind.Most()-1)}
	case !w.place.Memory:
		return true, errNoAddress
	}
	if l.size != "" {
		w.checks = append(w.checks, compile.Check{Depth: w.depth, Length: l.size, Index: i, Chosen: chosen})
	}
	w.place = w.place.Find(all[0].layout.String(), i, chosen)
	w.setType(all[0].typ, true)
	if l.bits {
		w.bits = &ctype.Member{Bit: i % 8, Bits: 1}
		w.bitChosen = chosen
		if chosen {
			w.bits.Bit = i
		}
		return true, nil
	}
	inner, err := w.stripped()
	if err != nil {
		return true, err
	}
	return true, w.unhide(inner)
}

// isHandle reports whether t is a pointer that programs know as the container that it points to.
func (w *walk) isHandle(t *ctype.Type) bool {
	if t.Kind != ctype.Pointer || !t.HasElem || w.pointers > 0 {
		return false
	}
	inner, err := w.in.types.Strip(t.Elem, true)
	if err != nil {
		return false
	}
	l := w.in.layoutOf(inner)
	return l != nil && l.handle
}

// referred moves to what a pointer refers to that programs index as what it points to: a container of Go, or a
// container or an array behind a reference of Rust. Of other types it returns t.
func (w *walk) referred(t *ctype.Type) (*ctype.Type, error) {
	if w.isHandle(t) {
		return w.follow(t)
	}
	if t.Kind != ctype.Pointer || !t.HasElem || w.pointers > 0 || !strings.HasPrefix(t.Name, "&") {
		return t, nil
	}
	inner, err := w.in.types.Strip(t.Elem, true)
	if err != nil || inner.Kind != ctype.Array && w.in.layoutOf(inner) == nil {
		return t, err
	}
	return w.follow(t)
}

// unhide moves to the entry inside what libc++ puts around it. t is the type that the walk has reached.
func (w *walk) unhide(t *ctype.Type) error {
	for _, hidden := range hiddenEntries {
		if t.Kind == ctype.Struct && w.in.hasPath(t, []string{hidden}) {
			return w.step(hidden)
		}
	}
	return nil
}
