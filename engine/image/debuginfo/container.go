package debuginfo

import (
	"errors"
	"strconv"
	"strings"
	"unicode"

	"gotap/compile"
	"gotap/compile/shape"
	"gotap/engine/image/debuginfo/ctype"
)

// Containers of the standard libraries of C++, Rust and Go: what programmers think of as their contents is some steps
// away from their members. The table knows them by name, and believes it only if the members are there.

// layout is how a container is laid out. Paths are relative to it.
type layout struct {
	names       []string                                  // that its name begins with: "Vec<", "[]"
	data        string                                    // a sequence: its elements, an array or a pointer to the first
	length, end string                                    // their number, or a pointer behind the last
	inner       string                                    // a smart pointer: what it stands for
	flag, value string                                    // an optional value, and whether it is there
	size        string                                    // of others: the number of elements
	elementOf   bool                                      // elements have the type that is its first parameter
	chain       *chain                                    // elements are in linked nodes, size of them; without size up to a null link
	entries     bool                                      // elements are pairs of key and value
	set         bool                                      // elements have no numbers for those who use it
	capacity    string                                    // of a channel: how many elements fit
	fixed       bool                                      // its number of elements is a constant argument of the template
	rest        string                                    // of bits: path of the number of bits at end and behind it
	bits        bool                                      // elements are bits, which find finds
	handle      bool                                      // values of the language are pointers to it
	find        func(m *measure, t *ctype.Type) []finding // elements are found by a search
}

// Pseudo-members in paths: the pointer at the beginning of a smart pointer, whose target is the first parameter of the
// template, and the discriminant of alternatives.
const (
	pointerAtStart = "@pointer"
	contents       = "@contents" // what a buffer holds, which is of the first parameter of its template
	firstOfTuple   = partOfTuple + "0"
	partOfTuple    = "@" // followed by a number: an element of std::tuple of libstdc++
	discriminant   = compile.Discriminant
)

// boolVector begins the names of std::vector<bool>.
var boolVector = []string{"vector<bool,", "vector<bool>"}

