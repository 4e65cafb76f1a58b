package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gotap"
	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/wire"
	"gotap/script/definition"
)

// definitionFlags are the flags that are for definition files alone, as given.
type definitionFlags struct {
	defs    []string // -D
	include []string // -I
	groups  string
	types   string
	anyCode bool
}

// register is for all commands that read definition files.
func (o *definitionFlags) register(c *cobra.Command) {
	c.Flags().StringArrayVarP(&o.defs, "define", "D", nil, "NAME=VALUE, as #define in a definition file (repeatable)")
	c.Flags().StringArrayVarP(&o.include, "include-dir", "I", nil, "a directory where a definition file's #include looks (repeatable)")
}

// registerSelection is for commands that place probes.
func (o *definitionFlags) registerSelection(c *cobra.Command) {
	c.Flags().StringVar(&o.groups, "group", "", "of a definition file, only the probes of these groups, as in 1,2")
	c.Flags().StringVar(&o.types, "type", "", "of a definition file, only the probes of these types")
	c.Flags().BoolVar(&o.anyCode, "dont-verify-opcodes", false, "place probes of a definition file whatever their instructions are")
}

// options understands the flags.
func (o *definitionFlags) options(unsafe bool) (d definition.Options, err error) {
	d = definition.Options{Defs: map[string]string{}, AnyCode: o.anyCode, Include: o.include, Unsafe: unsafe}
	for _, def := range o.defs {
		name, value, given := strings.Cut(def, "=")
		if name == "" {
			return d, status.Hinted(fmt.Errorf("-D %s: no name", def), "as in -D SIZE=0x1000")
		}
		if !given {
			value = "1" // as a C compiler has it
		}
		d.Defs[name] = value
	}
	if d.Groups, err = numbers("--group", o.groups); err != nil {
		return d, err
	}
	d.Types, err = numbers("--type", o.types)
	return d, err
}

// numbers are those of a list with commas.
func numbers(flag, text string) (list []int, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(part), 0, 16)
		if err != nil {
			return nil, status.Hinted(fmt.Errorf("%s %s: %q is not a number from 0 to 65535", flag, text, part), "as in "+flag+" 1,2")
		}
		list = append(list, int(n))
	}
	return list, nil
}

// none reports whether no flag is given.
func (o *definitionFlags) none() bool {
	return len(o.defs) == 0 && len(o.include) == 0 && o.groups == "" && o.types == "" && !o.anyCode
}

// putInto has the flags go with a script to a session, which is in another directory.
func (o *definitionFlags) putInto(s *wire.Script) error {
	s.Defs, s.Groups, s.Types, s.AnyCode = o.defs, o.groups, o.types, o.anyCode
	for _, dir := range o.include {
		path, err := filepath.Abs(dir)
		if err != nil {
			return fmt.Errorf("cannot find %s: %w", dir, err)
		}
		s.Include = append(s.Include, path)
	}
	return nil
}

// flagsOf returns the flags that came with a script.
func flagsOf(s *wire.Script) definitionFlags {
	return definitionFlags{defs: s.Defs, include: s.Include, groups: s.Groups, types: s.Types, anyCode: s.AnyCode}
}

// refuse refuses flags that would do nothing for a script.
func (o *definitionFlags) refuse(text gotap.Script) error {
	for _, f := range []struct {
		name  string
		given bool
	}{{"-D", len(o.defs) > 0}, {"-I", len(o.include) > 0}, {"--group", o.groups != ""}, {"--type", o.types != ""}, {"--dont-verify-opcodes", o.anyCode}} {
		if f.given {
			return status.With(status.Usage, status.Hinted(fmt.Errorf("%s is for definition files, and %s is a script", f.name, text.Name),
				"scripts read --arg name=value with option()"))
		}
	}
	return nil
}

func (p *plan) checkDefinition() (err error) {
	p.definition, err = p.definitionFlags.options(p.unsafe)
	return err
}
