package remote_test

import "testing"

// TestStructResults: members of structs that functions return are those that the function gave, also where the struct
// is returned in memory and no register tells of it any more.
func TestStructResults(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		k.name, k.source = "results-"+k.name, "testdata/results.c"
		g := k.start(t)
		got, errs, status := run(t, `
			probe("small", { leave(c) { log("small", c.ret.a, c.ret.b); } });
			probe("floats", { leave(c) { log("floats", c.ret.x, c.ret.y); } });
			probe("large", { when: c => c.ret.n > 0, leave(c) { log("large", c.ret.n, c.ret.square, str(c.ret.name), c.ret.in.b); } });
			probe("large", { limit: 1, leave(c) { log(pretty(c.ret)); } });`, "-q", "--remote", g.address, "--exe", k.program(t))
		want := "small 1 -1\nfloats 2.5 -2\n" +
			`{ .n = 0, .square = 0, .name = "name", .in = { .a = 0, .b = 0 } }` + "\n" +
			"large 1 1 name -1\nlarge 2 4 name -2\nlarge 3 9 name -3\n"
		if status != 0 || got != want {
			t.Errorf("status %d, %q, not %q\n%s", status, got, want, errs)
		}
		if _, status := g.wait(t); status != 0 {
			t.Errorf("the target ended with status %d", status)
		}
	})
}
