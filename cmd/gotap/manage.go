package main

import (
	"fmt"
	"os"

	"gotap"
	"gotap/cmd/gotap/manager"
	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/wire"
)

// manage opens the session's socket. If that fails, the session runs without a socket, except in the background,
// where nothing else could end it.
func (r *run) manage() error {
	c := manager.Config{Session: r.session, Script: r.text.Name, Command: r.plan.command, Idle: wire.IdleTime, Insertion: insertion}
	if r.w.control != nil {
		c.Supervisor = os.Getppid()
	}
	m, err := manager.Start(c)
	switch {
	case err == nil:
		r.manager = m
	case r.w.background != nil:
		return status.With(status.Failure, fmt.Errorf("cannot run in the background: %w", err))
	case r.plan.verbose:
		r.note("gotap ctl will not find this session: %v", err)
	}
	return nil
}

// insertion understands a script that a client sends, with its flags.
func insertion(s *wire.Script) (gotap.Insertion, error) {
	in := gotap.Insertion{Script: gotap.Script{Name: s.Name, Dir: s.Dir, Text: s.Text}, Path: s.Path, Args: s.Args}
	if s.Data != nil {
		in.Script.Text = string(s.Data)
	}
	flags := flagsOf(s)
	switch {
	case flags.none():
		return in, nil
	case !isDefinition(in.Script):
		return in, flags.refuse(in.Script)
	}
	options, err := flags.options(false) // the session knows whether programs may change targets
	in.Definition = &options
	return in, err
}
