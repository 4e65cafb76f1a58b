package builtin

import (
	"sort"

	"gotap/compile/js/tree"
	"gotap/runtime"
)

// MaxArgs is how many arguments have a member of the context: arg0 … arg9.
const MaxArgs = 10

// Member is a member of the context, as documentation lists it.
type Member struct {
	Name  string
	Type  string // in TypeScript's words
	Leave bool   // only in leave handlers
	Fault bool   // only in fault handlers
	Doc   string
}

// ContextField is a member that is one command: a number of the context, or a text.
type ContextField struct {
	Member
	Kind  tree.Kind
	Field runtime.Field
	Text  runtime.TextField
}

// contextFields are the members of the context that are one command.
var contextFields = []ContextField{
	{Member{"pid", "number", false, false, "process"}, tree.KindInt, runtime.FieldPid, 0},
	{Member{"tid", "number", false, false, "thread"}, tree.KindInt, runtime.FieldTid, 0},
	{Member{"ppid", "number", false, false, "parent process"}, tree.KindInt, runtime.FieldPpid, 0},
	{Member{"uid", "number", false, false, "user the process runs as"}, tree.KindInt, runtime.FieldUid, 0},
	{Member{"gid", "number", false, false, "group the process runs as"}, tree.KindInt, runtime.FieldGid, 0},
	{Member{"errno", "number", false, false, "the C library's errno of the thread, as its last failed call left it; in leave of a syscall: place the call's own error, 0 for none"}, tree.KindInt, runtime.FieldErrno, 0},
	{Member{"cpu", "number", false, false, "processor"}, tree.KindInt, runtime.FieldCPU, 0},
	{Member{"time", "number", false, false, "monotonic nanoseconds, read at each use"}, tree.KindInt, runtime.FieldTime, 0},
	{Member{"vtime", "number", false, false, "nanoseconds that the thread has run on a processor, in the kernel's time too, so far: c.vtime - this.before tells running from waiting"}, tree.KindInt, runtime.FieldRunTime, 0},
	{Member{"elapsed", "number", true, false, "nanoseconds since the call was entered"}, tree.KindInt, runtime.FieldElapsed, 0},
	{Member{"pc", "number", false, false, "address of the probed instruction"}, tree.KindUint, runtime.FieldPC, 0},
	{Member{"sp", "number", false, false, "stack pointer"}, tree.KindUint, runtime.FieldSP, 0},
	{Member{"caller", "number", false, false, "address the function returns to; callsym of it, in a callback, names the call"}, tree.KindUint, runtime.FieldCaller, 0},
	{Member{"fault", "number", false, true, "address that faulted"}, tree.KindUint, runtime.FieldFault, 0},
	{Member{"signal", "number", false, true, "signal of the fault"}, tree.KindInt, runtime.FieldSignal, 0},
	{Member{"comm", "string", false, false, "name of the thread"}, tree.KindText, 0, runtime.TextComm},
	{Member{"cgroup", "string", false, false, "control group of the process, as a path; container(pid) of gotap/proc is the container it names"}, tree.KindText, 0, runtime.TextCgroup},
	{Member{"func", "string", false, false, "function that is probed"}, tree.KindText, 0, runtime.TextFunc},
	{Member{"module", "string", false, false, "module it is in"}, tree.KindText, 0, runtime.TextModule},
	{Member{"probe", "string", false, false, "name of the probe"}, tree.KindText, 0, runtime.TextProbe},
}

var fieldsByName = indexFields()

// FindMember returns the member of the context that is one command, or nil.
func FindMember(name string) *ContextField { return fieldsByName[name] }

func indexFields() map[string]*ContextField {
	index := map[string]*ContextField{}
	for i := range contextFields {
		index[contextFields[i].Name] = &contextFields[i]
	}
	return index
}

// Members lists the members of the context, by name.
func Members() []Member {
	list := []Member{
		{Name: "args", Type: "any", Doc: "arguments by name, by debug information: c.args.path, c.args.p.field"},
		{Name: "locals", Type: "any", Doc: "local variables in scope at the place, by debug information: c.locals.sum; all of them: log(c.locals)"},
		{Name: "goid", Type: "number", Doc: "number of Go's goroutine that the thread runs, also while it is on the runtime's own stack; 0 if it runs none; needs the program's debug information"},
		{Name: "gopc", Type: "number", Doc: "address behind the go statement that created the goroutine that the thread runs; callsym of it, in a callback, names the statement; otherwise as goid"},
		{Name: "gostart", Type: "number", Doc: "address of the function that the goroutine began with; sym of it names the function; otherwise as goid"},
		{Name: "mark", Type: "string", Doc: "static mark at the place, \"provider:name\"; empty elsewhere"},
		{Name: "ret", Type: "any", Leave: true, Doc: "result of the function, and by debug information what it points to or is made of: c.ret.field"},
		{Name: "rets", Type: "any[]", Leave: true, Doc: "results of a function of Go: c.rets[0] is the first, which is c.ret"},
		{Name: "regs", Type: "Record<string, number>", Doc: "registers by name"},
		{Name: "stack", Type: "(frames: number) => Stack", Doc: "at most so many frames, innermost first; calls that the compiler inlined are frames, too"},
	}
	for i := range MaxArgs {
		list = append(list, Member{Name: argName(i), Type: "number", Doc: "argument by calling convention"})
	}
	for _, f := range contextFields {
		list = append(list, f.Member)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

func argName(i int) string { return "arg" + string(rune('0'+i)) }