var layouts = []layout{
	// C++, libstdc++.
	{names: boolVector, data: "_M_impl._M_start._M_p", end: "_M_impl._M_finish._M_p", rest: "_M_impl._M_finish._M_offset", find: stdBits, bits: true},
	{names: []string{"vector<"}, data: "_M_impl._M_start", end: "_M_impl._M_finish"},
	{names: []string{"array<"}, data: "_M_elems", fixed: true},
	{names: []string{"span<"}, data: "_M_ptr", length: "_M_extent._M_extent_value"},
	{names: []string{"span<"}, data: "_M_ptr", fixed: true},
	{names: []string{"initializer_list<"}, data: "_M_array", length: "_M_len"},
	{names: []string{"shared_ptr<"}, inner: "_M_ptr"},
	{names: []string{"unique_ptr<"}, inner: "_M_t._M_t." + firstOfTuple},
	{names: []string{"unique_ptr<"}, inner: "_M_t." + firstOfTuple},
	{names: []string{"optional<"}, flag: "_M_payload._M_engaged", value: "_M_payload._M_payload._M_value"},
	{names: []string{"map<", "multimap<"}, size: "_M_t._M_impl._M_node_count", find: stdTree, entries: true, set: true},
	{names: []string{"set<", "multiset<"}, size: "_M_t._M_impl._M_node_count", find: stdTree, set: true},
	{names: []string{"deque<"}, find: stdDeque},
	{names: []string{"unordered_map<", "unordered_multimap<"}, size: "_M_h._M_element_count", chain: &hashChain, entries: true, set: true},
	{names: []string{"unordered_set<", "unordered_multiset<"}, size: "_M_h._M_element_count", chain: &hashChain, set: true},
	{names: []string{"list<"}, size: "_M_impl._M_node._M_size", chain: &listChain},
	{names: []string{"forward_list<"}, chain: &oneWay},
	// C++, libc++.
	{names: boolVector, size: "__size_", find: libcBits, bits: true},
	{names: []string{"vector<"}, data: "__begin_", end: "__end_"},
	{names: []string{"array<"}, data: "__elems_", fixed: true},
	{names: []string{"shared_ptr<"}, inner: "__ptr_"},
	{names: []string{"unique_ptr<"}, inner: "__ptr_.__value_"},
	{names: []string{"unique_ptr<"}, inner: "__ptr_"},
	{names: []string{"optional<"}, flag: "__engaged_", value: "__val_"},
	{names: []string{"span<"}, data: "__data", length: "__size"},
	{names: []string{"span<"}, data: "__data_", length: "__size_"},
	{names: []string{"span<"}, data: "__data", fixed: true},
	{names: []string{"span<"}, data: "__data_", fixed: true},
	{names: []string{"initializer_list<"}, data: "__begin_", length: "__size_"},
	{names: []string{"map<", "multimap<"}, size: "__tree_.__pair3_.__value_", find: libcTree, entries: true, set: true},
	{names: []string{"set<", "multiset<"}, size: "__tree_.__pair3_.__value_", find: libcTree, set: true},
	{names: []string{"map<", "multimap<"}, size: "__tree_.__size_", find: libcTree, entries: true, set: true},
	{names: []string{"set<", "multiset<"}, size: "__tree_.__size_", find: libcTree, set: true},
	{names: []string{"unordered_map<", "unordered_multimap<"}, size: "__table_.__p2_.__value_", chain: &libcHash, entries: true, set: true},
	{names: []string{"unordered_set<", "unordered_multiset<"}, size: "__table_.__p2_.__value_", chain: &libcHash, set: true},
	{names: []string{"unordered_map<", "unordered_multimap<"}, size: "__table_.__size_", chain: &libcNewHash, entries: true, set: true},
	{names: []string{"unordered_set<", "unordered_multiset<"}, size: "__table_.__size_", chain: &libcNewHash, set: true},
	{names: []string{"forward_list<"}, chain: &libcOneWay},
	{names: []string{"forward_list<"}, chain: &libcNewOneWay},
	{names: []string{"list<"}, size: "__size_alloc_.__value_", chain: &libcList},
	{names: []string{"list<"}, size: "__size_", chain: &libcList},
	{names: []string{"deque<"}, size: "__size_.__value_", find: libcDeque},
	{names: []string{"deque<"}, size: "__size_", find: libcDeque},
	// Where the classes inside are only declared.
	{names: []string{"unique_ptr<"}, inner: pointerAtStart},
	// Rust.
	{names: []string{"Vec<"}, data: "buf.inner.ptr.pointer.pointer", length: "len", elementOf: true},
	{names: []string{"Vec<"}, data: "buf.ptr.pointer.pointer", length: "len", elementOf: true},
	{names: []string{"&[", "&mut [", "alloc::boxed::Box<["}, data: "data_ptr", length: "length"},
	{names: []string{"Rc<"}, inner: "ptr.pointer.value"},
	{names: []string{"Arc<"}, inner: "ptr.pointer.data"},
	{names: []string{"HashMap<"}, size: "base.table.table.items", find: hashbrown("base.table"), entries: true, set: true},
	{names: []string{"HashSet<"}, size: "base.map.table.table.items", find: hashbrown("base.map.table"), entries: true, set: true},
	{names: []string{"BTreeMap<"}, size: "length", find: btree(""), set: true},
	{names: []string{"BTreeSet<"}, size: "map.length", find: btree("map."), set: true},
	{names: []string{"VecDeque<"}, size: "len", find: vecDeque},
	// Go.
	{names: []string{"[]"}, data: "array", length: "len"},
	{names: []string{"map<"}, size: "used", find: goMap, handle: true, entries: true, set: true},
	{names: []string{"hash<"}, size: "count"},
	{names: []string{"hchan<"}, size: "qcount", capacity: "dataqsiz", find: goChan, handle: true},
}

// layoutOf returns how a struct is laid out, or nil if it is none of the known containers.
func (in *Info) layoutOf(t *ctype.Type) *layout {
	if t.Kind != ctype.Struct || t.Declared || t.Name == "" {
		return nil
	}
	for i := range layouts {
		l := &layouts[i]
		for _, name := range l.names {
			if (strings.HasPrefix(t.Name, name) || name == "[]" && goKind(t) == goSlice) && in.hasAll(t, l) {
				return l
			}
		}
	}
	return nil
}

// hasAll reports whether all paths of a layout are there.
func (in *Info) hasAll(t *ctype.Type, l *layout) bool {
	for _, path := range []string{l.data, l.length, l.end, l.inner, l.flag, l.value, l.size, l.capacity, l.rest} {
		if path != "" && !in.hasPath(t, strings.Split(path, ".")) {
			return false
		}
	}
	if l.chain != nil && !in.hasPath(t, strings.Split(l.chain.first, ".")) {
		return false
	}
	if l.find != nil && l.size == "" && in.findings(t, l) == nil {
		return false
	}
	if _, known := in.types.TemplateValue(t, 0); l.fixed && !known {
		return false
	}
	return l.inner != pointerAtStart || in.types.Size(t) == in.entries.Word()
}

