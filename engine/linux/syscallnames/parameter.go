package syscallnames

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"gotap/compile"
)

// parametersText has the parameters of system calls as C declares them, one call a line, from the format files of the
// kernel's own trace events (events/syscalls/sys_enter_*/format, Linux 6.18).
//
//go:embed parameters.txt
var parametersText string

// parameter is a parameter of a system call.
type parameter struct {
	name, ctype string
}

// parameters are the parameters by the name of the call.
var parameters = sync.OnceValue(func() map[string][]parameter {
	all := map[string][]parameter{}
	for line := range strings.Lines(parametersText) {
		name, list, _ := strings.Cut(strings.TrimSuffix(line, ")\n"), "(")
		for decl := range strings.SplitSeq(list, ", ") {
			at := strings.LastIndexAny(decl, " *") + 1
			all[name] = append(all[name], parameter{decl[at:], strings.TrimSpace(decl[:at])})
		}
	}
	return all
})

// Signature returns what a listing shows behind the name of a system call, or "" when its parameters are unknown.
func Signature(name string) string {
	var decls []string
	for _, a := range parameters()[name] {
		decl := a.ctype + a.name
		if !strings.HasSuffix(a.ctype, "*") {
			decl = a.ctype + " " + a.name
		}
		decls = append(decls, decl)
	}
	if decls == nil {
		return ""
	}
	return name + "(" + strings.Join(decls, ", ") + ")"
}

// Access returns the access to a named parameter of a system call. Members of what it points to cannot be named,
// because there is no debug information for the kernel's structures.
func Access(call string, path []string) (compile.Access, error) {
	args := parameters()[call]
	if args == nil {
		return compile.Access{}, fmt.Errorf("cannot compile for syscall:%s: the names of its arguments are not known; c.arg0 to c.arg5 are its arguments", call)
	}
	for i, a := range args {
		if a.name != path[0] {
			continue
		}
		if len(path) > 1 {
			return compile.Access{}, fmt.Errorf("cannot compile for syscall:%s: members of %s are not known; read memory with u32(c.args.%s + offset)",
				call, a.name, a.name)
		}
		return compile.Access{Base: compile.BaseArg, Value: int64(i), Ctype: a.ctype, Steps: truncation(a.ctype)}, nil
	}
	var names []string
	for _, a := range args {
		names = append(names, a.name)
	}
	return compile.Access{}, fmt.Errorf("cannot compile for syscall:%s: it has no argument %s; there are %s", call, path[0], strings.Join(names, ", "))
}

// truncation returns the step that cuts a register to the width of a parameter's type. The upper halves of 32-bit
// parameters are undefined.
func truncation(ctype string) []compile.AccessStep {
	ctype = strings.TrimPrefix(ctype, "const ")
	if strings.Contains(ctype, "*") {
		return nil
	}
	switch ctype {
	case "int", "__s32", "pid_t", "clockid_t", "key_t", "key_serial_t", "mqd_t", "qid_t", "timer_t", "rwf_t":
		return []compile.AccessStep{{Op: compile.OpTruncate, Size: 4, Signed: true}}
	case "unsigned", "unsigned int", "__u32", "u32", "uid_t", "gid_t", "enum landlock_rule_type":
		return []compile.AccessStep{{Op: compile.OpTruncate, Size: 4}}
	case "umode_t":
		return []compile.AccessStep{{Op: compile.OpTruncate, Size: 2}}
	}
	return nil
}
