package completion

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"gotap/samples"
	"gotap/script"
)

// completions returns what a shell would be told for the words of a command line, of which the last one is not yet complete.
func completions(t *testing.T, words ...string) (list []string) {
	t.Helper()
	root := &cobra.Command{Use: "gotap"}
	for _, name := range []string{"run", "list", "clean"} {
		c := &cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}}
		c.Flags().String("eval", "", "")
		c.Flags().String("engine", "", "")
		c.Flags().String("arg", "", "")
		root.AddCommand(c)
	}
	Add(root, func(args []string, text string, given bool) []script.Option {
		return []script.Option{{Name: "f", Help: fmt.Sprintf("%q %q %v", args, text, given), Type: "text"}}
	})
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs(append([]string{cobra.ShellCompRequestCmd}, words...))
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if !strings.HasPrefix(line, ":") { // how the shell goes on
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}

func TestPlaces(t *testing.T) {
	list := completions(t, "list", "libc:strc")
	for _, want := range []string{"libc:strchr", "libc:strcmp"} {
		if !slices.ContainsFunc(list, func(s string) bool { return s == want || strings.HasPrefix(s, want+"\t") }) {
			t.Errorf("%s is not offered: %q", want, list)
		}
	}
	for _, s := range list {
		if !strings.HasPrefix(s, "libc:strc") {
			t.Errorf("%q is offered", s)
		}
	}
}

func TestSamplesAreOffered(t *testing.T) {
	s, ok := samples.Find("mallocs")
	if !ok {
		t.Fatal("cannot find the sample mallocs")
	}
	if list := completions(t, "run", "mall"); !slices.Equal(list, []string{"mallocs\t" + s.Purpose}) {
		t.Errorf("offered are %q", list)
	}
	if list := completions(t, "run", "./mall"); len(list) != 0 {
		t.Errorf("a path has the completions %q", list)
	}
}

func TestValuesOfFlags(t *testing.T) {
	if list := completions(t, "run", "--engine", ""); !slices.Equal(list, []string{"auto", "inline", "emulate", "step"}) {
		t.Errorf("engines are %q", list)
	}
	if list := completions(t, "run", "mine.js", "--arg", ""); !slices.Equal(list, []string{`f=	["mine.js"] "" false (text)`}) {
		t.Errorf("arguments of a script are %q", list)
	}
	if list := completions(t, "run", "--eval", "x", "--arg", ""); !slices.Equal(list, []string{`f=	[] "x" true (text)`}) {
		t.Errorf("arguments of a text are %q", list)
	}
}

// TestProcesses: those of the user, with their command lines, without the one that asks.
func TestProcesses(t *testing.T) {
	parent := fmt.Sprint(os.Getppid(), "\t")
	list := completions(t, "clean", "")
	if !slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(s, parent) }) {
		t.Errorf("the test's parent is not among %q", list)
	}
	if own := fmt.Sprint(os.Getpid(), "\t"); slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(s, own) }) {
		t.Error("the process that asks is offered")
	}
}