// hasPath reports whether a type has members of these names, one in the other.
func (in *Info) hasPath(t *ctype.Type, path []string) bool {
	for _, name := range path {
		if name == pointerAtStart || name == contents {
			_, ok := in.types.TemplateType(t, 0)
			return ok
		}
		if number, isPart := strings.CutPrefix(name, partOfTuple); isPart {
			m, ok := in.tuplePart(t, number, 0)
			part, err := in.types.Strip(m.Type, ok)
			if !ok || err != nil {
				return false
			}
			t = part
			continue
		}
		if t.Kind == ctype.Pointer || t.Kind == ctype.Reference {
			inner, err := in.types.Strip(t.Elem, t.HasElem)
			if err != nil {
				return false
			}
			t = inner
		}
		m, ok, err := memberOf(in, t, name)
		if err != nil || !ok {
			return false
		}
		if t, err = in.types.Strip(m.Type, true); err != nil {
			return false
		}
	}
	return true
}

// errNoElements reports a struct without elements.
var (
	errNoElements = errors.New("its elements do not follow one another")
	errNoAddress  = errors.New("it is in registers, and its elements are found from its address")
)

// elements moves from a sequence to its elements: an array, or a pointer to the first.
func (w *walk) elements(t *ctype.Type) (*ctype.Type, error) {
	l := w.in.layoutOf(t)
	if l == nil || l.data == "" {
		return nil, errNoElements
	}
	elem, known := w.in.types.TemplateType(t, 0)
	for _, name := range strings.Split(l.data, ".") {
		if err := w.step(name); err != nil {
			return nil, err
		}
	}
	if l.elementOf {
		if !known {
			return nil, errNoElements
		}
		w.setType(elem, true)
		w.pointers = 1
	}
	return w.stripped()
}

// pseudo moves to a pseudo-member; ok is false for ordinary names.
func (w *walk) pseudo(t *ctype.Type, name string) (ok bool, err error) {
	if ok, err := w.foundAddress(t, name); ok {
		return true, err
	}
	if number, isPart := strings.CutPrefix(name, partOfTuple); isPart {
		if m, found := w.in.tuplePart(t, number, 0); found {
			w.setType(m.Type, true)
			inner, err := w.stripped()
			if err != nil {
				return true, err
			}
			return true, w.part(m.Offset, w.in.types.Size(inner))
		}
	}
	switch name {
	case compile.Target: // step has followed the pointer
		return true, nil
	case contents:
		to, known := w.in.types.TemplateType(t, 0)
		if !known {
			return true, errNoElements
		}
		w.setType(to, true)
		inner, err := w.stripped()
		if err != nil {
			return true, err
		}
		return true, w.part(0, w.in.types.Size(inner))
	case pointerAtStart:
		to, known := w.in.types.TemplateType(t, 0)
		if !known {
			return true, errNoElements
		}
		if err := w.part(0, w.in.entries.Word()); err != nil {
			return true, err
		}
		w.setType(to, true)
		if array, err := w.in.types.Strip(to, true); err == nil && array.Kind == ctype.Array {
			w.setType(array.Elem, array.HasElem)
		}
		w.pointers = 1
		return true, nil
	case discriminant:
		v := w.in.types.Variants(t)
		if l := w.in.layoutOf(t); v == nil && l != nil && l.inner != "" {
			return true, w.memberBehind(l, name)
		}
		if v == nil || !v.Has {
			return true, &AccessError{Name: w.name, Reason: "it has no alternatives"}
		}
		w.setType(v.Discr.Type, true)
		inner, err := w.stripped()
		if err != nil {
			return true, err
		}
		return true, w.part(v.Discr.Offset, w.in.types.Size(inner))
	}
	return false, nil
}

// alternative moves to an alternative by its name; ok is false if there is none. It is there only if the discriminant
// has its value, which the access says.
func (w *walk) alternative(t *ctype.Type, name string) (ok bool, err error) {
	v := w.in.types.Variants(t)
	if v == nil {
		return false, nil
	}
	for _, c := range v.Cases {
		if c.Name != name {
			continue
		}
		if v.Has {
			w.checks = append(w.checks, compile.Check{Depth: w.depth, Values: v.ValuesOf(c), Other: c.Other})
		}
		w.name += "." + name
		w.setType(c.Type, true)
		inner, err := w.stripped()
		if err != nil {
			return true, err
		}
		return true, w.part(c.Offset, w.in.types.Size(inner))
	}
	return false, nil
}

