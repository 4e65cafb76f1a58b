package place

import (
	"errors"
	"strings"
	"testing"
)

// Places as bpftrace, SystemTap, DTrace, Frida and debuggers write them are answered with how they are written here.
func TestForeignPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"uprobe:libc:malloc":                   "write MODULE:FUNCTION",
		"uretprobe:libc:malloc":                "leave handler",
		"tracepoint:syscalls:sys_enter_openat": "syscall:NAME",
		"self:signal:SIGUSR1":                  "SIGUSR1",
		"kprobe:vfs:read":                      "kernel",
		"kprobe:vfs_read":                      "kernel",
		"profile:hz":                           `sample("10ms"`,
		"profile:hz:99":                        `sample("10ms"`,
		"timer.profile":                        `sample("10ms"`,
		"timer.s(1)":                           "every(",
		"order:3":                              "order:+3",
		"./shop:12":                            "hexadecimal",
		"order:*":                              "order+*",
		"*0x1136":                              "MODULE:0x1136",
		"order if n > 2":                       "when",
		"order%return":                         "leave handler",
		"callees(order)":                       `callees("order")`,
		"exported(mem*)":                       `exported("mem*")`,
		"hardware:cache-misses:1000":           "counters",
		"software:faults:":                     "counters",
		"bench:add":                            "gotap bench",
		"BEGIN":                                "begin(() =>",
		"end":                                  "end(() =>",
		"interval:s:1":                         "every(",
		"pid$target:libc:malloc:entry":         "enter or a leave handler",
		"order@shop.c:10":                      "@shop.c:10,",
		"shop.c:10":                            "@shop.c:10,",
		`process("shop").function("order")`:    "write MODULE:FUNCTION",
		"printf@plt":                           "libc:printf",
		"{order":                               "as a list",
		"order,walk":                           "as a list",
		"libc!malloc":                          "write libc:malloc",
		"operator!=":                           "",
		"operator%":                            "",
		"std::map<int, long>::at":              "",
		"f(int, long)":                         "",
	} {
		spec, err := Parse(text)
		missing := NotFoundError{Spec: spec, What: NoFunction}
		switch {
		case spec.Kind == Line:
			missing.What = NoLine
		case spec.Module != "":
			missing.What = NoModule
		}
		hint := missing.Hint()
		if bad := (*SyntaxError)(nil); errors.As(err, &bad) {
			hint = bad.Hint()
		}
		if !strings.Contains(hint, want) || want == "" && hint != "" {
			t.Errorf("%s: hint %q, want %q", text, hint, want)
		}
	}
}
