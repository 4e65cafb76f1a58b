package catalog

import (
	"errors"

	"gotap/arch"
	"gotap/engine/abi"
	"gotap/engine/executor"
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
	Leave   error // of the entry of a function: why calls that are followed to their return stop there; nil: none does
}

// String returns it in words: "inline", "not inline: the function ends after 2 bytes", ….
func (i *Inline) String() string {
	text := "inline"
	switch {
	case i.Not != nil:
		return "not inline: " + reason(i.Not)
	case i.Records != nil:
		text = "inline, unless records are written: " + reason(i.Records)
	}
	if i.Leave != nil {
		text += "; leave stops threads: " + reason(i.Leave)
	}
	return text
}

var errChosen = errors.New("the loader chooses the implementation, which is known in a process")

func inlineAt(t place.Target) *Inline {
	if t.IFunc {
		return &Inline{Not: errChosen}
	}
	i := InlineAt(t.File, registry.PlantedAt(t))
	if t.Entry() && i.Not == nil {
		i.Leave = leaveOf(t)
	}
	return i
}

// leaveOf returns why a call of a function may stop its thread at the end.
func leaveOf(t place.Target) error {
	if registry.GoCompiled(t) != nil {
		return inline.ErrGoroutine
	}
	set := abi.Of(t.File).ISA
	body := executor.Body{ISA: set, Entry: t.Vaddr, Target: t, Module: &module.Loaded{File: t.File}, Code: func(addr uint64, n int) []byte {
		code, _ := t.File.Code(addr, n)
		return code
	}}
	exits, err := body.Exits()
	if err != nil {
		return err
	}
	for _, e := range exits {
		if e.Tail {
			return inline.ErrTail
		}
		if _, err := inline.SiteOf(t.File, e.Insn.Addr, true); err != nil {
			return err
		}
	}
	return nil
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
