package remote_test

import (
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

// TestGo: calls of Go functions are each entered once and left, although their stacks move, and their arguments and
// results are found, in registers and on the stack.
func TestGo(t *testing.T) {
	for arch, k := range map[string]kind{
		"arm":   {needs: []testenv.Need{testenv.QEMUARM}, stub: qemu("qemu-arm")},
		"arm64": {needs: []testenv.Need{testenv.QEMUARM64}, stub: qemu("qemu-aarch64")},
		"386":   {needs: []testenv.Need{testenv.IA32, testenv.AMD64, testenv.GDBServer, testenv.Ptrace}, stub: gdbserver},
		"amd64": {needs: []testenv.Need{testenv.AMD64, testenv.GDBServer, testenv.Ptrace}, stub: gdbserver},
	} {
		t.Run(arch, func(t *testing.T) {
			t.Setenv("GODEBUG", "asyncpreemptoff=1") // QEMU's user emulation stops for signals, in one thread while others run
			k.name, k.source = "go-"+arch, "./testdata/routine"
			k.compiler = []string{"env", "CGO_ENABLED=0", "GOARCH=" + arch, "go", "build"}
			testenv.Require(t, append(k.needs, "go")...)
			program := build(t, "target-"+k.name, append(k.compiler, "-o", filepath.Join(tools.dir, "target-"+k.name), k.source)...)
			g := k.startFile(t, program)
			got, errs, status := run(t, `
				let enters = 0, leaves = 0, sum = 0, most = 0;
				probe("main.work", { enter(c) { enters++; most = max(most, c.args.n, c.arg2); }, leave(c) { leaves++; sum += c.ret; } });
				end(() => console.log(enters, leaves, sum, most));`, "--remote", g.address, "--exe", program)
			if want := "402 402 42210 200\n"; status != 0 || got != want {
				t.Errorf("status %d, %q, not %q\n%s", status, got, want, errs)
			}
			if out, _ := g.wait(t); !strings.Contains(out, "205\n205\n") {
				t.Errorf("the target wrote %q", out)
			}
		})
	}
}
