package catalog

import (
	"fmt"

	"gotap/engine/image/debuginfo"
	"gotap/engine/place"
)

// Declare returns what the file of a program declares: of functions those that a pattern names, or if it is empty those
// of its own sources.
func (c *Catalog) Declare(path, pattern string) (*debuginfo.Declarations, error) {
	f, err := c.modules.OpenPath(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	in, ok := c.names.Info(f)
	if !ok {
		return nil, fmt.Errorf("cannot read the types of %s: %w", path, debuginfo.ErrNone)
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
