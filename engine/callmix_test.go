package engine

import (
	"fmt"
	"strconv"
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// TestRandomCalls follows random calls, which end in any way there is, with every engine. The target counts its calls
// itself.
func TestRandomCalls(t *testing.T) {
	path := builtWith(t, testenv.GXX, "callmix", "g++", "-O2", "-g", "-o", "OUT", "testdata/callmix.cc")
	all := map[string]Engine{"inline": Inline}
	for name, e := range engines {
		all[name] = e
	}
	for seed := range rounds(5, 300) {
		for name, e := range all {
			t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) { followRandomCalls(t, e, path, seed) })
		}
	}
}

// followRandomCalls counts the calls of each function, and those that return with their arguments and results.
func followRandomCalls(t *testing.T, e Engine, path string, seed int) {
	const functions = 5
	w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
	tg := w.launch(path, strconv.Itoa(seed), "100")
	var seen [functions][4]*counter // calls, returns, arguments, results
	for i := range seen {
		for j := range seen[i] {
			seen[i][j] = w.counter()
		}
		calls, returns, args, results := seen[i][0], seen[i][1], seen[i][2], seen[i][3]
		w.probe(fmt.Sprintf("callmix*:f%d*", i), Handlers{
			Enter: w.code(runtime.Inst{Op: opcode.IncGV, V: calls.offset()}, runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.PopThis}),
			Leave: w.code(runtime.Inst{Op: opcode.IncGV, V: returns.offset()},
				runtime.Inst{Op: opcode.PushThis}, runtime.Inst{Op: opcode.AddGV, V: args.offset()},
				runtime.Inst{Op: opcode.Retval}, runtime.Inst{Op: opcode.AddGV, V: results.offset()}),
		}, func(p *ProbeSpec) { p.ThisBytes = 8 })
	}
	w.run()
	var got string
	for i, f := range seen {
		got += fmt.Sprintf("f%d %d %d %d %d\n", i, f[0].get(), f[1].get(), f[2].get(), f[3].get())
	}
	want(t, "calls, returns, arguments, results", got, tg.output())
}
