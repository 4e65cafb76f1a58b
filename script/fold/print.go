package fold

import (
	"fmt"
	"gotap/compile/js"
	"sort"
	"strings"

	"github.com/dop251/goja/ast"
)

// Printer writes functions together with the meaning of their names, each once, so that functions that do the same have
// equal texts.
type Printer struct {
	strings.Builder
	host map[string]js.Binding // names that mean the same everywhere
	done map[*js.Function]int
	seen map[*names]bool
}

// Printer makes a Printer.
func (f *Folder) Printer() *Printer {
	return &Printer{host: f.HostOnly, done: map[*js.Function]int{}, seen: map[*names]bool{}}
}

// Function writes a function.
func (h *Printer) Function(fn *js.Function) {
	if n, ok := h.done[fn]; ok {
		fmt.Fprintf(h, "#%d", n)
		return
	}
	h.done[fn] = len(h.done)
	h.WriteString(sourceOf(fn))
	if n, ok := fn.Scope.(*names); ok {
		h.names(n)
	}
}

func (h *Printer) names(n *names) {
	if h.seen[n] {
		return
	}
	h.seen[n] = true
	var list []string
	for name := range n.bindings {
		if _, host := h.host[name]; !host {
			list = append(list, name)
		}
	}
	sort.Strings(list)
	for _, name := range list {
		b := n.bindings[name]
		fmt.Fprintf(h, "\n%s=%d %d %v %q %d", name, b.Kind, b.Int, b.Float, b.Text, b.Object)
		if b.Func != nil {
			h.Function(b.Func)
		}
		if inner, ok := b.Scope.(*names); ok {
			h.names(inner)
		}
	}
}

// sourceOf returns the text of a function.
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
