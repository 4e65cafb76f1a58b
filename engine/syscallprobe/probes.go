package syscallprobe

import (
	"debug/elf"
	"slices"

	"gotap/arch"
	"gotap/engine/linux/syscallnames"
	"gotap/engine/place"
	"gotap/engine/registry"
)

// Convention is how the processes of one kind call the kernel.
type Convention struct {
	Machine elf.Machine // that numbers the calls
	Regs    arch.Arch   // the registers that programs may name
	Word    int         // the size of those registers, in bytes
}

// Probes are the probes of a session on system calls. Its fields are set before the first probe is added.
type Probes struct {
	Conventions []Convention // of the processes that may be traced, the session's own first
	Globals     registry.Globals

	byCall map[call][]*registry.Placement
	all    []*registry.Placement
}

// call is a system call of a convention.
type call struct {
	machine elf.Machine
	number  uint64
}

// named is a system call as programs see it: conventions that name the same registers share programs.
type named struct {
	name string
	regs arch.Arch
}

// Add adds a probe to all system calls that a specification names. On error nothing has changed.
func (p *Probes) Add(pr *registry.Probe, spec place.Spec) error {
	found := map[named]*registry.Placement{}
	at := map[call]*registry.Placement{}
	for _, c := range p.Conventions {
		for number, name := range syscallnames.Names(c.Machine) {
			if name == "" || !spec.Matches(name) || pr.Spec.LeavesOut(name) {
				continue
			}
			key := named{name, c.Regs}
			if found[key] == nil {
				pl, err := p.compile(pr, spec, name, c)
				if err != nil {
					return err
				}
				found[key] = pl
			}
			at[call{c.Machine, uint64(number)}] = found[key]
		}
	}
	known := syscallnames.Names(p.Conventions[0].Machine)
	if len(found) == 0 && !pr.Spec.Optional {
		return place.NoCall(spec, known)
	}
	for _, not := range pr.Spec.Not {
		if not.Kind == place.Syscall && !slices.ContainsFunc(known, not.Matches) {
			pr.Spec.Effects.Missed(registry.LeftOut(not), place.NoCall(not, known))
		}
	}
	p.insert(at)
	for _, pl := range found {
		p.all = append(p.all, pl)
	}
	return nil
}

// compile compiles a probe for one system call.
func (p *Probes) compile(pr *registry.Probe, spec place.Spec, name string, c Convention) (*registry.Placement, error) {
	code, err := pr.Spec.Compile(&registry.Other{Place: "syscall:" + name, Regs: c.Regs, Word: c.Word, Globals: p.Globals})
	if err == nil {
		err = code.Fits(spec)
	}
	if err != nil {
		return nil, err
	}
	return &registry.Placement{Probe: pr, Code: code, Func: name}, nil
}

// insert adds placements to their calls.
func (p *Probes) insert(at map[call]*registry.Placement) {
	if p.byCall == nil {
		p.byCall = map[call][]*registry.Placement{}
	}
	for key, pl := range at {
		p.byCall[key] = registry.Insert(p.byCall[key], pl)
	}
}

// Drop removes a probe.
func (p *Probes) Drop(pr *registry.Probe) {
	owns := func(pl *registry.Placement) bool { return pl.Probe == pr }
	for key, list := range p.byCall {
		if list = slices.DeleteFunc(slices.Clone(list), owns); len(list) > 0 {
			p.byCall[key] = list
		} else {
			delete(p.byCall, key)
		}
	}
	p.all = slices.DeleteFunc(p.all, owns)
}

// Count returns the number of system calls that a probe is on. A call that several conventions have, with the same
// registers, is one.
func (p *Probes) Count(pr *registry.Probe) (n int) {
	for _, pl := range p.all {
		if pl.Probe == pr {
			n++
		}
	}
	return n
}

// Armed returns the number of system calls on which an armed probe is, over all probes.
func (p *Probes) Armed() (n int) {
	for _, pl := range p.all {
		if pl.Probe.Armed() {
			n++
		}
	}
	return n
}

// at returns the placements at a system call, in the order of declaration.
func (p *Probes) at(machine elf.Machine, number uint64) []*registry.Placement {
	return p.byCall[call{machine, number}]
}

// Numbers returns, in ascending order, the numbers of the system calls on which a placement is that wanted accepts;
// with resuming, also those with which interrupted calls continue.
func (p *Probes) Numbers(machine elf.Machine, resuming bool, wanted func(*registry.Placement) bool) []int {
	var all []int
	for key, list := range p.byCall {
		if key.machine == machine && slices.ContainsFunc(list, wanted) {
			all = append(all, int(key.number))
		}
	}
	for number, name := range syscallnames.Names(machine) {
		if resuming && (name == restart || isReturn(name)) {
			all = append(all, number)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// restart is the call by which the kernel makes a call with a timeout again.
const restart = "restart_syscall"

// isReturn reports whether a system call ends a signal handler.
func isReturn(name string) bool { return name == "rt_sigreturn" || name == "sigreturn" }

// nameOf returns the name of a system call; "" if the number has none.
func nameOf(machine elf.Machine, number uint64) string {
	if names := syscallnames.Names(machine); number < uint64(len(names)) {
		return names[number]
	}
	return ""
}
