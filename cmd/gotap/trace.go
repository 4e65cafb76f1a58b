package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gotap"
	"gotap/cmd/gotap/demo"
	"gotap/cmd/gotap/status"
	"gotap/samples"
)

// traceOptions are the flags of trace besides those of a session. They become arguments of the sample.
type traceOptions struct {
	without, from  []string
	count, latency bool
	slower         string
	failed         bool
	depth, stack   int
}

func newTrace(w *World) *cobra.Command {
	var o runOptions
	var t traceOptions
	c := &cobra.Command{
		Use:   "trace [flags] [PATTERN…] [-- COMMAND ARG…]",
		Short: "Show calls as a tree, with arguments, results and times; no script is needed",
		Long: `trace shows the calls of functions as a tree: COMMAND's, those of the processes given with -p or --container, or those of a small demonstration.

PATTERN is a place as in probe(): 'read*', libc:malloc, 'Shop::*', ./libx.so:run, syscall:openat. Without one it is every function of
the main program, in Go programs of package main. Arguments and results have the types of the debug information, or of prototypes that gotap knows; other functions
show registers. The tree is one of threads, in programs of Go with debug information one of goroutines: server/g18 is number 18.

  gotap trace -- ./prog                       every function of the program itself; so does gotap ./prog
  gotap trace 'order*' check -x order_log -- ./prog
  gotap trace --from a.out 'libc:*' -- ls     what the program itself calls in the C library (a.out is the main program)
  gotap trace 'syscall:*' --failed -p 4711    system calls that fail, of a running process
  gotap trace --latency 'libc:*dir' -- ls -R  how long calls take, a line for each function

--count, --latency, --slower and --failed wait for the return of a call. Errors are red on a terminal.`,
		RunE: func(c *cobra.Command, args []string) error {
			return runText(w, c, args, &o, func(own, command []string) (gotap.Script, error) { return t.script(w, &o, own, command) }, func(gotap.Script) {})
		},
	}
	o.registerSession(c)
	w.registerFetch(c)
	t.register(c)
	return c
}

func (t *traceOptions) register(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVarP(&t.without, "exclude", "x", nil, "leave out the functions of this pattern (repeatable)")
	f.StringArrayVar(&t.from, "from", nil, "only calls that this module makes: libssl, or a.out, the main program (repeatable)")
	f.BoolVar(&t.count, "count", false, "count the calls of each function instead")
	f.BoolVar(&t.latency, "latency", false, "sum up the times of each function instead")
	f.StringVar(&t.slower, "slower", "", "only calls that take this time or longer, as in 1ms")
	f.BoolVar(&t.failed, "failed", false, "only calls that fail: with a negative integer, NULL, or an error of Go")
	f.IntVar(&t.depth, "depth", 0, "only calls that are at most so deep in others; 1 is the outermost")
	f.IntVar(&t.stack, "stack", 0, "show this many frames of the stack with each call")
}

// script returns the sample that does what the flags and patterns ask for. Its arguments join the options.
func (t *traceOptions) script(w *World, o *runOptions, patterns, command []string) (gotap.Script, error) {
	name := "calltrace"
	switch {
	case t.count:
		name = "funccount"
	case t.latency:
		name = "funclatency"
	}
	if err := t.check(o, patterns, command); err != nil {
		return gotap.Script{}, status.With(status.Usage, err)
	}
	args, err := t.arguments()
	if err != nil {
		return gotap.Script{}, status.With(status.Usage, err)
	}
	if len(patterns) == 0 && !o.targeted(command) {
		patterns = []string{demo.Function}
	}
	if len(t.from) > 0 && o.maxSites == sitesOfEngine {
		o.maxSites = sitesOfLibraries
	}
	if o.quiet && name == "calltrace" {
		args = append(args, "quiet=true")
	}
	o.args = args
	if len(patterns) == 0 {
		o.ofGo(w, samples.Sample{Go: "f=main.*"}, command)
	}
	if !o.given("f") {
		o.args = append(o.args, "f="+strings.Join(patterns, ","))
	}
	o.generated = true
	return sampleScript(name), nil
}

// sitesOfLibraries is --max-probes of trace --from where it is not given: what one module calls in another is known
// only at the calls, and 'libc:*' has thousands of functions.
const sitesOfLibraries = 20_000

// check refuses flags that exclude each other, and programs given as patterns.
func (t *traceOptions) check(o *runOptions, patterns, command []string) error {
	switch {
	case t.count && t.latency:
		return errors.New("--count and --latency exclude each other")
	case (t.count || t.latency) && (t.depth != 0 || t.stack != 0):
		return errors.New("--depth and --stack are for the tree of calls: --count and --latency show none")
	case t.depth < 0:
		return fmt.Errorf("--depth %d: at least 1", t.depth)
	case t.stack < 0:
		return fmt.Errorf("--stack %d: at least 1", t.stack)
	}
	for _, p := range patterns {
		switch ext := filepath.Ext(p); {
		case p == "":
			return errors.New("a pattern is empty")
		case (ext == ".js" || ext == ".ts" || ext == ".dpdf") && isFile(p):
			return status.Hinted(fmt.Errorf("%s is a script, not a function", p), "gotap run "+p)
		}
	}
	if len(patterns) == 0 || o.targeted(command) {
		return nil
	}
	return programForPattern("trace", patterns)
}

// programForPattern refuses words that are a command line whose -- was forgotten.
func programForPattern(verb string, words []string) error {
	for i, word := range words {
		if !isProgram(word) {
			continue
		}
		return status.Hinted(fmt.Errorf("%s is a program, not a function, and there is nothing else to trace", word),
			"the program to trace comes after --, as in: gotap "+strings.Join(append([]string{verb}, words[:i]...), " ")+" -- "+strings.Join(words[i:], " "))

	}
	return nil
}

// isProgram reports whether a word names a program that can be started.
func isProgram(word string) bool {
	if strings.Contains(word, ":") {
		return false
	}
	path, err := exec.LookPath(word)
	if errors.Is(err, exec.ErrDot) {
		return true
	}
	st, serr := os.Stat(path)
	return err == nil && serr == nil && st.Mode().IsRegular()
}

// arguments returns the flags as arguments of the sample.
func (t *traceOptions) arguments() (args []string, err error) {
	add := func(name, value string) { args = append(args, name+"="+value) }
	if len(t.without) > 0 {
		add("not", strings.Join(t.without, ","))
	}
	if len(t.from) > 0 {
		add("from", strings.Join(t.from, ","))
	}
	if t.failed {
		add("failed", "true")
	}
	if t.latency {
		add("each", "true")
	}
	if t.depth > 0 {
		add("depth", strconv.Itoa(t.depth))
	}
	if t.stack > 0 {
		add("stack", strconv.Itoa(t.stack))
	}
	if t.slower != "" {
		d, err := time.ParseDuration(t.slower)
		if err != nil || d <= 0 {
			return nil, status.Hinted(fmt.Errorf("--slower %s: not a time", t.slower), "as in --slower 1ms, 250us, 2s")
		}
		add("slower", strconv.FormatInt(d.Nanoseconds(), 10))
	}
	return args, nil
}

// sampleScript returns a sample of the library.
func sampleScript(name string) gotap.Script {
	s, ok := samples.Find(name)
	if !ok {
		panic("no sample " + name) // a name of this program
	}
	return gotap.Script{Name: s.File, Text: s.Text}
}
