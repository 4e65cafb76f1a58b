package catalog

import (
	"fmt"
	"path/filepath"

	"gotap/engine/image/debuginfo"
	"gotap/engine/place"
)

// Declare returns what the file of a program declares: of functions those that a pattern names, or if it is empty those
// of its own sources.
func (c *Catalog) Declare(path, pattern string) (*debuginfo.Declarations, error) {
	f, err := c.modules.OpenPath(path)
	if err != nil {
		return nil, err
	}
	in, ok := c.names.Info(f)
	if !ok {
		return nil, noTypesError(path)
	}
	if pattern == "" {
		return debuginfo.Declare(in, nil)
	}
	spec, err := place.Parse(pattern)
	if err != nil {
		return nil, err
	}
	if spec.Kind != place.Function || spec.HasOff || spec.Every || spec.Module != "" {
		return nil, fmt.Errorf("%s is not a pattern of functions", pattern)
	}
	return debuginfo.Declare(in, spec.Matches)
}

// noTypesError is the error for the path of a program without debug information.
type noTypesError string

func (e noTypesError) Error() string {
	path, err := filepath.EvalSymlinks(string(e)) // /proc/PID/exe
	if err != nil {
		path = string(e)
	}
	return "cannot read the types of " + path + ": no debug information"
}

// Hint says where types come from.
func (e noTypesError) Hint() string {
	return "compile it with -g, or install its debug package (…-dbgsym, …-dbg, …-debuginfo); a library is named by its file: gotap init FILE"
}
