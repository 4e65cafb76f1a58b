package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"gotap/engine"
	"gotap/engine/place"
	"gotap/engine/place/catalog"
)

func newList(w *World) *cobra.Command {
	var pid string
	var verbose bool
	c := &cobra.Command{
		Use:   "list [flags] SPEC [-- COMMAND ARG…]",
		Short: "List the places that match: in a file named by SPEC, in -p PID, or in COMMAND",
		Long: `list prints one place per line, written as a script names it.
SPEC is a place as in probe(): libc:mem*, /bin/ls:main, usdt:*:*, syscall:open*, main.c lines as @main.c:42.
COMMAND is started, inspected before its first instruction, and ended.`,
		RunE: func(c *cobra.Command, args []string) error {
			own, command := splitCommand(c, args)
			if len(own) != 1 {
				return withStatus(statusUsage, errors.New("list takes one SPEC"))
			}
			spec, err := place.Parse(own[0])
			if err != nil {
				return withStatus(statusUsage, err)
			}
			found, err := listPlaces(spec, pid, command, verbose)
			if err != nil {
				return err
			}
			printPlaces(w, found, verbose)
			reportLibraries(w, own[0], found)
			return nil
		},
	}
	c.Flags().StringVarP(&pid, "pid", "p", "", "list what this process maps")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "add arguments, types, addresses and inlined copies")
	return c
}

func listPlaces(spec place.Spec, pid string, command []string, copies bool) ([]catalog.Entry, error) {
	all := catalog.New()
	all.Copies = copies
	defer all.Close()
	var found []catalog.Entry
	var err error
	var missing *place.NotFoundError
	switch {
	case pid != "" && len(command) > 0:
		return nil, withStatus(statusUsage, errors.New("-p and a COMMAND exclude each other"))
	case pid != "":
		n, perr := parsePid(pid)
		if perr != nil {
			return nil, withStatus(statusUsage, fmt.Errorf("-p %w", perr))
		}
		found, err = all.Process(n, spec)
	case len(command) > 0:
		found, err = listCommand(all, spec, command)
	case spec.Module == "" && spec.Kind != place.Syscall:
		return nil, &hintError{withStatus(statusUsage, fmt.Errorf("%s: where is it to be looked for?", spec)),
			"name a file (libc:malloc, ./prog:main), or give -p PID or -- COMMAND"}
	default:
		found, err = all.File(spec)
	}
	switch {
	case err == nil:
		return found, nil
	case errors.As(err, &missing):
		err = withStatus(statusNoProbe, err)
		if hint := catalog.Elsewhere(missing, command); hint != "" {
			err = &hintError{err, hint}
		}
		return nil, err
	case statusOf(err) != statusUsage:
		return nil, err
	}
	return nil, withStatus(statusTarget, err)
}

// listCommand starts a program, lists the places in what it maps before its first instruction, and kills it: nothing of
// it has run.
func listCommand(all *catalog.Catalog, spec place.Spec, command []string) ([]catalog.Entry, error) {
	s, err := engine.New(engine.Config{})
	if err != nil {
		return nil, withStatus(statusTarget, err)
	}
	pid, err := s.Launch(engine.Command{Path: command[0], Args: command})
	if err != nil {
		s.Close(true)
		return nil, withStatus(statusTarget, err)
	}
	found, err := all.Process(pid, spec)
	syscall.Kill(pid, syscall.SIGKILL)
	s.Close(true)
	syscall.Wait4(pid, nil, 0, nil) // it may have been reaped already
	return found, err
}

// printPlaces prints the places that a probe of the SPEC would take.
func printPlaces(w *World, found []catalog.Entry, verbose bool) {
	for _, e := range found {
		if e.Beside != "" {
			continue
		}
		fmt.Fprintln(w.out(), e.Text)
		if verbose && e.Signature != "" {
			fmt.Fprintf(w.out(), "    %s\n", e.Signature)
		}
		if verbose && e.Where != "" {
			fmt.Fprintf(w.out(), "    at %s\n", e.Where)
		}
		if verbose && len(e.Copies.Calls) > 0 {
			fmt.Fprintf(w.Stdout, "    inlined in %s besides: %s\n", plural(len(e.Copies.Calls), "place"), e.Copies.Where())
		}
	}
}

// reportLibraries notes how many places other modules have: a SPEC without a module does not match them when the main
// program matches.
func reportLibraries(w *World, spec string, found []catalog.Entry) {
	in := map[string]bool{}
	n := 0
	for _, e := range found {
		if e.Beside != "" {
			in[filepath.Base(e.Beside)] = true
			n++
		}
	}
	if n > 0 {
		fmt.Fprintf(w.errs(), "gotap: libraries have %d more, in %s: '*:%s' means all\n", n, strings.Join(slices.Sorted(maps.Keys(in)), " "), spec)
	}
}
