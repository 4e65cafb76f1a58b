package remote

import (
	"errors"

	"gotap/engine/image/module"
	"gotap/engine/locate"
	"gotap/engine/place"
	"gotap/engine/registry"
)

// maxFunc is the maximum number of bytes of a function that are examined.
const maxFunc = 1 << 20

// host provides what a stub's target adds to the contents of files. It implements locate.Host.
type host struct {
	*Config
	s *Session
}

var _ locate.Host = host{}

// InFiles implements locate.Host. System calls of a process have no places in files (syscall.go), and neither have data
// that are named by their address; system calls of a machine are functions of its kernel.
func (h host) InFiles(spec place.Spec) bool {
	return spec.Kind != place.Sample && (spec.Kind != place.Syscall || h.s.stub.kernel) && !(onData(spec) && spec.Absolute())
}

// Resolve implements locate.Host. Functions whose implementation the loader selects are left out; if there are no
// others, they are an error.
func (h host) Resolve(r *place.Resolver, spec place.Spec, files []*module.File) ([]place.Target, error) {
	if spec.Kind == place.Syscall {
		return h.s.program.kernelCalls(r, spec, files)
	}
	targets, err := r.ResolveAll(spec, files)
	var found []place.Target
	for _, t := range targets {
		if t.IFunc {
			err = errors.Join(err, &place.RefusedError{Place: t.Name, Reason: "the loader chooses its code, which a stub does not tell",
				Help: "name the implementation that it chooses"})
			continue
		}
		found = append(found, t)
	}
	if len(found) > 0 {
		err = nil
	}
	return found, err
}

// Info implements locate.Host. Programs for watchpoints are compiled when their addresses are known.
func (h host) Info(spec place.Spec, t place.Target) registry.PlaceInfo {
	if onData(spec) {
		return nil
	}
	if isKernelCall(t) {
		return h.s.program.otherInfo(t.Name)
	}
	return &registry.Info{Files: &h.s.program.names.Files, Target: t, ISA: h.s.stub.isa.ISA, Modules: h.s.program.mapped}
}

// NoModule implements locate.Host.
func (h host) NoModule(_ int, spec place.Spec) error {
	return &place.RefusedError{Place: spec.String(), Reason: "no module is known there"}
}

// Awaits implements locate.Host: the program may have libraries that it has not loaded yet.
func (h host) Awaits(spec place.Spec, reason error) (bool, error) {
	var missing *place.NotFoundError
	return errors.As(reason, &missing) && h.s.loader.pending(spec), nil
}
