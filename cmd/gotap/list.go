package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"gotap"
	"gotap/cmd/gotap/status"
	"gotap/engine"
	"gotap/engine/place"
	"gotap/engine/place/catalog"
)

func newList(w *World) *cobra.Command {
	var pid string
	var verbose bool
	c := &cobra.Command{
		Use:   "list [flags] SPEC|PROGRAM [-- COMMAND ARG…]",
		Short: "List the places that match: in a file named by SPEC, in -p PID, or in COMMAND",
		Long: `list prints one place per line, written as a script names it.
SPEC is a place as in probe(): libc:mem*, /bin/ls:main, usdt:*:*, syscall:open*, main.c lines as @main.c:42.
Without a file, -p and COMMAND, a function is looked for in the C library. PROGRAM is the file of a program or library: its functions
are listed, or those of COMMAND when there is no SPEC.
COMMAND is started, inspected before its first instruction, and ended.
With -v, 'inline' means that programs can run there without a stop, on x86-64 and 64-bit ARM, as far as the file tells; 'not inline' has the reason.`,
		RunE: func(c *cobra.Command, args []string) error {
			own, command := splitCommand(c, args)
			if len(own) == 0 && (pid != "" || len(command) > 0) {
				own = []string{place.MainProgram + ":*"}
			}
			if len(own) != 1 {
				return status.Hinted(status.With(status.Usage, errors.New("list takes one SPEC")), "as in gotap list 'libc:mem*', or gotap list ./prog")
			}
			text := w.listed(own[0], pid != "" || len(command) > 0)
			spec, err := place.Parse(text)
			if err != nil {
				return status.With(status.Usage, err)
			}
			found, err := listPlaces(w, spec, pid, command, verbose)
			if err != nil {
				return err
			}
			printPlaces(w, found, verbose)
			reportLibraries(w, text, found)
			return nil
		},
	}
	c.Flags().StringVarP(&pid, "pid", "p", "", "list what this process maps, by number or name")
	w.registerFetch(c)
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "add arguments, types, addresses, inlined copies, and whether a place can be inline")
	return c
}

// listed returns the specification that a text of list means. A file stands for its functions; a function that is not
// said to be anywhere is looked for in the C library.
func (w *World) listed(text string, target bool) string {
	if target || strings.Contains(text, ":") && !isFile(text) || strings.HasPrefix(text, "@") {
		return text
	}
	if st, err := os.Stat(text); err == nil && st.Mode().IsRegular() {
		if !strings.Contains(text, "/") {
			text = "./" + text
		}
		return text + ":*"
	}
	if strings.Contains(text, "/") {
		return text
	}
	if path, err := exec.LookPath(text); err == nil && !inLibrary(text) {
		return path + ":*"
	}
	return cLibrary + ":" + text
}

// cLibrary is the library that list searches when nothing else is named.
const cLibrary = "libc"

// inLibrary reports whether the C library has a function.
func inLibrary(name string) bool {
	spec, err := place.Parse(cLibrary + ":" + name)
	if err != nil {
		return false
	}
	all := catalog.New(nil)
	defer all.Close()
	found, err := all.File(spec)
	return err == nil && len(found) > 0
}

func listPlaces(w *World, spec place.Spec, pid string, command []string, detail bool) ([]catalog.Entry, error) {
	fetch, err := w.fetcher(false)
	if err != nil {
		return nil, err
	}
	all := catalog.New(fetch)
	all.Detail, all.Brief = detail, !detail && fetch == nil // what is fetched is debug information that is asked for
	defer all.Close()
	defer func() { warnings(w, gotap.MissingWarnings(all.FreshMissing())) }()
	var found []catalog.Entry
	var missing *place.NotFoundError
	switch {
	case pid != "" && len(command) > 0:
		return nil, status.With(status.Usage, errors.New("-p and a COMMAND exclude each other"))
	case pid != "":
		pids, perr := w.processes(pid)
		if perr != nil {
			return nil, perr
		}
		if len(pids) > 1 {
			fmt.Fprintf(w.errs(), "gotap: %s is %s; these are the places of the first\n", pid, processList(pids))
		}
		found, err = all.Process(pids[0], spec)
	case len(command) > 0:
		found, err = listCommand(all, spec, command)
	case spec.Module == "" && strings.Contains(spec.Name, "/"):
		return nil, status.With(status.Usage, fmt.Errorf("%s is not a file", spec))
	case spec.Module == "" && spec.Kind != place.Syscall:
		return nil, status.Hinted(status.With(status.Usage, fmt.Errorf("%s: this names no program or process to search", spec)),
			"name a file (libc:malloc, ./prog:main), or give -p PID or -- COMMAND")

	default:
		found, err = all.File(spec)
	}
	switch {
	case err == nil:
		return found, nil
	case errors.As(err, &missing):
		err = status.With(status.NoProbe, err)
		if hint := catalog.Elsewhere(missing, command); hint != "" {
			err = status.Hinted(err, hint)
		}
		return nil, err
	case status.Of(err) != status.Usage:
		return nil, err
	}
	return nil, status.With(status.Target, err)
}

// listCommand starts a program, lists the places in what it maps before its first instruction, and kills it unrun.
func listCommand(all *catalog.Catalog, spec place.Spec, command []string) ([]catalog.Entry, error) {
	s, err := engine.New(engine.Config{})
	if err != nil {
		return nil, status.With(status.Target, err)
	}
	pid, err := s.Launch(engine.Command{Path: command[0], Args: command})
	if err != nil {
		s.Close(true)
		return nil, status.With(status.Target, err)
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
		if verbose && e.Inline != nil {
			fmt.Fprintf(w.out(), "    %s\n", e.Inline)
		}
		if verbose && len(e.Copies.Calls) > 0 {
			besides := " besides"
			if e.Inlined {
				besides = ""
			}
			fmt.Fprintf(w.out(), "    inlined in %s%s: %s\n", plural(len(e.Copies.Calls), "place"), besides, e.Copies.Where())
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
