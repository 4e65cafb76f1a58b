package gotap

import (
	"context"
	"errors"

	"gotap/script/output"
)

// Target is a process that the options named, and how it has ended.
type Target = output.Target

// Run runs a script on its targets until they have ended, the script calls stop(), or the context is done. None of
// these is an error, so that the result of a session without end can be had with a timeout. When the context is done
// before the probes are placed, the error matches context's.
func Run(ctx context.Context, text Script, o Options) (*Result, error) {
	s, err := Open(ctx, text, o)
	if err != nil {
		return nil, err
	}
	if err = s.Arm(); err == nil {
		err = s.Start()
	}
	if err == nil {
		err = s.Wait()
	} else if ctx.Err() != nil {
		err = errors.Join(err, ctx.Err())
	}
	result, cerr := s.Close()
	if result != nil {
		s.opts.Output.End(output.End{Status: result.Status, Targets: result.Targets})
		s.opts.Output.Flush()
	}
	return result, errors.Join(err, cerr)
}
