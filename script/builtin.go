package script

import (
	"strings"

	"github.com/dop251/goja"

	"gotap/compile/js"
	"gotap/compile/js/builtin"
	"gotap/script/console"
	"gotap/script/jsvm"
	"gotap/script/listen"
	"gotap/script/load"
)

// Builtin is one name that host JavaScript has beside the language's own. The table also serves typings and help.
type Builtin struct {
	Name      string
	Signature string // as TypeScript declares it, without the name: "(code?: number): never"; overloads are lines of their own
	Doc       string
	// Program is the meaning of the name in programs: "" none, "same" the same, or what to do instead.
	Program string

	native func(s *Script) jsvm.Native // nil for members of console
}

// Builtins lists the table.
func Builtins() []Builtin { return append([]Builtin(nil), builtins...) }

// Console lists the members of console.
func Console() []Builtin {
	var list []Builtin
	for _, m := range console.Methods() {
		list = append(list, Builtin{"console." + m.Name, m.Type, m.Doc, m.Program, nil})
	}
	return list
}

const (
	topLevel   = "make it at top level: const x = "
	inCallback = console.InCallback
)

// builtins are all of them, in the order of the manual.
var builtins []Builtin

func init() { builtins = makeBuiltins() }

func makeBuiltins() []Builtin {
	return []Builtin{
		{"probe", "(spec: string | string[], program: Program | Handlers): Probe",
			"places a probe; a function is the enter handler", "probes are made by the host: do it at top level or in a callback", func(s *Script) jsvm.Native { return s.probes.Declare }},
		{"sample", "(period: string | number, program: Program<Context>): Probe\n(period: string | number, options: SampleOptions, program: Program<Context>): Probe",
			`runs a program for threads of the targets, wherever they are: each time a thread has run for the period, or with { on: "wall" } for all threads in each period`,
			"samples are declared by the host: do it at top level or in a callback", func(s *Script) jsvm.Native { return s.probes.Sample }},
		{"begin", "(fn: () => void): void", "runs before the first event is delivered", inCallback, func(s *Script) jsvm.Native { return s.jsBegin }},
		{"end", "(fn: () => void): void", "runs after the last event", inCallback, func(s *Script) jsvm.Native { return s.jsEnd }},
		{"every", "(interval: string | number, fn: () => void): Timer",
			`runs at an interval: "20ms", "1s", "100us", or milliseconds`, inCallback, func(s *Script) jsvm.Native { return s.lib.timers.Every }},
		{"setTimeout", "(fn: (...args: any[]) => void, delay?: string | number, ...args: any[]): Timer",
			"runs once after a delay, as in browsers and Node", inCallback, func(s *Script) jsvm.Native { return s.lib.timers.SetTimeout }},
		{"setInterval", "(fn: (...args: any[]) => void, interval: string | number, ...args: any[]): Timer",
			"runs at an interval, as in browsers and Node: every(…)", inCallback, func(s *Script) jsvm.Native { return s.lib.timers.SetInterval }},
		{"clearTimeout", "(timer?: Timer): void", "ends a timer, as its stop() does", inCallback, func(s *Script) jsvm.Native { return s.lib.timers.Clear }},
		{"clearInterval", "(timer?: Timer): void", "ends a timer, as its stop() does", inCallback, func(s *Script) jsvm.Native { return s.lib.timers.Clear }},
		{"on", `<K extends keyof LifecycleEvents>(event: K, fn: (e: LifecycleEvents[K]) => void, options?: ` + listen.OptionsType + " }): Hook",
			`runs when something happens to a traced process; after one that returns "stop" no other runs`, inCallback, func(s *Script) jsvm.Native { return s.lib.listeners.On }},
		{"facility", "(number: number, fn: (e: FacilityEvent) => void, options?: " + listen.OptionsType + "; hold?: boolean }): Hook",
			`runs for "exit NUMBER" of definition files, from 4 to 255; with hold the thread waits for it; after one that returns "stop" the record is not printed`,
			inCallback, func(s *Script) jsvm.Native { return s.lib.listeners.Facility }},
		{"stop", "(code?: number): never", "ends the run at once, with an exit status from 0 to 255; one that is called in an end callback counts instead of an earlier one", "use exit(…), and stop(…) in its callback", func(s *Script) jsvm.Native { return s.jsStop }},
		{"follow", `(which: "none" | "threads" | "children"): void`,
			"which threads and processes the script wants traced besides the target's first; --follow overrides it", `call it at top level: follow("children")`,
			func(s *Script) jsvm.Native { return s.jsFollow }},
		{"option", "(name: string, value?: string, help?: string): string\n" +
			"(name: string, value: number, help?: string): number\n(name: string, value: boolean, help?: string): boolean",
			"declares a script argument, given with --arg name=value", topLevel + "option(…)", func(s *Script) jsvm.Native { return s.lib.options.Declare }},

		{"count", aggregation("", "number", ""), "counts hits", topLevel + "count()", aggregateBuiltin("count")},
		{"sum", aggregation("", "number", ""), "adds values up", topLevel + "sum()", aggregateBuiltin("sum")},
		{"min", aggregation("", "number", "undefined"),
			"keeps the smallest value; with numbers, the smaller of them", "same", aggregateBuiltin("min")},
		{"max", aggregation("", "number", "undefined"),
			"keeps the largest value; with numbers, the larger of them", "same", aggregateBuiltin("max")},
		{"avg", aggregation("", "number", "undefined"), "averages values", topLevel + "avg()", aggregateBuiltin("avg")},
		{"stats", aggregation("", "Stats", "undefined"), "count, average, total, deviation, extremes and quantiles", topLevel + "stats()", aggregateBuiltin("stats")},
		{"hist", strings.NewReplacer("KeyedOptions", "KeyedHistogramOptions", "AggregationOptions", "HistogramOptions").Replace(aggregation("", "Histogram", "undefined")),
			"a histogram by powers of two, or with bits by parts of them", topLevel + "hist()", aggregateBuiltin("hist")},
		{"lhist", aggregation("lo: number, hi: number, step: number, ", "Histogram", "undefined") + "\n" +
			"(name: string, lo: number, hi: number, step: number, options: KeyedOptions): KeyedAggregation<Histogram>\n" +
			"(name: string, lo: number, hi: number, step: number, options?: AggregationOptions): Aggregation<Histogram | undefined>",
			"a histogram of equal steps", topLevel + "lhist()", aggregateBuiltin("lhist")},
		{"tseries", strings.NewReplacer("KeyedOptions", "KeyedSeriesOptions", "AggregationOptions", "SeriesOptions").Replace(aggregation("", "Point[]", "")),
			"sums by interval, or minima, maxima or averages: the last 60 seconds when nothing else is said", topLevel + "tseries()", aggregateBuiltin("tseries")},
		{"map", "(name?: string | AggregationOptions, options?: AggregationOptions): TraceMap", "keys with a value each", topLevel + "map()", aggregateBuiltin("map")},
		{"perThread", "(init?: number): PerThread", "a variable each thread has its own of", topLevel + "perThread()", func(s *Script) jsvm.Native { return s.lib.aggregates.PerThread }},
		{"speculation", "(name?: string | TrailOptions, options?: TrailOptions): Trail",
			"a trail for each thread: what it logs waits until the program commits or discards it", topLevel + "speculation()", func(s *Script) jsvm.Native { return s.lib.recorders.Speculation }},
		{"recorder", "(name?: string | RecorderOptions, options?: RecorderOptions): Recorder",
			"a flight recorder: keeps the last events until they are asked for", topLevel + "recorder({ events: 100 })", func(s *Script) jsvm.Native { return s.lib.recorders.Recorder }},

		{"print", "(...values: any[]): void", "writes values on a line", "same", func(s *Script) jsvm.Native { return s.lib.console.Print }},
		{"log", "(...values: any[]): void", "writes values on a line", "same", func(s *Script) jsvm.Native { return s.lib.console.Print }},
		{"printf", "(format: string, ...values: any[]): void", "writes values by a format, without an end of line", "same", func(s *Script) jsvm.Native { return s.lib.console.Printf }},
		{"report", "(record: TableRecord | EventRecord | Event | null, text?: string): void",
			"writes a text, or where records are written the record: { name, columns, rows } is a table, { name, data } an event, and so is what an exit callback got; null and undefined leave one out",
			"exit({…}) with the fields, and report them in its callback", func(s *Script) jsvm.Native { return s.lib.console.Report }},
		{"test", "(name: string, fn: () => void): void", "expectations that gotap test checks when everything recorded has been played; other runs do not call it",
			inCallback, func(s *Script) jsvm.Native { return s.lib.expect.Test }},
		{"expect", "(value: any): Expectation", "what gotap test expects of a value; other runs check nothing", inCallback, func(s *Script) jsvm.Native { return s.lib.expect.Expect }},
		{"printed", "(): string", "in gotap test, what the script has printed so far; empty elsewhere", inCallback, func(s *Script) jsvm.Native { return s.lib.expect.Printed }},
		{"hex", "(value: Int, digits?: number): string", "a number in hexadecimal, with 0x", "same", func(s *Script) jsvm.Native { return s.lib.console.Hex }},
		{"sym", "(pid: number, address: Int): string\n(address: Int): string", "names an address: func+0x10 (module), or (module:0x1136) where it has no name; in an exit callback the pid can be left out",
			inCallback, func(s *Script) jsvm.Native { return s.values.Sym }},
		{"callsym", "(pid: number, address: Int): string\n(address: Int): string", "names the call that returns to an address, as c.caller is one: with the line of the call, where sym has that of the instruction behind it",
			inCallback, func(s *Script) jsvm.Native { return s.values.CallSym }},
		{"memory", "(pid: number, address: Int, size: number): Uint8Array\n(address: Int, size: number): Uint8Array",
			"reads the target's memory, as far as it can be read; in an exit callback the pid can be left out", "use str, bytes, u32 …", func(s *Script) jsvm.Native { return s.lib.environ.ReadMemory }},
		{"hexdump", "(bytes: Bytes | string, base?: Int): string", "bytes as hexdump -C shows them", inCallback, func(s *Script) jsvm.Native { return s.lib.console.Hexdump }},
		{"readFile", "(path: string, limit?: number): string | undefined",
			"the text of a file of this machine, such as one of /proc, at most limit bytes (1 MB); undefined when it cannot be read", inCallback, func(s *Script) jsvm.Native { return s.lib.environ.ReadFile }},
		{"readLink", "(path: string): string | undefined", "where a symbolic link points; undefined when there is none", inCallback, func(s *Script) jsvm.Native { return s.lib.environ.ReadLink }},
		{"readDir", "(path: string): string[] | undefined", "the names in a folder, sorted; undefined when it cannot be read", inCallback, func(s *Script) jsvm.Native { return s.lib.environ.ReadDir }},
		{"env", "(name: string): string | undefined", "a variable of gotap's environment", "const x = env(…) at top level folds into programs", func(s *Script) jsvm.Native { return s.lib.environ.Env }},
		{"now", "(): number", "monotonic nanoseconds now, the clock of c.time", "c.time is the time of the hit", func(s *Script) jsvm.Native { return s.lib.environ.Now }},
		{"columns", "(text?: string): number", "how many columns of a terminal a text takes; of none, the width of the terminal that output goes to, 0 when it is none", inCallback, func(s *Script) jsvm.Native { return s.lib.environ.Columns }},
		{"abs", "(value: Int): Int", "the absolute value", "same", func(s *Script) jsvm.Native { return s.lib.console.Abs }},
	}
}

