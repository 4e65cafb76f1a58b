package othertracers

import "strings"

// CommandBehind says where COMMAND is written.
const CommandBehind = "the program to trace and its arguments come after --, as in: gotap run script.js -- ls -l"

// What does the same as flags of other tracers.
const (
	forTime   = "-T 10s, or --for 10s, ends the run after a time"
	named     = "-p NAME means the processes with this name"
	argument  = "an argument of the script is --arg name=value"
	lists     = "gotap list 'libc:mem*' lists places, gotap list ./prog the functions of a program"
	children  = "children are followed if COMMAND is traced; --follow children takes in those of -p"
	patterns  = "patterns are written without a flag, as in: gotap trace 'libc:str*' 'syscall:open*' -- ls"
	inScript  = "places are named in the script: gotap run funccount --arg f='libc:mem*'"
	sums      = "--count counts the calls of each function, --latency sums up their times"
	system    = "system calls are places, syscall:NAME: gotap trace 'syscall:*' -- ls, or gotap run syscalls -- ls"
	stacks    = "--stack 10 shows ten frames of the stack with each call"
	stackOf   = "c.stack(n) of a script is the stack; gotap run profile takes samples"
	slow      = "--slower 1ms shows only calls that take so long"
	leaves    = "-x PATTERN leaves out functions"
	fails     = "--failed shows only calls that fail"
	deep      = "--depth N shows only calls that are at most so deep"
	times     = "each line has the time since the first call, and how long the call took"
	shown     = "arguments and results are shown where debug information or a prototype has them; gotap list -v shows which"
	names     = "names of C++ and Rust are always readable"
	pictures  = "-o report.html, -o calls.folded and -o calls.perfetto-trace draw the calls"
	files     = "-o FILE writes the data to a file; its ending, or -f, chooses the format"
	checks    = "gotap check, gotap explain and gotap dis show what was compiled"
	whole     = "gotap traces single processes; bpftrace and SystemTap see the whole system"
	verbosely = "gotap list -v shows arguments, types and local variables"
	inFile    = "the file is part of a place: gotap list './prog:mem*'"
)

// flags are the flags of one command, without their dashes: those of a hint are separated by blanks.
type flags []struct{ names, hint string }

// common are flags that run, record and trace lack alike.
var common = flags{
	{"duration timeout time timelimit seconds sleep", forTime},
	{"n name attach-name comm", named},
	{"json", "-f json"},
	{"list", lists},
	{"F follow-fork follow-forks follow-children children ff", children},
	{"graph flame-graph flamegraph chrome svg", pictures},
	{"a all-cpus", whole},
	{"pause", "COMMAND starts when all probes are armed"},
	{"info", "gotap doctor"},
	{"daemonize", "--background goes on without this terminal"},
	{"file data", files},
}

// ofRun are flags of run and record.
var ofRun = flags{
	{"c cmd command exec", CommandBehind},
	{"P parameters", argument},
	{"l", lists},
	{"d", checks},
	{"dry-run", "gotap check compiles and verifies"},
	{"i function include", inScript},
	{"x", "places are named in the script; gotap help probes"},
	{"S", system},
	{"g call-graph backtrace stack", stackOf},
}

// ofTrace are flags of trace.
var ofTrace = flags{
	{"duration", "-T 10s, or --for 10s, ends the run after a time; " + slow},
	{"c summary summary-only", sums},
	{"e expr filter event i include function functions l library", patterns},
	{"syscalls", system},
	{"k g w stack-trace stack-traces backtrace call-graph max-stack", stacks},
	{"t time-filter threshold min min-duration", slow},
	{"N notrace no-trace", leaves},
	{"Z failed-only errors", fails},
	{"D max-depth nest", deep},
	{"r tt ttt timestamps relative-timestamps absolute-timestamps", times},
	{"A R y yy argument retval auto-args args", shown},
	{"demangle", names},
	{"d dir", files},
}

// ofList are flags of list.
var ofList = flags{
	{"l F list functions funcs", "gotap list ./prog lists the functions of a program, gotap list 'libc:mem*' those that a pattern matches"},
	{"a A args V vars types", verbosely},
	{"x e exec file", inFile},
	{"C demangle", names},
	{"c cmd command", "gotap list 'mem*' -- COMMAND searches the modules that COMMAND maps"},
}

// Flag says what to write instead of a flag that a command of gotap does not have; "" when nothing is known. Flags are
// without dashes, those of one letter with what is written behind them.
func Flag(command, flag string) string {
	var known flags
	switch command {
	case "run", "record":
		known = append(ofRun, common...)
	case "trace":
		known = append(ofTrace, common...)
	case "list":
		known = ofList
	}
	flag, _, _ = strings.Cut(flag, "=")
	for _, f := range known {
		for name := range strings.FieldsSeq(f.names) {
			if name == flag {
				return f.hint
			}
		}
	}
	return ""
}

// valued are hints about flags that have a value here and none in strace, where -f follows forks and -T shows times.
var valued = map[string]string{
	"format": "-f chooses the format of the data; children of COMMAND are followed without a flag",
	"for":    "-T ends the run after a time, as in -T 10s; how long each call takes is shown without a flag",
}

// Valued says what was probably meant by a flag of gotap, by its long name, that lacks its value; "" when nothing is known.
func Valued(flag string) string { return valued[flag] }
