package place

import (
	"fmt"
	"strconv"
	"strings"
)

// This file knows how other tracers write places, so that who comes from them is told how it is done here.

const kernelHint = "the kernel's own code is not traced; system calls are syscall:NAME"

const countersHint = "the processor's and the kernel's counters are not read"

// foreignModules are words that stand in front of a colon in bpftrace.
var foreignModules = map[string]string{
	"uprobe": "write MODULE:FUNCTION", "u": "write MODULE:FUNCTION", "process": "write MODULE:FUNCTION",
	"uretprobe": "write MODULE:FUNCTION with a leave handler", "ur": "write MODULE:FUNCTION with a leave handler",
	"tracepoint": kernelHint, "t": kernelHint, "rawtracepoint": kernelHint, "kprobe": kernelHint, "k": kernelHint, "kretprobe": kernelHint,
	"kr": kernelHint, "fentry": kernelHint, "fexit": kernelHint, "kfunc": kernelHint,
	"interval": `what is done again and again is every("1s", () => { … })`, "profile": "the processor's time is not sampled; every: 100 in a probe takes one hit of so many",
	"self":     "SIGUSR1 makes gotap print what there is; what is done again and again is every(\"1s\", () => { … })",
	"hardware": countersHint, "h": countersHint, "software": countersHint, "s": countersHint,
	"bench":      "`gotap bench` measures what a hit costs",
	"watchpoint": "write watch:PLACE/LEN/w", "w": "write watch:PLACE/LEN/w",
}

// foreignModule is what to write in place of MODULE:…:… of another tracer, or nothing.
func foreignModule(name string) string {
	if strings.HasPrefix(name, "pid") { // DTrace: pid123:libc:malloc:entry
		return "write MODULE:FUNCTION, with an enter or a leave handler; -p says which process"
	}
	return foreignModules[name]
}

// foreignName is what to write in place of a name that no function has, or nothing.
func foreignName(name string) string {
	module, function, isFrida := strings.Cut(name, "!")
	switch {
	case name == "begin" || name == "BEGIN":
		return "what is done before the first hit is begin(() => { … })"
	case name == "end" || name == "END":
		return "what is done after the last hit is end(() => { … })"
	case strings.HasPrefix(name, "process(") || strings.Contains(name, ".function("):
		return "write MODULE:FUNCTION"
	case strings.HasSuffix(name, "@plt"):
		return "calls of a library are seen in the function that they reach: libc:" + strings.TrimSuffix(name, "@plt")
	case strings.ContainsAny(name, "{}"):
		return `several places are a list: ["malloc", "free"]`
	case strings.ContainsRune(name, ',') && !strings.ContainsAny(name, "(<"): // no C++ name
		return `several places are a list: ["malloc", "free"]`
	case isFrida && module != "" && function != "" && function[0] != '=':
		return "write " + module + ":" + function
	}
	return ""
}

// foreignLine is what to write in place of @file.c:LINE:COLUMN, or nothing.
func foreignLine(s Spec) string {
	file, line, ok := strings.Cut(s.File, ":")
	if _, err := strconv.Atoi(line); !ok || err != nil {
		return ""
	}
	return fmt.Sprintf("columns are not told apart: @%s:%s is all of the line", file, line)
}
