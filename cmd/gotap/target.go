package main

import (
	"errors"
	"fmt"
	"net"

	"gotap/cmd/gotap/status"
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
	case p.runOptions.budget != "":
		return status.Hinted(errors.New("--budget does not work with --remote: gotap cannot measure for how long a stub's target was stopped"), "the options rate, every and limit of a probe bound its hits")
	case p.runOptions.affinity != "":
		return errors.New("--affinity does not work with --remote: gotap cannot choose the CPU of a stub's target")
	case p.runOptions.follow != "" && p.runOptions.follow != "threads":
		return fmt.Errorf("--follow %s does not work with --remote: all threads of a stub's target are traced, and no children", p.runOptions.follow)
	}
	_, port, err := net.SplitHostPort(p.remote)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil || port == "0" || port == "" {
		return status.Hinted(fmt.Errorf("--remote %s: not HOST:PORT", p.remote), "as in --remote localhost:1234, or [::1]:1234")
	}
	return nil
}
