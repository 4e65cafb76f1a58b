package compiler

import (
	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/emit"
	"gotap/compile/js/lower"
	"gotap/compile/js/state"
	"gotap/compile/js/tree"
)

// compiler compiles one unit once.
type compiler struct {
	unit  js.Unit
	state *state.State
	trees []handlerTree
}

// handlerTree is a checked handler.
type handlerTree struct {
	kind js.HandlerKind
	tree tree.Handler
}

func newCompiler(u js.Unit, f state.Facts) *compiler {
	if p, ok := u.Place.(js.Sized); ok && u.WordSize == 0 {
		u.WordSize = p.WordSize()
	}
	if u.WordSize == 0 {
		u.WordSize = 8
	}
	c := &compiler{unit: u}
	c.state = state.New(&c.unit, f)
	return c
}

// compile checks all handlers, in the order in which they run during a call.
func (c *compiler) compile() {
	for k := js.Enter; k < js.NumHandlers; k++ {
		if fn := c.unit.Handlers[k]; fn != nil && !c.state.Learned {
			c.trees = append(c.trees, handlerTree{k, lower.LowerHandler(c.state, k, fn)})
		}
	}
}

// finish emits what was checked.
func (c *compiler) finish() (js.Result, diag.List) {
	st := c.state
	if c.unit.Place == nil && st.Result.NeedsPlace() { // what is divided is known only at the place
		st.Withdraw()
	}
	st.UnsetFields()
	if !st.Diags.HasErrors() {
		for _, t := range c.trees {
			if p := emit.Program(st, c.unit.Name+" "+t.kind.String(), t.tree); p != nil {
				st.Result.Programs[t.kind] = p
			}
		}
	}
	if !st.Diags.HasErrors() {
		st.Refine()
	}
	if st.Diags.HasErrors() {
		st.Result.Programs = map[js.HandlerKind]*compile.Program{}
	}
	st.Result.ThisBytes, st.Result.Guessed = st.Storage.Size(), st.Guesses()
	return st.Result, st.Diags
}

// Compile compiles the handlers of a probe. All errors are found at once; when there is one, the Result holds no
// programs. Compile only reads what the Unit refers to, apart from refining the shape of maps and aggregations in the
// Arena once everything else is right.
func Compile(u js.Unit) (js.Result, diag.List) {
	facts := state.Facts{}
	for {
		c := newCompiler(u, facts)
		c.compile()
		// A fact learned late (a map holds text) may change what was compiled before it. Each round adds a fact, and
		// there are only as many as there are names.
		if !c.state.Learned {
			return c.finish()
		}
	}
}
