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
		if d := spelling.Distance(name, k, distance); d <= distance && (d < distance || best == "") && d < len(name) {
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
	return ""
}
