package typings

import (
	"strings"

	"gotap/compile/js/builtin"
	"gotap/script"
)

// writeInterfaces writes the context, the handlers and the events of processes.
func writeInterfaces(b *strings.Builder) {
	title(b, "programs")
	writeContexts(b)
	writeHandlers(b)
	title(b, "events of processes")
	writeEvents(b)
}

// assignable maps the members of the context that a program can write to a text for their documentation.
var assignable = map[string]string{
	"ret":  "can be assigned to, with --unsafe",
	"regs": "each can be assigned to, with --unsafe",
}

// writeContexts writes the context, and the additional members for handlers of returns and faults.
func writeContexts(b *strings.Builder) {
	members := builtin.Members()
	write := func(head, doc string, has func(builtin.Member) bool) {
		comment(b, "", doc)
		b.WriteString("interface " + head + " {\n")
		for _, m := range members {
			if has(m) {
				writeMember(b, m)
			}
		}
		b.WriteString("}\n\n")
	}
	write("Context", "What a program knows of its hit.", func(m builtin.Member) bool { return !m.Leave && !m.Fault })
	write("LeaveContext extends Context", "The context in leave.", func(m builtin.Member) bool { return m.Leave })
	write("FaultContext extends Context", "The context in fault.", func(m builtin.Member) bool { return m.Fault })
}

func writeMember(b *strings.Builder, m builtin.Member) {
	doc := m.Doc
	if assignable[m.Name] != "" {
		doc += "; " + assignable[m.Name]
	}
	comment(b, "  ", doc)
	b.WriteString("  ")
	if m.Name != "ret" { // the registers are assignable one by one, not as a whole
		b.WriteString("readonly ")
	}
	b.WriteString(m.Name + ": " + m.Type + ";\n")
}

func writeHandlers(b *strings.Builder) {
	comment(b, "", "Handlers and options of a probe.")
	b.WriteString("interface Handlers {\n")
	for _, o := range script.ProbeOptions() {
		comment(b, "  ", o.Doc)
		b.WriteString("  " + o.Name + "?: " + o.Type + ";\n")
	}
	b.WriteString("}\n\n")
	comment(b, "", "Options of samples.")
	b.WriteString("interface SampleOptions {\n")
	for _, o := range script.SampleOptions() {
		comment(b, "  ", o.Doc)
		b.WriteString("  " + o.Name + "?: " + o.Type + ";\n")
	}
	b.WriteString("}\n")
}

func writeEvents(b *strings.Builder) {
	b.WriteString("interface ProcessEvent {\n  readonly pid: number;\n  readonly tid: number;\n" +
		"  /** monotonic nanoseconds */\n  readonly time: number;\n}\n\n")
	comment(b, "", "What on() listens to.")
	b.WriteString("interface LifecycleEvents {\n")
	for _, k := range script.EventKinds() {
		comment(b, "  ", k.Doc)
		of, fields := "ProcessEvent", ""
		if k.Host {
			of = "{ readonly time: number }"
		}
		if k.Fields != "" {
			fields = " & { " + k.Fields + " }"
		}
		b.WriteString("  " + k.Name + ": " + of + fields + ";\n")
	}
	b.WriteString("}\n\ntype LifecycleEvent = LifecycleEvents[keyof LifecycleEvents];\n")
}
