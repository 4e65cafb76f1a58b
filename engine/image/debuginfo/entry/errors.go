package entry

import (
	"errors"
)

// ErrNone reports that a module, or the code at an address, has no debug information.
var ErrNone = errors.New("no debug information")

// ErrSplit reports that the debug information is in a .dwo file that is missing. The error is a *MissingError.
var ErrSplit = errors.New("the debug information is split off into a .dwo file that is missing")

// ErrAlt reports that the debug information refers to a supplementary file, made by dwz, that is missing. The error is
// a *MissingError.
var ErrAlt = errors.New("the debug information refers to a supplementary file made by dwz that is missing")
