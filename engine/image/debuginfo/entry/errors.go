package entry

import (
	"errors"
)

// ErrNone reports that a module, or the code at an address, has no debug information.
var ErrNone = errors.New("no debug information")

// ErrSplit reports that the debug information is in .dwo files, which are not read.
var ErrSplit = errors.New("the debug information is split off into .dwo files, which are not read")

// ErrAlt reports that the debug information refers to a supplementary file made by dwz, which is not read.
var ErrAlt = errors.New("the debug information refers to a supplementary file made by dwz, which is not read")
