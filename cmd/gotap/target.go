package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"gotap/cmd/gotap/othertracers"
	"gotap/cmd/gotap/status"
	"gotap/engine"
	"gotap/engine/linux/container"
	"gotap/engine/linux/procfs"
)

// targetFlags say what is traced, besides COMMAND.
type targetFlags struct {
	pids, containers []string
	follow           string
	remote, exe      string
}

func (o *targetFlags) register(f *pflag.FlagSet) {
	f.StringArrayVarP(&o.pids, "pid", "p", nil, "attach to this process, to several, 12,34, or to all with this name (repeatable)")
	f.StringArrayVar(&o.containers, "container", nil, "attach to the processes of the container with this ID, or at least 6 characters of its beginning (repeatable)")
	f.StringVar(&o.follow, "follow", "", "none, threads or children (default children with COMMAND or --container, threads with -p)")
	f.StringVar(&o.remote, "remote", "", "trace through the GDB stub at HOST:PORT: QEMU's, gdbserver's, a kernel's")
	f.StringVar(&o.exe, "exe", "", "with --remote, the file of the program or kernel that runs there, or a list of its symbols")
}

// processes reports whether running processes are given.
func (o *targetFlags) processes() bool { return len(o.pids) > 0 || len(o.containers) > 0 }

// targeted reports whether there is a target, so that it is not the demonstration.
func (o *targetFlags) targeted(command []string) bool {
	return len(command) > 0 || o.processes() || o.remote != ""
}

// checkTargets finds the processes of -p and --container.
func (p *plan) checkTargets(w *World) error {
	if p.processes() && len(p.command) > 0 {
		return fmt.Errorf("%s and a COMMAND exclude each other", p.processFlag())
	}
	for _, list := range p.runOptions.pids {
		for _, text := range pidTexts(list) {
			pids, err := w.processes(text)
			if err != nil {
				return err
			}
			p.take(w, text, pids)
		}
	}
	for _, text := range p.containers {
		pids, err := w.processesIn(text)
		if err != nil {
			return err
		}
		p.take(w, "container "+text, pids)
	}
	return nil
}

// processFlag returns the flag that gives processes.
func (o *targetFlags) processFlag() string {
	if len(o.pids) > 0 {
		return "-p"
	}
	return "--container"
}

// take adds processes to the targets, and says which they are unless the text says it.
func (p *plan) take(w *World, text string, pids []int) {
	for _, pid := range pids {
		if !slices.Contains(p.pids, pid) {
			p.pids = append(p.pids, pid)
		}
	}
	if !p.quiet && !(len(pids) == 1 && text == strconv.Itoa(pids[0])) {
		fmt.Fprintf(w.errs(), "gotap: %s is %s\n", text, processList(pids))
	}
}

// processesIn returns the processes of a container, without those that wait for gotap, which may run in it.
func (w *World) processesIn(text string) ([]int, error) {
	c, err := container.Find(container.List(), text)
	if err != nil {
		return nil, status.With(status.Target, fmt.Errorf("--container: %w", err))
	}
	own := append(w.waiting(), os.Getpid())
	pids := slices.DeleteFunc(c.Pids, func(pid int) bool { return slices.Contains(own, pid) || procfs.Ended(pid) })
	if len(pids) == 0 {
		return nil, status.With(status.Target, fmt.Errorf("--container %s: only gotap runs in this container", text))
	}
	return pids, nil
}

// pidTexts splits the numbers of one -p, which pidof and pgrep separate by blanks or commas.
func pidTexts(list string) []string {
	texts := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if len(texts) == 0 {
		return []string{list}
	}
	return texts
}

// checkPreserve refuses --preserve-status unless there is one target.
func (p *plan) checkPreserve() error {
	switch targets := len(p.pids); {
	case !p.preserve || len(p.command) > 0 || p.remote != "" || targets == 1:
		return nil
	case targets > 1:
		return errors.New("--preserve-status needs one target, and there are several")
	}
	return status.Hinted(errors.New("--preserve-status needs a target"), othertracers.CommandBehind)
}

func (p *plan) checkFollow() error {
	switch p.runOptions.follow {
	case "":
		p.follow = engine.FollowThreads
		if len(p.pids) == 0 || len(p.containers) > 0 {
			p.follow = engine.FollowChildren
		}
	case "none":
		p.follow = engine.FollowNone
	case "threads":
		p.follow = engine.FollowThreads
	case "children":
		p.follow = engine.FollowChildren
	default:
		return fmt.Errorf("--follow is none, threads or children, not %q", p.runOptions.follow)
	}
	return nil
}

// checkRemote checks the flags of a target behind a stub.
func (p *plan) checkRemote() error {
	switch {
	case p.remote == "" && p.exe != "":
		return fmt.Errorf("--exe goes with --remote: a local program is named as COMMAND")
	case p.remote == "":
		return nil
	case len(p.command) > 0:
		return errors.New("--remote traces what the stub runs: it goes with neither COMMAND nor -p")
	case p.processes():
		return fmt.Errorf("--remote traces what the stub runs: it goes with neither COMMAND nor %s", p.processFlag())
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
