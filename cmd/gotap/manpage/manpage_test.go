package manpage

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"gotap/engine/testenv"
)

// tree is a program with a command that has a verb, a topic, and a hidden command.
func tree() *cobra.Command {
	root := &cobra.Command{Use: "tool", Short: "Do things"}
	run := &cobra.Command{Use: "run FILE", Short: "Run a file", Long: "run runs a file.\n.leading dots and 'quotes\\n stay", Run: func(*cobra.Command, []string) {}}
	run.Flags().IntP("count", "c", 3, "how often to `run`")
	run.Flags().Bool("secret", false, "")
	run.Flags().Lookup("secret").Hidden = true
	verb := &cobra.Command{Use: "once", Short: "Run it once", Run: func(*cobra.Command, []string) {}}
	run.AddCommand(verb)
	root.AddCommand(run, &cobra.Command{Use: "files", Short: "What files are"},
		&cobra.Command{Use: "own", Hidden: true, Run: func(*cobra.Command, []string) {}})
	return root
}

func TestPages(t *testing.T) {
	texts := map[string]string{}
	for _, p := range Pages(tree(), "0; -1 failure") {
		texts[filepath.ToSlash(p.Path())] = p.Text()
	}
	for path, wanted := range map[string][]string{
		"man1/tool.1":          {`.TH TOOL 1 "" tool "tool manual"`, ".SH EXIT STATUS\n0; \\-1 failure\n", `tool\-run(1)`, `tool\-files(7)`},
		"man1/tool-run.1":      {`tool\-run \- Run a file`, "\n\\&.leading dots and 'quotes\\en stay\n", "\\fB\\-c, \\-\\-count\\fP \\fIrun\\fP\nhow often to run (default 3)\n", "tool(1)"},
		"man1/tool-run-once.1": {"Run it once", `tool\-run(1)`},
		"man7/tool-files.7":    {"What files are", "tool(1)"},
	} {
		for _, text := range wanted {
			if !strings.Contains(texts[path], text) {
				t.Errorf("%s lacks %q:\n%s", path, text, texts[path])
			}
		}
	}
	if len(texts) != 4 {
		t.Errorf("there are %d pages: %v", len(texts), texts)
	}
	if text := texts["man1/tool-run.1"]; strings.Contains(text, "secret") || strings.Contains(text, "EXIT") {
		t.Errorf("a hidden flag, or the root's section:\n%s", text)
	}
}

// TestFormatted: groff has nothing to warn of, and prints what the text says.
func TestFormatted(t *testing.T) {
	testenv.Require(t, "groff")
	for _, p := range Pages(tree(), "0") {
		c := exec.Command("groff", "-man", "-Tascii", "-ww")
		c.Stdin = strings.NewReader(p.Text())
		var warned strings.Builder
		c.Stderr = &warned
		if out, err := c.Output(); err != nil || warned.Len() > 0 || !strings.Contains(string(out), p.command.Short) {
			t.Errorf("%s: %v, %s\n%s", p.Path(), err, warned.String(), out)
		}
	}
}
