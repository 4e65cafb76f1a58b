package js

import (
	"fmt"
	"slices"
	"strings"

	"gotap/compile/spelling"
)

// suggestion is a hint that names what was probably meant, or otherwise when nothing comes near.
func suggestion(name string, known []string, otherwise string) string {
	if best := nearest(name, known); best != "" {
		return fmt.Sprintf("did you mean %s?", best)
	}
	return otherwise
}

// nearest is the known name that name is a likely slip of, "" when there is none: one edit in a short
// name, two in one of five letters or more, three from nine.
func nearest(name string, known []string) string {
	best, distance := "", 1
	switch n := len(name); {
	case n >= 9:
		distance = 3
	case n >= 5:
		distance = 2
	}
	known = slices.Clone(known)
	slices.Sort(known)
	for _, k := range known {
		if strings.EqualFold(k, name) && k != name {
			return k
		}
		nearer := func(d int) bool { // of equals, what begins so was left unfinished
			return best == "" || d < distance || strings.HasPrefix(k, name) && !strings.HasPrefix(best, name)
		}
		if d := spelling.Distance(name, k, distance); d <= distance && nearer(d) && d < len(name) {
			best, distance = k, d
		}
	}
	return best
}

// renamed are words of programs in other tracers' languages, with what stands here in their place.
var renamed = map[string]string{
	"retval": "c.ret, in leave(c) { … }", "nsecs": "c.time", "timestamp": "c.time", "gettimeofday_ns": "c.time", "execname": "c.comm",
	"ustack": "c.stack(n)", "ubacktrace": "c.stack(n)", "probefunc": "c.func", "ppfunc": "c.func", "reg": "c.regs.NAME", "register": "c.regs.NAME",
	"copyinstr": "str(p, n)", "user_string": "str(p, n)", "kstr": "str(p, n)", "buf": "bytes(p, n)", "copyin": "bytes(p, n)", "uptr": "ptr(p)",
	"strncmp": "s === t, or s.startsWith(t)", "performance": "c.time", "uregs": "c.regs.NAME", "usym": "sym(p), in a callback",
	"override": "skip(result) in enter(c) { … }, or c.ret = result in leave(c) { … }, with --unsafe", "pcomm": "c.comm, of the thread; gotap/proc in a callback",
	"strlen": "s.length", "strcontains": "s.startsWith(t), or includes in a callback", "strstr": "s.startsWith(t), or indexOf in a callback",
	"strcap": "str(p, n)", "join": "a callback: gotap/proc has args(pid)", "strftime": "clock(e.time) of gotap/time, in a callback",
	"jiffies": "c.time", "elapsed": "c.elapsed in leave(c) { … }, or c.time", "cgroup": "readFile(`/proc/${e.pid}/cgroup`) in a callback",
	"username": "c.uid", "kstack": "c.stack(n): the kernel's own frames are not traced", "rand": "every: 100 in the probe, which takes one hit of so many",
	"goid": "c.tid, the thread: goroutines are not told apart", "exe": "exe(e.pid) of gotap/proc, in a callback", "Process": "c.pid, c.tid",
	"threadId": "c.tid", "vars": "c.locals.NAME",
	"cast":   "c.args.p.field, c.ret.field or global(\"name\").field, whose types are known; other memory is read with u32(p + offset)",
	"sizeof": "a number to write out", "quantize": "const h = hist() at the top level, and h.add(x)",
}

// inContext is the hint for a name that means something here when it is written otherwise: as a member of the context, or as
// another tracer calls it.
func inContext(name string) string {
	for _, m := range Members() {
		if m.Name == name {
			return "it is a member of the context: c." + name
		}
	}
	if here := renamed[name]; here != "" {
		return "here it is " + here
	}
	if len(name) > 1 && name[0] == '$' {
		return "a local variable of the target is c.locals." + name[1:] + " at @FILE:LINE; a program's own begins with let"
	}
	return ""
}
