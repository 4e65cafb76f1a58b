package main

import (
	"fmt"
	"net"
)

// checkRemote checks the flags of a target behind a stub.
func (p *plan) checkRemote() error {
	switch {
	case p.remote == "" && p.exe != "":
		return fmt.Errorf("--exe goes with --remote: a local program is named as COMMAND")
	case p.remote == "":
		return nil
	case len(p.command) > 0 || len(p.runOptions.pids) > 0:
		return fmt.Errorf("--remote traces what the stub runs: it goes with neither COMMAND nor -p")
	}
	_, port, err := net.SplitHostPort(p.remote)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil || port == "0" || port == "" {
		return &hintError{fmt.Errorf("--remote %s: not HOST:PORT", p.remote), "as in --remote localhost:1234, or [::1]:1234"}
	}
	return nil
}
