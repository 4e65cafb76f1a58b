package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gotap/cmd/gotap/completion"
	"gotap/cmd/gotap/othertracers"
	"gotap/cmd/gotap/status"
	"gotap/script"
)

// newRoot builds a new command tree for each call, so that tests share nothing.
func newRoot(w *World) *cobra.Command {
	root := &cobra.Command{
		Use:   "gotap",
		Short: "Trace running programs with probes written in JavaScript",
		Long: `gotap puts probes into running programs that nobody can rebuild, scripted in JavaScript.
What runs at a probe is compiled to small, verified, bounded bytecode; everything else is ordinary JavaScript.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
	}
	root.SetVersionTemplate("gotap {{.Version}}\n")
	root.SetOut(w.out())
	root.SetErr(w.errs())
	root.SetIn(w.Stdin)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { w.help(c) })
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return flagError(c, err) })
	root.AddCommand(newTrace(w), newRun(w), newRecord(w), newTest(w), newCheck(w), newDis(w), newExplain(w), newBuild(w), newList(w), newSamples(w), newBench(w), newDoctor(w), newInit(w), newClean(w), newCtl(w), newEmulate(w), newMan(w), newVersion(w))
	root.SetHelpCommand(newHelp())
	root.DisableSuggestions = true // explainCommand makes them
	addTopics(root)
	completion.Add(root, func(args []string, text string, given bool) []script.Option {
		return scriptOptions(w, args, text, given)
	})
	root.InitDefaultCompletionCmd()
	explainArguments(root)
	return root
}

// explainArguments makes every command print its usage when its arguments are wrong, and refuse -- as the value of a
// flag. A command that only has
// subcommands reports an unknown subcommand as an error; cobra would print help instead.
func explainArguments(c *cobra.Command) {
	for _, sub := range c.Commands() {
		explainArguments(sub)
	}
	usage := strings.TrimSpace(c.CommandPath() + strings.TrimPrefix(c.Use, c.Name()))
	if c.HasParent() && c.HasSubCommands() && !c.Runnable() {
		c.RunE = func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return status.Hinted(status.With(status.Usage, fmt.Errorf("unknown command %q for %q", args[0], c.CommandPath())), nearCommand(c, args[0]))
		}
		c.Args = cobra.ArbitraryArgs
	}
	check := c.Args
	if check == nil && !c.HasParent() {
		return // cobra refuses unknown commands
	}
	c.Args = func(c *cobra.Command, args []string) error {
		err := dashAsValue(c, nil)
		if err == nil && check != nil {
			err = check(c, args)
		}
		if err == nil || status.HintOf(err) != "" {
			return err
		}
		return status.Hinted(status.With(status.Usage, err), usage)
	}
}

// nearCommand suggests a similar command, or where to find the list.
func nearCommand(c *cobra.Command, name string) string {
	var names []string // topics included, which cobra does not count as commands
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return near(name, names, "`"+strings.Replace(c.CommandPath(), "gotap", "gotap help", 1)+"` lists them")
}

// version returns the version that the Go command recorded, the commit, and for what it was built.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "of unknown version"
	}
	return fmt.Sprintf("%s%s %s %s/%s", cmp.Or(info.Main.Version, "(devel)"), commit(info), info.GoVersion, runtime.GOOS, runtime.GOARCH)
}

// commit returns " commit ID" where the Go command saw one.
func commit(info *debug.BuildInfo) string {
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return " commit " + s.Value
		}
	}
	return ""
}

func newVersion(w *World) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit, and what gotap was built by and for",
		Args:  cobra.NoArgs,
		Run:   func(*cobra.Command, []string) { fmt.Fprintf(w.Stdout, "gotap %s\n", version()) },
	}
}

// flagError explains the most common mistake: a command line without "--" before COMMAND.
func flagError(c *cobra.Command, err error) error {
	if dash := dashAsValue(c, err); dash != nil {
		return dash
	}
	hint := cmp.Or(valueHint(c, err), nearFlag(c, err, c.CommandPath()+" --help lists the flags"))
	if strings.Contains(err.Error(), "unknown") && c.Flags().NArg() > 0 {
		hint = othertracers.CommandBehind
	}
	if other := otherFlag(c, err, c.Flags().NArg()); other != "" {
		hint = other
	}
	return status.Hinted(status.With(status.Usage, plainFlagError(err)), hint)
}

// nearFlag suggests a flag similar to the unknown one, or returns otherwise.
func nearFlag(c *cobra.Command, err error, otherwise string) string {
	_, typed, ok := strings.Cut(err.Error(), "unknown flag: --")
	if !ok {
		return otherwise
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return near("--"+typed, names, otherwise)
}

var badFlagValue = regexp.MustCompile(`^invalid argument "(.*)" for "(?:-., )?(--\S+)" flag: strconv\.Parse(\w+)`)

// plainFlagError says what the value of a flag should have been: a number, or true or false.
func plainFlagError(err error) error {
	m := badFlagValue.FindStringSubmatch(err.Error())
	var number *strconv.NumError
	switch {
	case m == nil || !errors.As(err, &number):
		return err
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s %s: too large", m[2], m[1])
	case m[3] == "Bool":
		return fmt.Errorf("%s %s: not true or false", m[2], m[1])
	default:
		return fmt.Errorf("%s %s: not an integer", m[2], m[1])
	}
}

// splitCommand splits the arguments at "--".
func splitCommand(c *cobra.Command, args []string) (own, command []string) {
	if dash := c.ArgsLenAtDash(); dash >= 0 {
		return args[:dash], args[dash:]
	}
	return args, nil
}