// aggregation returns the signature of a function that makes aggregations with values of a type. empty is the type of a
// keyless aggregation before the first hit, if it differs: "undefined".
func aggregation(lead, value, empty string) string {
	keyless := value
	if empty != "" {
		keyless += " | " + empty
	}
	return "(" + lead + "name: string, options: KeyedOptions): KeyedAggregation<" + value + ">\n" +
		"(" + lead + "options: KeyedOptions): KeyedAggregation<" + value + ">\n" +
		"(" + lead + "name?: string | AggregationOptions, options?: AggregationOptions): Aggregation<" + keyless + ">"
}

// hostOnly maps names that only the host has to what programs write instead: builtins above, and JavaScript's own
// names.
var hostOnly = map[string]js.Binding{}

func init() {
	for _, b := range builtins {
		if b.Program != "same" {
			hostOnly[b.Name] = js.Binding{Kind: js.BindUnusable, Reason: "a function of the host", Hint: b.Program}
		}
	}
	for name, hint := range map[string]string{
		"JSON":       "exit({…}) with the fields, and use JSON in its callback",
		"Date":       "c.time is monotonic nanoseconds; use Date in a callback",
		"parseInt":   "exit({…}) with the text, and parse it in the callback",
		"parseFloat": "exit({…}) with the text, and parse it in the callback",
		"Array":      "use a map(), or separate variables",
		"Object":     "use separate variables",
		"Set":        "use a map()",
		"Map":        "use a map()",
		"RegExp":     "compare with === or startsWith",
		"Promise":    "programs run to their end at once",
		"require":    "require modules at top level",
		"globalThis": "name the variable itself",
	} {
		hostOnly[name] = js.Binding{Kind: js.BindUnusable, Reason: "is host JavaScript", Hint: hint}
	}
}

