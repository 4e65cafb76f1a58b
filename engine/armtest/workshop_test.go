package armtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gotap/engine/testenv/fixture"
)

// workshop has what the images are made of. Machines that need the same file share it.
var workshop struct {
	sync.Mutex
	dir   string
	files map[string]*product
}

// product is a file of the workshop.
type product struct {
	sync.Mutex
	done bool
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gotap-armtest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	workshop.dir, workshop.files = dir, map[string]*product{}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// made returns the path of a file that a command makes, and runs the command if the file is not there yet. The word OUT
// among the arguments stands for the path.
func made(t *testing.T, file string, env []string, name string, args ...string) string {
	t.Helper()
	workshop.Lock()
	p := workshop.files[file]
	if p == nil {
		p = &product{}
		workshop.files[file] = p
	}
	workshop.Unlock()
	p.Lock()
	defer p.Unlock()
	path := filepath.Join(workshop.dir, file)
	if p.done {
		return path
	}
	os.MkdirAll(filepath.Dir(path), 0o755)
	cmd := fixture.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	for i, a := range cmd.Args {
		if a == "OUT" {
			cmd.Args[i] = path
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	p.done = true
	return path
}
