package scripttest

import (
	"testing"

	"gotap/script"
)

const writes = `const n = count("n");
const p = probe("f", {
  when: c => c.arg0 < 10,
  enter(c) { this.size = c.arg0; n.inc(); },
  leave(c) { exit.hold({ size: this.size, ret: c.ret }); },
  exit(e) { print(e.size, e.ret, e.comm); },
});
end(() => print(p.hits));`

// TestCall checks that programs run, that a predicate rejects hits, and that the callback gets the record of a held
// thread.
func TestCall(t *testing.T) {
	r := New(t, writes)
	out := r.Once(func() {
		r.Call(0, 7, 3)
		r.Call(0, 8, 30)
	})
	WantLines(t, out, "3 7 prog", "42", "@n: 1")
	r.Tracer.Mu.Lock()
	defer r.Tracer.Mu.Unlock()
	if r.Holds != 1 || len(r.Tracer.Released) != 1 || r.Tracer.Released[0] != 1 {
		t.Errorf("%d holds, released %v", r.Holds, r.Tracer.Released)
	}
}

// TestSharedArena checks that a second script counts in the first one's arena.
func TestSharedArena(t *testing.T) {
	first := New(t, `count("shared");`)
	second := NewOn(t, first.Arena, `const m = map("own", { keys: 1 }); probe("g", { enter(c) { m.set(0, c.arg0); } }); console.error("warned");`,
		func(o *script.Options) { o.Dir = Write(t, map[string]string{"a/b.js": "x"}) })
	second.Enter(0, 5)
	second.WantErrors("warned")
	if first.Arena != second.Arena {
		t.Error("the scripts have two arenas")
	}
}
