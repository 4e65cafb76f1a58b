package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"gotap"
	"gotap/cmd/gotap/declare"
	"gotap/cmd/gotap/status"
	"gotap/engine/place/catalog"
	"gotap/samples"
	"gotap/script/typings"
)

func newInit(w *World) *cobra.Command {
	var pid, functions string
	c := &cobra.Command{
		Use:   "init [flags] [PROG] [DIR]",
		Short: "Write types for the editor, jsconfig.json and a first script; types of PROG, too",
		Long: `init writes gotap.d.ts, the types of the script language, jsconfig.json and hello.js into DIR, or the current folder. What
is there stays, except types.
With PROG, the file of a program or library, or -p PID, PROG.gotap.d.ts has the types of its functions, structs and variables by its
debug information: in probe("f", c => …) the editor, and tsc, know the members of c.args, and of c.ret in leave. These are the
functions of its own sources; with --functions those that a pattern names, of libraries that are linked into it as well.`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			prog := ""
			if pid != "" {
				pids, err := w.processes(pid)
				if err != nil {
					return err
				}
				prog = fmt.Sprintf("/proc/%d/exe", pids[0])
			} else if len(args) > 0 && isRegular(args[0]) {
				prog, args = args[0], args[1:]
			}
			switch {
			case len(args) > 1:
				return status.With(status.Usage, fmt.Errorf("%s is not the file of a program", args[0]))
			case functions != "" && prog == "":
				return status.With(status.Usage, errors.New("--functions needs a program: PROG or -p PID"))
			}
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return writeProject(w, dir, prog, functions)
		},
	}
	c.Flags().StringVarP(&pid, "pid", "p", "", "types of the program of this process, by number or name")
	w.registerFetch(c)
	c.Flags().StringVar(&functions, "functions", "", "types of the functions that this pattern names")
	return c
}

// isRegular reports whether a path may be a program, and not a folder.
func isRegular(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// projectFile is a file that init writes.
type projectFile struct {
	name, text string
	ours       bool // overwritten
}

// writeProject writes what is not there yet; a file of the user's is never overwritten, but the types always are. prog
// is "" for no program.
func writeProject(w *World, dir, prog, functions string) error {
	first, _ := samples.Find("hello")
	files := []projectFile{{"gotap.d.ts", typings.Text(), true}, {"jsconfig.json", typings.Config, false}, {"hello.js", first.Text, false}}
	if prog != "" {
		types, err := programTypes(w, prog, functions)
		if err != nil {
			return err
		}
		files = append(files, types)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return status.With(status.Failure, fmt.Errorf("cannot make %s: %w", dir, err))
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if _, err := os.Lstat(path); err == nil && !f.ours {
			fmt.Fprintf(w.errs(), "gotap: %s is there already\n", path)
			continue
		} else if err != nil && !errors.Is(err, os.ErrNotExist) {
			return status.With(status.Failure, err)
		}
		if err := os.WriteFile(path, []byte(f.text), 0o644); err != nil {
			return status.With(status.Failure, fmt.Errorf("cannot write %s: %w", path, err))
		}
		fmt.Fprintln(w.out(), path)
	}
	return nil
}

// noProgram is the error for a program that cannot be found: that of a process may have ended.
func noProgram(prog string, err error) error {
	process := filepath.Dir(prog)
	if _, gone := os.Lstat(process); filepath.Dir(process) == "/proc" && errors.Is(gone, os.ErrNotExist) {
		return fmt.Errorf("cannot read the program of process %s: %w", filepath.Base(process), syscall.ESRCH)
	}
	return err
}

// programTypes returns the file with the types of a program.
func programTypes(w *World, prog, functions string) (projectFile, error) {
	path, err := filepath.EvalSymlinks(prog)
	if err != nil {
		return projectFile{}, status.With(status.Target, noProgram(prog, err))
	}
	fetch, err := w.fetcher(false)
	if err != nil {
		return projectFile{}, err
	}
	all := catalog.New(fetch)
	defer all.Close()
	defer func() { warnings(w, gotap.MissingWarnings(all.FreshMissing())) }()
	d, err := all.Declare(prog, functions)
	if err != nil {
		return projectFile{}, status.With(status.Target, err)
	}
	name := filepath.Base(path)
	switch {
	case len(d.Functions) == 0 && functions != "":
		return projectFile{}, status.With(status.NoProbe, fmt.Errorf("%s has no function %s with debug information", prog, functions))
	case len(d.Functions) == 0:
		return projectFile{}, status.Hinted(status.With(status.NoProbe, fmt.Errorf("no function of %s's own sources has debug information", name)),
			"--functions 'PATTERN' takes those of libraries that are linked into it as well")
	case d.LeftOut > 0:
		fmt.Fprintf(w.errs(), "gotap: %d functions and types more than fit are left out; --functions 'PATTERN' narrows\n", d.LeftOut)
	}
	return projectFile{name + ".gotap.d.ts", declare.Text(name, d, typings.Names()), true}, nil
}
