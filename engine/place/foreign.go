package place

import (
	"fmt"
	"strings"

	"gotap/engine/image/symname"
)

// This file translates the place syntax of other tracers to hints.

const kernelHint = "kernel code is not traced; system calls are syscall:NAME"

const repeatedHint = `repeated work is every("1s", () => { … })`

const sampleHint = `samples of all threads are sample("10ms", { on: "cpu" }, c => { … })`

const countersHint = "hardware and software counters are not supported"

// foreignModules maps words before a colon in bpftrace to hints.
var foreignModules = map[string]string{
	"uprobe": "write MODULE:FUNCTION", "u": "write MODULE:FUNCTION", "process": "write MODULE:FUNCTION",
	"uretprobe": "write MODULE:FUNCTION with a leave handler", "ur": "write MODULE:FUNCTION with a leave handler",
	"tracepoint": kernelHint, "t": kernelHint, "rawtracepoint": kernelHint, "kprobe": kernelHint, "k": kernelHint, "kretprobe": kernelHint,
	"kr": kernelHint, "fentry": kernelHint, "fexit": kernelHint, "kfunc": kernelHint,
	"interval": repeatedHint, "profile": sampleHint,
	"self":     "SIGUSR1 makes gotap print its results; " + repeatedHint,
	"hardware": countersHint, "h": countersHint, "software": countersHint, "s": countersHint,
	"bench":      "`gotap bench` measures what a hit costs",
	"watchpoint": "write watch:PLACE/LEN/w", "w": "write watch:PLACE/LEN/w",
}

// foreignModule returns the hint for MODULE:…:… of another tracer, or "".
func foreignModule(name string) string {
	if strings.HasPrefix(name, "pid") { // DTrace: pid123:libc:malloc:entry
		return "write MODULE:FUNCTION, with an enter or a leave handler; -p says which process"
	}
	return foreignModules[name]
}

// foreignName returns the hint for a name that no function has, or "".
func foreignName(name string) string {
	module, function, isFrida := strings.Cut(name, "!")
	switch {
	case name == "begin" || name == "BEGIN":
		return "work before the first hit is begin(() => { … })"
	case name == "end" || name == "END":
		return "work after the last hit is end(() => { … })"
	case strings.HasPrefix(name, "process(") || strings.Contains(name, ".function("):
		return "write MODULE:FUNCTION"
	case strings.HasSuffix(name, "@plt"):
		return "probe the function in the library: libc:" + strings.TrimSuffix(name, "@plt")
	case strings.ContainsAny(name, "{}") && !symname.IsGlob(name):
		return `write several places as a list: ["malloc", "free"]`
	case strings.ContainsRune(name, ',') && !strings.ContainsAny(name, "(<{"): // no C++ name, nor {a,b}
		return `write several places as a list: ["malloc", "free"]`
	case isFrida && module != "" && function != "" && function[0] != '=':
		return "write " + module + ":" + function
	case strings.HasPrefix(name, "timer."):
		if name == "timer.profile" {
			return sampleHint
		}
		return repeatedHint
	}
	return debuggerName(name)
}

// debuggerName returns the hint for a name as gdb and perf write places, or for a set without quotes, or "".
func debuggerName(name string) string {
	if address, ok := strings.CutPrefix(name, "*0x"); ok {
		return "an address of the process is written 0x" + address + ", one in a file MODULE:0x" + address
	}
	if function, condition, ok := strings.Cut(name, " if "); ok {
		return "probe " + function + " with a condition: when(c) { return …; }, or an if in the handler, for " + condition
	}
	if function, ok := strings.CutSuffix(name, "%return"); ok {
		return "write " + function + " with a leave handler"
	}
	for _, word := range setWords {
		if inside, ok := strings.CutPrefix(name, word+"("); ok && word != "" && strings.HasSuffix(inside, ")") {
			return fmt.Sprintf("write %s(%q)", word, strings.TrimSuffix(inside, ")"))
		}
	}
	return ""
}
