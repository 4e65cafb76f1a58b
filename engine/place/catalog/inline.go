package catalog

import (
	"errors"

	"gotap/arch"
	"gotap/engine/image/module"
	"gotap/engine/inline"
	"gotap/engine/place"
	"gotap/engine/registry"
)

// Inline says whether programs can run at a place without a stop, as far as the file tells. Programs, and the process,
// may give reasons of their own why they cannot.
type Inline struct {
	Not     error // why they cannot; nil: they can
	Records error // why they cannot if they write records; nil: they can
}

// String returns it in words: "inline", "not inline: the function ends after 2 bytes", ….
func (i *Inline) String() string {
	switch {
	case i.Not != nil:
		return "not inline: " + reason(i.Not)
	case i.Records != nil:
		return "inline, unless records are written: " + reason(i.Records)
	}
	return "inline"
}

var errChosen = errors.New("the loader chooses the implementation, which is known in a process")

func inlineAt(t place.Target) *Inline {
	if t.IFunc {
		return &Inline{Not: errChosen}
	}
	return InlineAt(t.File, registry.PlantedAt(t))
}

// InlineAt examines an address of a file, which must be the start of an instruction.
func InlineAt(f *module.File, vaddr uint64) *Inline {
	s, err := inline.SiteOf(f, vaddr, false)
	if err != nil {
		return &Inline{Not: err}
	}
	return &Inline{Records: s.Records()}
}

// reason returns an error without the place.
func reason(err error) string {
	var window *arch.WindowError
	if errors.As(err, &window) {
		return window.Reason
	}
	return err.Error()
}
