package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gotap/cmd/gotap/othertracers"
	"gotap/cmd/gotap/status"
	"gotap/samples"
)

// This file explains unknown flags and commands.

var unknownFlag = regexp.MustCompile(`^unknown (?:flag: --|shorthand flag: '.' in -)(\S+)`)

// otherFlag suggests what to use instead of an unknown flag; before is how many arguments precede it.
func otherFlag(c *cobra.Command, err error, before int) string {
	m := unknownFlag.FindStringSubmatch(err.Error())
	switch {
	case strings.Contains(err.Error(), `for "--top" flag:`): // it has no value, but samples have an argument of this name
		return "an argument of the script is --arg top=…; --top alone shows the run on the terminal"
	case m == nil:
		return ""
	case !c.HasParent() && (strings.HasPrefix(m[1], "e") || strings.HasPrefix(m[1], "p")):
		return "gotap run -" + m[1][:1] + " …"
	case c.Name() != "run" && c.Name() != "record":
		return othertracers.Flag(c.Name(), m[1])
	}
	if strings.Contains(err.Error(), "flag: --") && before == 1 {
		return "an argument of the script is --arg " + m[1] + "=…, and those of the program to trace come after --"
	}
	if before > 0 {
		return ""
	}
	return othertracers.Flag(c.Name(), m[1])
}

var (
	dashForNumber = regexp.MustCompile(`^invalid argument "--" for "(?:-., )?--(\S+)" flag`)
	lacksValue    = regexp.MustCompile(`^flag needs an argument: (?:--(\S+)|'(.)')`)
)

// dashAsValue refuses -- as the value of a flag: the value was forgotten, and the flag has swallowed what begins
// COMMAND. err is that of parsing the flags, if any.
func dashAsValue(c *cobra.Command, err error) error {
	name := ""
	c.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if slices.Contains(values, "--") {
			name = f.Name
		}
	})
	if err != nil {
		if m := dashForNumber.FindStringSubmatch(err.Error()); m != nil {
			name = m[1]
		}
	}
	if name == "" {
		return nil
	}
	hint := cmp.Or(othertracers.Valued(name), fmt.Sprintf("the value comes before the other --, as in: %s --%s VALUE -- COMMAND", c.CommandPath(), name))
	return status.Hinted(status.With(status.Usage, fmt.Errorf("--%s needs a value, which -- is not", name)), hint)
}

// valueHint says what was probably meant by a last flag that lacks its value; "" when nothing is known.
func valueHint(c *cobra.Command, err error) string {
	m := lacksValue.FindStringSubmatch(err.Error())
	if m == nil {
		return ""
	}
	name := m[1]
	if f := c.Flags().ShorthandLookup(m[2]); m[2] != "" && f != nil {
		name = f.Name
	}
	return othertracers.Valued(name)
}

var unknownCommand = regexp.MustCompile(`^unknown command ("(?:[^"\\]|\\.)*") for "gotap"`)

// explainCommand adds a suggestion to the error about an unknown command.
func explainCommand(root *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	m := unknownCommand.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	name, bad := strconv.Unquote(m[1])
	if bad != nil {
		return err
	}
	return status.Hinted(status.With(status.Usage, err), commandHint(root, name))
}

func commandHint(root *cobra.Command, name string) string {
	_, isSample := samples.Find(name)
	switch {
	case slices.Contains(scriptEndings, filepath.Ext(name)) || isSample:
		return "gotap run " + name
	case isProgram(name) && othertracers.Command(name) == "":
		if isFile(name) {
			name = "./" + name
		}
		return fmt.Sprintf("gotap trace -- %s shows its calls, gotap list %[1]s its functions, gotap run SAMPLE -- %[1]s runs a sample of gotap samples", name)
	case othertracers.Command(name) != "":
		return othertracers.Command(name)
	}
	return nearCommand(root, name)
}

// implied adds the command that arguments imply: the path of a program means gotap trace.
func implied(args []string) []string {
	if len(args) == 0 || !strings.Contains(args[0], "/") || slices.Contains(scriptEndings, filepath.Ext(args[0])) || !isProgram(args[0]) {
		return args
	}
	return append([]string{"trace", "--"}, args...)
}
