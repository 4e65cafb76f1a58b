package listen

// Kind is a kind of event of a process that on() listens to. The table also serves typings and help.
type Kind struct {
	Name   string
	Fields string // of its event, besides pid, tid and time, as TypeScript declares members
	Doc    string
	Host   bool // it happens in gotap, and has time, but no process
}

// Error is the kind of errors of the script.
const Error = "error"

// Kinds lists the table.
func Kinds() []Kind { return append([]Kind(nil), kinds...) }

var kinds = []Kind{
	{"exec", "path: string", "a process has started to run another program", false},
	{"exit", "status: number; signal: number; core: boolean", "a process has ended: with a status, or by a signal when that is not 0; core: the kernel has written a core", false},
	{"fork", "child: number", "a process has made another, by fork, vfork or clone", false},
	{"thread", "child: number", "a process has started a thread", false},
	{"threadend", "status: number; signal: number; core: boolean", "a thread other than the first of its process has ended: with a status, or by a signal when that is not 0", false},
	{"signal", "signal: number; pc?: Int; stack?: Stack; code?: number; sender?: number; uid?: number; status?: number; " +
		"utime?: Int; stime?: Int; address?: Int; value?: Int; timer?: number; overrun?: number; band?: Int; restart?: number",
		"a thread gets a signal; pc is the instruction that it was at, stack its calls, where they are known; restart is the code with which the kernel ended a system call that the signal interrupts, the others are the members of siginfo_t that the signal has", false},
	{"module", "path: string", "a process has loaded a library", false},
	{"key", "key: string", `a key was pressed on gotap's terminal: a character, or a name such as "up", "enter", "ctrl-a"; not where COMMAND has the terminal`, true},
	{Error, "text: string; where: string; program: string; count: number",
		"a program has ended early at its place, count times since the last event of it, or a callback has thrown; then program is empty", true},
}

var names = kindNames()

func kindNames() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return names
}
