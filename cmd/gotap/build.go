package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gotap"
	"gotap/cmd/gotap/datafile"
	"gotap/cmd/gotap/status"
	"gotap/compile/diag"
	"gotap/compile/ppdf"
)

func newBuild(w *World) *cobra.Command {
	var flags scriptFlags
	var out string
	c := &cobra.Command{
		Use:   "build SCRIPT -o FILE",
		Short: "Build a probe file that runs without its source",
		Long: `build compiles and verifies a definition file with everything it includes, and writes its programs to one file.
gotap run accepts that file in place of the source. The target does not have to exist. A script without modules is stored as source.`,
		RunE: func(c *cobra.Command, args []string) error {
			text, err := readProgram(w, args, flags.eval, c.Flags().Changed("eval"))
			if err != nil {
				return err
			}
			f, err := flags.build(w, text)
			if err != nil {
				return status.With(status.Usage, err)
			}
			return writeBuilt(w, f, out)
		},
	}
	flags.register(c)
	c.Flags().StringVarP(&out, "output", "o", "", "the file to write (default NAME.ppdf)")
	return c
}

// build makes the contents of a prebuilt file, and prints warnings.
func (f *scriptFlags) build(w *World, text gotap.Script) (*ppdf.File, error) {
	o, err := f.options(w, text)
	if err != nil {
		return nil, err
	}
	built, list, err := gotap.Build(text, o)
	if err != nil {
		return nil, err
	}
	warnings(w, list)
	return built, nil
}

// writeBuilt writes a prebuilt file: whole, or not at all.
func writeBuilt(w *World, f *ppdf.File, out string) error {
	data, err := ppdf.Encode(f)
	if err != nil {
		return status.With(status.Failure, err)
	}
	if out == "" {
		out = strings.TrimSuffix(f.Name, filepath.Ext(f.Name)) + ".ppdf"
	}
	fresh := out + ".new"
	file, err := datafile.CreateShared(fresh)
	if err == nil {
		_, err = file.Write(data)
		err = errors.Join(err, file.Close())
	}
	if err == nil {
		err = os.Rename(fresh, out)
	}
	if err != nil {
		os.Remove(fresh)
		return status.With(status.Failure, fmt.Errorf("cannot write %s: %w", out, err))
	}
	fmt.Fprintf(w.errs(), "gotap: %s: %d bytes\n", out, len(data))
	return nil
}

func warnings(w *World, list diag.List) {
	for _, d := range list {
		fmt.Fprint(w.errs(), d.Fit(w.errColumns()).String())
	}
}

// unpack gives the script that a prebuilt file holds; all else stays what it is.
func unpack(text gotap.Script) (gotap.Script, error) {
	if !ppdf.Is(text.Text) {
		return text, nil
	}
	f, err := ppdf.Decode([]byte(text.Text))
	if err != nil {
		return text, status.With(status.Usage, fmt.Errorf("cannot read %s: %w", text.Name, err))
	}
	if f.Definition == nil {
		return gotap.Script{Name: f.Name, Text: f.Script}, nil
	}
	return text, nil
}
