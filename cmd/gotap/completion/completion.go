// Package completion completes arguments and values of flags in the shell. A shell calls it by a hidden command of
// package cobra, for each press of the tab key: in a process of its own, from one goroutine. It reports no errors: there
// is just no completion.
package completion

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"gotap/cmd/gotap/client"
	"gotap/cmd/gotap/wire"
	"gotap/engine/linux/container"
	"gotap/engine/place"
	"gotap/engine/place/catalog"
	"gotap/samples"
	"gotap/script"
	"gotap/script/output/format"
)

// Options returns the options that a script declares, none when it does not load: the script of a command's arguments,
// or, if given, a text.
type Options func(args []string, text string, given bool) []script.Option

// Add registers completions for the commands below root.
func Add(root *cobra.Command, options Options) {
	for _, path := range []string{"run", "record", "check", "dis", "explain", "build", "test", "ctl insert"} {
		if c, _, err := root.Find(strings.Fields(path)); err == nil {
			c.ValidArgsFunction = completeScript
			addFlags(c, options)
		}
	}
	if c, _, err := root.Find([]string{"ctl"}); err == nil {
		addFlags(c, options)
	}
	for path, complete := range map[string]cobra.CompletionFunc{
		"samples": completeSample, "list": completePlace, "trace": completePlace, "clean": completePid, "init": completeDirectory, "man": completeDirectory,
		"ctl enable": completeProbe(), "ctl disable": completeProbe(), "ctl remove": completeProbe(),
	} {
		if c, _, err := root.Find(strings.Fields(path)); err == nil {
			c.ValidArgsFunction = complete
			addFlags(c, options)
		}
	}
}

// addFlags registers completions for the values of a command's flags.
func addFlags(c *cobra.Command, options Options) {
	for name, complete := range map[string]cobra.CompletionFunc{
		"follow": words("none", "threads", "children"), "format": words(format.Names()...), "missing": words("error", "warn", "ignore"),
		"engine": words("auto", "inline", "emulate", "step"), "affinity": words("auto", "off"), "for": words("1s", "10s", "1m"), "budget": words("5", "10", "25"),
		"topic": words("start", "functions", "memory", "threads", "files", "network", "languages", "process", "changing", "kernels"),
		"pid":   completePid, "container": completeContainer, "arg": completeArgument(options), "eval": words(), "max-probes": words(), "ready-fd": words(), "remote": words(),
		"listen": words("9100"), "listen-token": words(), "otlp": words("http://localhost:4318"), "label": words("host=", "program=", "container=", "script="),
	} {
		if c.Flag(name) != nil {
			c.RegisterFlagCompletionFunc(name, complete) // fails for a flag that has one already
		}
	}
}

// words completes one of a few words; without words the shell offers nothing.
func words(list ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

// completeScript offers the samples, and leaves files and arguments after -- to the shell.
func completeScript(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 || strings.Contains(typed, "/") || c.Flags().Changed("eval") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return sampleNames(typed), cobra.ShellCompDirectiveDefault
}

func completeSample(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return sampleNames(typed), cobra.ShellCompDirectiveNoFileComp
}

// sampleNames returns the samples whose names begin so, with their purpose.
func sampleNames(prefix string) (list []cobra.Completion) {
	all, _ := samples.All()
	for _, s := range all {
		if strings.HasPrefix(s.Name, prefix) {
			list = append(list, cobra.CompletionWithDesc(s.Name, s.Purpose))
		}
	}
	return list
}

func completeDirectory(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completePid offers the processes that the user owns, with their command lines.
func completePid(_ *cobra.Command, _ []string, typed string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	dirs, _ := filepath.Glob("/proc/" + typed + "[0-9]*")
	if same := "/proc/" + typed; typed != "" {
		dirs = append(dirs, same)
	}
	for _, dir := range dirs {
		pid := filepath.Base(dir)
		n, err := strconv.Atoi(pid)
		command, rerr := os.ReadFile(dir + "/cmdline")
		if err != nil || rerr != nil || len(command) == 0 || n == os.Getpid() || !owned(dir) {
			continue // kernel threads have no command line
		}
		text := strings.ReplaceAll(strings.TrimRight(string(command), "\x00"), "\x00", " ")
		list = append(list, cobra.CompletionWithDesc(pid, strings.ToValidUTF8(text[:min(len(text), 60)], "?")))
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// completeContainer offers the containers with their engines and first programs.
func completeContainer(*cobra.Command, []string, string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, c := range container.List() {
		list = append(list, cobra.CompletionWithDesc(c.Short(), c.String()))
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// owned reports whether what is there is the user's own; to root everything is.
func owned(path string) bool {
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil && (int(st.Uid) == os.Geteuid() || os.Geteuid() == 0)
}

// placesOffered is how many places the shell is offered at most.
const placesOffered = 200

// completePlace offers the functions of the module that is typed: "libc:mem" has those that begin so.
func completePlace(c *cobra.Command, args []string, typed string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	mod, name, found := strings.Cut(typed, ":")
	if len(args) > 0 || !found || mod == "usdt" || mod == "syscall" && strings.Contains(name, ":") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	spec, err := place.Parse(typed + "*")
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all := catalog.New(nil)
	defer all.Close()
	entries, err := all.File(spec)
	if pid, _ := c.Flags().GetString("pid"); pid != "" {
		n, _ := strconv.Atoi(pid)
		entries, err = all.Process(n, spec)
	}
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, e := range entries[:min(len(entries), placesOffered)] {
		text := e.Text[strings.LastIndex(e.Text, ":")+1:] // the module stays as it was typed
		list = append(list, cobra.CompletionWithDesc(mod+":"+text, e.Signature))
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// completeProbe offers the names of the probes of the session that gotap ctl would talk to.
func completeProbe() cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		k := client.Client{}
		k.Session, _ = c.Flags().GetInt("session")
		reply, err := k.Exchange(wire.Request{Verb: "query"})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, p := range reply.Probes {
			if strings.HasPrefix(p.Name, typed) && !slices.Contains(list, p.Name) {
				list = append(list, p.Name)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeArgument offers the options of the script that is on the line already.
func completeArgument(options Options) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
		const keep = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		if name, _, given := strings.Cut(typed, "="); given {
			return []cobra.Completion{name + "="}, cobra.ShellCompDirectiveDefault
		}
		eval, _ := c.Flags().GetString("eval")
		for _, o := range options(args, eval, c.Flags().Changed("eval")) {
			list = append(list, cobra.CompletionWithDesc(o.Name+"=", fmt.Sprintf("%s (%s)", o.Help, o.Type)))
		}
		return list, keep
	}
}