// container adds to the shape of a struct what is known of containers and alternatives.
func (w *walk) container(s *shape.Shape, t *ctype.Type) {
	if v := w.in.types.Variants(t); v != nil && len(v.Cases) > 0 {
		for _, c := range v.Cases {
			s.Cases = append(s.Cases, shape.Case{Name: c.Name, Values: v.ValuesOf(c), Other: c.Other, Sole: !v.Has})
		}
		return
	}
	if strings.HasPrefix(t.Name, "tuple<") {
		for i := range maxParts {
			number := strconv.Itoa(i)
			if _, ok := w.in.tuplePart(t, number, 0); !ok {
				break
			}
			s.Parts = append(s.Parts, partOfTuple+number)
		}
		return
	}
	if strings.HasPrefix(t.Name, "variant<") {
		w.stdVariant(s, t)
		return
	}
	l := w.in.layoutOf(t)
	if l == nil {
		return
	}
	s.Length, s.Start, s.End, s.Inner, s.Count = l.length, "", l.end, l.inner, l.size
	if l.array(w.in.types, t) != nil {
		n, _ := l.count(w.in.types, t)
		s.Sequence, s.Len = true, int(n)
		return
	}
	s.Optional = shape.Optional{Flag: l.flag, Value: l.value}
	s.Sequence = l.data != "" && !l.bits
	if !s.Sequence {
		if !w.findShape(s, t, l) {
			w.chainShape(s, t, l)
		}
		return
	}
	part := *w
	elems, err := part.elements(t)
	if err != nil {
		*s = shape.Shape{Kind: s.Kind, Members: s.Members, Text: s.Text}
		return
	}
	s.Start = l.data
	if l.fixed {
		n, _ := l.count(w.in.types, t)
		s.Len = int(n)
		return
	}
	if elems.Kind == ctype.Array {
		if len(elems.Dims) > 0 {
			s.Len = int(max(elems.Dims[0], 0))
		}
		return
	}
	if elem, err := w.in.types.Strip(elems.Elem, elems.HasElem); err == nil {
		s.Stride = w.in.types.Size(elem)
	}
}

// variants are how std::variant is laid out: what says which alternative is there, and the unions in each other, of one
// alternative and a union of the others.
var variants = []struct{ index, path, first, rest string }{
	{"_M_index", "_M_u.", "_M_first." + contents, "_M_rest."}, // libstdc++
	{"__impl.__index", "__impl.__data.", "__head.__value", "__tail."},
	{"__impl_.__index", "__impl_.__data.", "__head.__value", "__tail."},
}

// stdVariant describes std::variant.
func (w *walk) stdVariant(s *shape.Shape, t *ctype.Type) {
	for _, v := range variants {
		if !w.in.hasPath(t, strings.Split(v.index, ".")) {
			continue
		}
		path := v.path
		for i := range maxAlternatives {
			if !w.in.hasPath(t, strings.Split(path+v.first, ".")) {
				break
			}
			s.Cases = append(s.Cases, shape.Case{Name: strconv.Itoa(i), Path: path + v.first, Values: []int64{int64(i)}})
			path += v.rest
		}
		s.Index = v.index
		return
	}
}

// maxAlternatives bounds the alternatives of std::variant that are shown, maxParts the parts of std::tuple, of which
// fewer are shown.
const (
	maxAlternatives = 16
	maxParts        = 40
)

// isNumbered reports whether a class is an instance of a template whose first argument is a number. Compilers write it
// with or without a suffix: __tuple_leaf<0UL, int, false>.
func isNumbered(name, template, number string) bool {
	rest, ok := strings.CutPrefix(name, template+number)
	return ok && rest != "" && !unicode.IsDigit(rune(rest[0]))
}

// tuplePart finds an element of std::tuple, which has a base class for each in both libraries.
func (in *Info) tuplePart(t *ctype.Type, number string, depth int) (ctype.Member, bool) {
	members, err := in.types.Members(t)
	if err != nil || depth > maxParts {
		return ctype.Member{}, false
	}
	for _, m := range members {
		base, err := in.types.Strip(m.Type, true)
		if err != nil || base.Kind != ctype.Struct {
			continue
		}
		if isNumbered(base.Name, "_Head_base<", number) {
			head, ok, err := in.types.FindMember(base, "_M_head_impl")
			head.Offset += m.Offset
			return head, ok && err == nil
		}
		if isNumbered(base.Name, "__tuple_leaf<", number) {
			leaf, ok, err := in.types.FindMember(base, "__value_")
			if err == nil && !ok { // an empty class is its base
				return m, true
			}
			leaf.Offset += m.Offset
			return leaf, err == nil
		}
		if strings.HasPrefix(base.Name, "_Tuple_impl<") || strings.HasPrefix(base.Name, "__tuple_impl<") {
			if part, ok := in.tuplePart(base, number, depth+1); ok {
				part.Offset += m.Offset
				return part, true
			}
		}
	}
	return ctype.Member{}, false
}

// memberOf finds a member of a class, for programs and for what knows containers. A pair of libc++ has two members of
// one name if its second part, a deleter or a comparator, is not empty: the name stands for the first.
func memberOf(in *Info, t *ctype.Type, name string) (ctype.Member, bool, error) {
	m, ok, err := in.types.FindMember(t, name)
	var two *ctype.AmbiguousError
	if errors.As(err, &two) && strings.HasPrefix(t.Name, "__compressed_pair<") {
		return two.First, true, nil
	}
	return m, ok, err
}
