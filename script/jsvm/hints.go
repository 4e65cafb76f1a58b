package jsvm

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/compile/spelling"
)

// bigIntHint returns a hint for arithmetic that mixes numbers with BigInts: an integer of a program may be either,
// depending on its size.
func bigIntHint(obj *goja.Object) string {
	switch property(obj, "message") {
	case "Cannot mix BigInt and other types, use explicit conversions", "Cannot convert a BigInt value to a number":
		return "an integer of a program that is beyond 2^53 is a BigInt here: Number(x) rounds it, BigInt(x) + 1n is exact"
	}
	return ""
}

// widened returns the span of a whole name whose first character is at a place.
func widened(at diag.Span, name string) diag.Span {
	if at.Source != nil && strings.HasPrefix(at.Source.Text[at.Start:], name) {
		at.End = at.Start + len(name)
	}
	return at
}

// shortName is the length up to which a name resembles too many others for a hint.
const shortName = 3

// otherTracers are names of other tracers' scripts, with the form that gotap has instead.
var otherTracers = map[string]string{
	"Interceptor":    `Frida's Interceptor.attach is probe("libc:open", { enter(c) { … }, leave(c) { … } }) here`,
	"Process":        "Frida's Process is gotap/proc and gotap/module here; `gotap list` shows what can be probed",
	"Module":         `a function is named by text here, "libc:open"; gotap list 'libc:open*' shows what there is`,
	"Memory":         "in programs memory is read with u32(p), str(p) and so on, in callbacks with memory(pid, address, size)",
	"NativePointer":  "addresses are integers here, read with u32(p), str(p) and so on",
	"NativeFunction": "functions of the target cannot be called",
	"Stalker":        `every instruction of a function is "f+*" here: probe("libc:open+*", …)`,
	"DebugSymbol":    "sym(address) names an address",
	"send":           "emit({ … }) in a program sends a record to the probe's exit callback",
	"BEGIN":          "begin(() => { … })",
	"END":            "end(() => { … })",
	"ERROR":          `on("error", e => { … })`,
	"interval":       `every("1s", () => { … })`,
	"tick":           `every("1s", () => { … })`,
	"uretprobe":      `probe("libc:malloc", { leave(c) { … } })`,
	"usdt":           `probe("usdt:PROVIDER:NAME", c => { … })`,
	"tracepoint":     `probe("syscall:openat", c => { … }); the kernel's own code is not traced`,
	"kprobe":         `probe("syscall:openat", c => { … }); the kernel's own code is not traced`,
	"getopt":         `option("name", default, "help")`,
	"argv":           "option(name, default) reads --arg name=value",
	"$1":             "option(name, default) reads --arg name=value",
	"args":           "option(name, default) reads --arg name=value; arguments of a probed function are c.args in its program",
	"self":           "SIGUSR1 makes gotap print what there is, and the run goes on",
	"rpc":            "gotap ctl talks to a running session",
}

// otherHosts are names of browsers and Node, with the form that a script has instead.
var otherHosts = map[string]string{
	"setImmediate": "use setTimeout(fn)", "queueMicrotask": "use setTimeout(fn)",
	"process":         "option(name, default) reads --arg name=value, stop(status) ends the run",
	"fetch":           "a script has no network access: print, and let another program read that",
	"performance":     "now() is monotonic nanoseconds",
	"TextDecoder":     "String.fromCharCode(...bytes); exit({ s: str(p) }) sends text at once",
	"TextEncoder":     "text goes into records and maps as it is",
	"structuredClone": "JSON.parse(JSON.stringify(value)) copies plain data",
	"window":          "the global object is globalThis",
	"Buffer":          "bytes(p, n) of a program is a Uint8Array here",
}

// undefinedName is the machine's message for an undefined name.
var undefinedName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\S+) is not defined$`) })

// unknownName returns the undefined name that an error reports, or "".
func unknownName(obj *goja.Object) string {
	match := undefinedName().FindStringSubmatch(property(obj, "message"))
	if match == nil || property(obj, "name") != "ReferenceError" {
		return ""
	}
	return match[1]
}

// placeHint returns the hint for a name where probe wants a place; "" elsewhere.
func placeHint(name string, at diag.Span) string {
	if at.Source == nil || !strings.HasSuffix(strings.TrimRight(at.Source.Text[:at.Start], " ["), "probe(") {
		return ""
	}
	return fmt.Sprintf("a place is a text: probe(%q, …)", name)
}

// nameHint returns a hint for an undefined name: a built-in function, or a name of the file that was running, that
// looks like it.
func (m *Machine) nameHint(name string, stack []goja.StackFrame) string {
	if instead := cmp.Or(otherHosts[name], otherTracers[name]); instead != "" {
		return instead
	}
	if len(name) <= shortName {
		return ""
	}
	known := m.VM.GlobalObject().GetOwnPropertyNames()
	if f, _ := m.Files.Innermost(stack); f != nil {
		known = append(f.Info.Names(), known...)
	}
	return didYouMean(name, known)
}

func didYouMean(name string, known []string) string {
	if near := spelling.Nearest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// Members are the members of one kind of object that gotap gives to a script, for hints about misspelt ones.
type Members struct {
	Global string                   // the object's name, when it has one: "console"
	Names  func() []string          // its members
	Hint   func(name string) string // for a name that resembles none; may be nil
}

// AddMembers adds to what a misspelt member is compared with.
func (m *Machine) AddMembers(of Members) { m.members = append(m.members, of) }

// unknownMember is the machine's message for a call of a member that its object does not have.
var unknownMember = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Object has no member '(.+)'$`) })

// memberHint returns a hint for an unknown member. The machine does not say which object that is, so the members of all
// objects that gotap gives to a script are compared.
func (m *Machine) memberHint(obj *goja.Object, at diag.Span) string {
	match := unknownMember().FindStringSubmatch(property(obj, "message"))
	if match == nil {
		return ""
	}
	name := match[1]
	known := []string{"enable", "disable", "remove", "stop"} // of handles, which have no prototype
	for _, of := range m.members {
		if of.Global != "" && of.Hint != nil && at.Source != nil && strings.HasSuffix(at.Source.Text[:at.Start], of.Global+".") {
			return of.Hint(name)
		}
		known = append(known, of.Names()...)
	}
	for _, class := range []string{"Array", "String", "Map"} {
		known = append(known, m.classMembers(class)...)
	}
	if hint := didYouMean(name, known); hint != "" {
		return hint
	}
	for _, of := range m.members {
		if of.Global == "" && of.Hint != nil {
			if hint := of.Hint(name); hint != "" {
				return hint
			}
		}
	}
	return ""
}

// classMembers returns the members of a class of the language.
func (m *Machine) classMembers(class string) []string {
	if c, ok := m.VM.Get(class).(*goja.Object); ok {
		if proto, ok := c.Get("prototype").(*goja.Object); ok {
			return proto.GetOwnPropertyNames()
		}
	}
	return nil
}