// aggregateBuiltin returns the built-in function that declares a kind of aggregation.
func aggregateBuiltin(name string) func(*Script) jsvm.Native {
	return func(s *Script) jsvm.Native { return s.lib.aggregates.Builtin(name) }
}

// hostInstead has the names of programs that callbacks are most often meant to call, with what a callback does instead.
var hostInstead = map[string]string{
	"exit": "the host ends the run with stop(code)",
	"emit": "the host writes an event with report({ name: \"…\", data: { … } })",
}

// install defines the globals. Those of programs exist on the host to say that they belong in a program.
func (s *Script) install() {
	m := s.machine
	for _, b := range builtins {
		m.Define(b.Name, b.native(s))
	}
	for _, b := range builtin.All() {
		if strings.Contains(b.Name, ".") || m.VM.Get(b.Name) != nil || hostInstead[b.Name] != "" {
			continue
		}
		m.Define(b.Name, func(goja.FunctionCall) goja.Value {
			m.Throwf("%s() belongs in a program: enter, post, leave or fault of a probe", b.Name)
			return nil
		})
	}
	for name, instead := range hostInstead {
		m.Define(name, func(goja.FunctionCall) goja.Value {
			m.Throwf("%s() belongs in a program; %s", name, instead)
			return nil
		})
	}
	m.Define("require", func(call goja.FunctionCall) goja.Value { return s.lib.modules.Require(s.opts.Dir, call) })
	m.VM.Set(load.RegisterFunction, m.Guarded("", s.lib.modules.Joined))
	m.VM.Set("%reg", m.Guarded("", s.lib.fold.Register))
	m.VM.Set("%add", m.Guarded("", s.variables.Change))
	m.VM.Set("%vars", m.VM.NewDynamicArray(s.variables))
}
