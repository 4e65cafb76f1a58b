package debuginfo

import (
	"strings"

	"gotap/compile/shape"
	"gotap/engine/image/debuginfo/ctype"
)

// interfaces are how interfaces of Go are laid out, with and without methods: in Go 1.22 and later, and before.
var interfaces = []struct {
	name string
	shape.Dynamic
}{
	{"runtime.iface", shape.Dynamic{First: "tab", Type: "tab.Type", Data: "data"}},
	{"runtime.iface", shape.Dynamic{First: "tab", Type: "tab._type", Data: "data"}},
	{"runtime.eface", shape.Dynamic{First: "_type", Type: "_type", Data: "data"}},
}

// typeMembers are the members of the description of a type: in Go 1.21 and later, and before.
var typeMembers = []shape.Dynamic{
	{Kind: "Kind_", Flags: "TFlag", Name: "Str"},
	{Kind: "kind", Flags: "tflag", Name: "str"},
}

// dynamic returns how t, an interface of Go, has its value; nil if it is something else.
func (w *walk) dynamic(t *ctype.Type) *shape.Dynamic {
	for _, known := range interfaces {
		if t.Name != known.name || !w.in.hasPath(t, strings.Split(known.Type, ".")) || !w.in.hasPath(t, []string{known.Data}) {
			continue
		}
		for _, d := range typeMembers {
			below := func(member string) []string { return strings.Split(known.Type+"."+member, ".") }
			if !w.in.hasPath(t, below(d.Kind)) || !w.in.hasPath(t, below(d.Flags)) || !w.in.hasPath(t, below(d.Name)) {
				continue
			}
			d.First, d.Type, d.Data = known.First, known.Type, known.Data
			d.Module, d.Types, d.TypesEnd = "runtime.firstmoduledata", "types", "etypes"
			return &d
		}
	}
	return nil
}
