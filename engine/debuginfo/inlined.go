package debuginfo

import (
	"debug/dwarf"
	"path"
	"strings"
)

// Values of DW_AT_inline that say that a function was put into the code of its callers (DWARF 5, 3.3.8.1).
const (
	inlInlined         = 1
	inlDeclaredInlined = 3
)

// Inlined finds a function that has no code of its own because the compiler put it into that of its callers. The name is with the
// namespaces around it. file and line are the first of its lines behind the head that has code: of the head's own
// code there need not be a piece for each call. ok is false when there is
// no such function, or when the debug information cannot be read. All of it is read, so this is for messages.
func (in *Info) Inlined(name string) (file string, line int, ok bool) {
	file, head := in.inlinedHead(name)
	if file == "" {
		return "", 0, false
	}
	for line = head + 1; line <= head+longestHead; line++ {
		if addrs, _, _ := in.AddrsOf(file, line); len(addrs) > 0 {
			return path.Base(file), line, true
		}
	}
	return path.Base(file), head, true
}

// longestHead is how many lines after the name of a function its first statement is looked for.
const longestHead = 20

// inlinedHead is where such a function is written; "" when there is none.
func (in *Info) inlinedHead(name string) (file string, line int) {
	var err error
	defer in.guard(&err)()
	if in.openLocked() != nil {
		return "", 0
	}
	last := name[strings.LastIndex(name, ":")+1:]
	for _, u := range in.units {
		var found []*dwarf.Entry
		err := in.topLevel(u, func(e *dwarf.Entry) (enter bool) {
			if how, _ := e.Val(dwarf.AttrInline).(int64); how == inlInlined || how == inlDeclaredInlined {
				if text, _ := e.Val(dwarf.AttrName).(string); text == last || text == "" {
					found = append(found, e)
				}
			}
			return isNamedScope(e.Tag)
		})
		if err != nil {
			return "", 0
		}
		for _, e := range found {
			if in.funcName(e) == name {
				return in.declared(u, e)
			}
		}
	}
	return "", 0
}

// declared is the line where a function is written. That of a method may be at its declaration in the class.
func (in *Info) declared(u *unit, e *dwarf.Entry) (file string, line int) {
	t, err := in.linesOf(u)
	if err != nil {
		return "", 0
	}
	number := func(attr dwarf.Attr) int64 {
		f, _, _ := in.attr(e, attr)
		if f == nil {
			return -1
		}
		n, _ := f.Val.(int64)
		return n
	}
	return t.file(number(dwarf.AttrDeclFile)), int(number(dwarf.AttrDeclLine))
}
