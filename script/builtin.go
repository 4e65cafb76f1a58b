package script

import (
	"strings"

	"github.com/dop251/goja"

	"gotap/compile/js"
	"gotap/script/load"
)

// Builtin is one name that host JavaScript finds beside the language's own. The table serves the machine, and whoever
// writes typings or help.
type Builtin struct {
	Name      string
	Signature string // as TypeScript declares it, without the name: "(code?: number): never"; overloads are lines of their own
	Doc       string
	// Program says what the name means in programs: "" nothing, "same" the same, or what to do instead.
	Program string

	call func(s *Script, call goja.FunctionCall) goja.Value
}

// Builtins lists the table.
func Builtins() []Builtin { return append([]Builtin(nil), builtins...) }

const (
	topLevel   = "make it at top level: const x = "
	inCallback = "do it in the exit callback"
	hostOnlyOK = "same"
)

// builtins are all of them, in the order of the manual.
var builtins []Builtin

func init() { builtins = makeBuiltins() }

func makeBuiltins() []Builtin {
	return []Builtin{
		{"probe", "(spec: string | string[], program: Program | Handlers): Probe",
			"places a probe; a function is the enter handler", "probes are made by the host: do it at top level or in a callback", (*Script).jsProbe},
		{"begin", "(fn: () => void): void", "runs before the first event is delivered", inCallback, (*Script).jsBegin},
		{"end", "(fn: () => void): void", "runs after the last event", inCallback, (*Script).jsEnd},
		{"every", "(interval: string | number, fn: () => void): Timer",
			`runs at an interval: "20ms", "1s", "100us", or milliseconds`, inCallback, (*Script).jsEvery},
		{"setTimeout", "(fn: (...args: any[]) => void, delay?: string | number, ...args: any[]): Timer",
			"runs once after a delay, as in browsers and Node", inCallback, (*Script).jsSetTimeout},
		{"setInterval", "(fn: (...args: any[]) => void, interval: string | number, ...args: any[]): Timer",
			"runs at an interval, as in browsers and Node: every(…)", inCallback, (*Script).jsSetInterval},
		{"clearTimeout", "(timer?: Timer): void", "ends a timer, as its stop() does", inCallback, (*Script).jsClearTimer},
		{"clearInterval", "(timer?: Timer): void", "ends a timer, as its stop() does", inCallback, (*Script).jsClearTimer},
		{"on", `<K extends keyof LifecycleEvents>(event: K, fn: (e: LifecycleEvents[K]) => void, options?: ` + hookOptionsType + " }): Hook",
			`runs when something happens to a traced process; after one that returns "stop" no other runs`, inCallback, (*Script).jsOn},
		{"facility", "(number: number, fn: (e: FacilityEvent) => void, options?: " + hookOptionsType + "; hold?: boolean }): Hook",
			`runs for "exit NUMBER" of definition files, from 4 to 255; with hold the thread waits for it; after one that returns "stop" the record is not printed`,
			inCallback, (*Script).jsFacility},
		{"stop", "(code?: number): never", "ends the run at once, with an exit status from 0 to 255; one that is called in an end callback counts instead of an earlier one", "use exit(…), and stop(…) in its callback", (*Script).jsStop},
		{"option", "(name: string, value?: string, help?: string): string\n" +
			"(name: string, value: number, help?: string): number\n(name: string, value: boolean, help?: string): boolean",
			"declares a script argument, given with --arg name=value", topLevel + "option(…)", (*Script).jsOption},

		{"count", aggregation("", "number", ""), "counts hits", topLevel + "count()", aggregateBuiltin("count")},
		{"sum", aggregation("", "number", ""), "adds values up", topLevel + "sum()", aggregateBuiltin("sum")},
		{"min", aggregation("", "number", "undefined"),
			"keeps the smallest value; with numbers, the smaller of them", "same", aggregateBuiltin("min")},
		{"max", aggregation("", "number", "undefined"),
			"keeps the largest value; with numbers, the larger of them", "same", aggregateBuiltin("max")},
		{"avg", aggregation("", "number", "undefined"), "averages values", topLevel + "avg()", aggregateBuiltin("avg")},
		{"stats", aggregation("", "Stats", "undefined"), "count, average and total", topLevel + "stats()", aggregateBuiltin("stats")},
		{"hist", strings.NewReplacer("KeyedOptions", "KeyedHistogramOptions", "AggregationOptions", "HistogramOptions").Replace(aggregation("", "Histogram", "undefined")),
			"a histogram by powers of two, or with bits by parts of them", topLevel + "hist()", aggregateBuiltin("hist")},
		{"lhist", aggregation("lo: number, hi: number, step: number, ", "Histogram", "undefined") + "\n" +
			"(name: string, lo: number, hi: number, step: number, options: KeyedOptions): KeyedAggregation<Histogram>\n" +
			"(name: string, lo: number, hi: number, step: number, options?: AggregationOptions): Aggregation<Histogram | undefined>",
			"a histogram of equal steps", topLevel + "lhist()", aggregateBuiltin("lhist")},
		{"tseries", strings.NewReplacer("KeyedOptions", "KeyedSeriesOptions", "AggregationOptions", "SeriesOptions").Replace(aggregation("", "Point[]", "")),
			"sums by interval, or minima, maxima or averages: the last 60 seconds when nothing else is said", topLevel + "tseries()", aggregateBuiltin("tseries")},
		{"map", "(name?: string | AggregationOptions, options?: AggregationOptions): TraceMap", "keys with a value each", topLevel + "map()", aggregateBuiltin("map")},
		{"perThread", "(init?: number): PerThread", "a variable each thread has its own of", topLevel + "perThread()", (*Script).jsPerThread},
		{"speculation", "(name?: string | TrailOptions, options?: TrailOptions): Trail",
			"a trail for each thread: what it logs waits until the program commits or discards it", topLevel + "speculation()", (*Script).jsSpeculation},
		{"recorder", "(name?: string | RecorderOptions, options?: RecorderOptions): Recorder",
			"a flight recorder: keeps the last events until they are asked for", topLevel + "recorder({ events: 100 })", (*Script).jsRecorder},

		{"print", "(...values: any[]): void", "writes values on a line", "same", (*Script).jsPrint},
		{"log", "(...values: any[]): void", "writes values on a line", "same", (*Script).jsPrint},
		{"printf", "(format: string, ...values: any[]): void", "writes values by a format, without an end of line", "same", (*Script).jsPrintf},
		{"test", "(name: string, fn: () => void): void", "expectations that gotap test checks when everything recorded has been played; other runs do not call it",
			inCallback, (*Script).jsTest},
		{"expect", "(value: any): Expectation", "what gotap test expects of a value; other runs check nothing", inCallback, (*Script).jsExpect},
		{"printed", "(): string", "in gotap test, what the script has printed so far; empty elsewhere", inCallback, (*Script).jsPrinted},
		{"hex", "(value: Int, digits?: number): string", "a number in hexadecimal, with 0x", "same", (*Script).jsHex},
		{"sym", "(pid: number, address: Int): string\n(address: Int): string", "names an address: func+0x10 (module), or (module:0x1136) where it has no name; in an exit callback the pid can be left out",
			inCallback, (*Script).jsSym},
		{"callsym", "(pid: number, address: Int): string\n(address: Int): string", "names the call that returns to an address, as c.caller is one: with the line of the call, where sym has that of the instruction behind it",
			inCallback, (*Script).jsCallSym},
		{"memory", "(pid: number, address: Int, size: number): Uint8Array\n(address: Int, size: number): Uint8Array",
			"reads the target's memory, as far as it can be read; in an exit callback the pid can be left out", "use str, bytes, u32 …", (*Script).jsMemory},
		{"hexdump", "(bytes: Bytes | string, base?: Int): string", "bytes as hexdump -C shows them", inCallback, (*Script).jsHexdump},
		{"readFile", "(path: string, limit?: number): string | undefined",
			"the text of a file of this machine, such as one of /proc, at most limit bytes (1 MB); undefined when it cannot be read", inCallback, (*Script).jsReadFile},
		{"readLink", "(path: string): string | undefined", "where a symbolic link points; undefined when there is none", inCallback, (*Script).jsReadLink},
		{"readDir", "(path: string): string[] | undefined", "the names in a folder, sorted; undefined when it cannot be read", inCallback, (*Script).jsReadDir},
		{"env", "(name: string): string | undefined", "a variable of gotap's environment", "const x = env(…) at top level folds into programs", (*Script).jsEnv},
		{"now", "(): number", "monotonic nanoseconds now, the clock of c.time", "c.time is the time of the hit", (*Script).jsNow},
		{"columns", "(text?: string): number", "how many columns of a terminal a text takes; of none, the width of the terminal that output goes to, 0 when it is none", inCallback, (*Script).jsColumns},
		{"abs", "(value: Int): Int", "the absolute value", "same", (*Script).jsAbs},
	}
}

// aggregation is the signature of what makes aggregations of values of a type. empty is what a keyless one has before the
// first hit, when that is another: "undefined".
func aggregation(lead, value, empty string) string {
	keyless := value
	if empty != "" {
		keyless += " | " + empty
	}
	return "(" + lead + "name: string, options: KeyedOptions): KeyedAggregation<" + value + ">\n" +
		"(" + lead + "options: KeyedOptions): KeyedAggregation<" + value + ">\n" +
		"(" + lead + "name?: string | AggregationOptions, options?: AggregationOptions): Aggregation<" + keyless + ">"
}

// hostOnly is what names of the host are in programs: the builtins above that are not in both, and JavaScript's own.
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

// install defines the globals.
func (s *Script) install() {
	for _, b := range builtins {
		s.define(b.Name, b.call)
	}
	for _, b := range js.Builtins() {
		name := b.Name
		if strings.Contains(name, ".") || s.vm.Get(name) != nil || name == "exit" {
			continue
		}
		s.define(name, func(s *Script, _ goja.FunctionCall) goja.Value {
			s.throwf("%s() belongs in a program: enter, post, leave or fault of a probe", name)
			return nil
		})
	}
	s.define("exit", func(s *Script, _ goja.FunctionCall) goja.Value {
		s.throwf("exit() belongs in a program; the host ends the run with stop(code)")
		return nil
	})
	s.installConsole()
	s.define("require", func(s *Script, call goja.FunctionCall) goja.Value { return s.require(s.opts.Dir, call) })
	s.vm.Set(load.RegisterFunction, s.guarded("", s.jsModule))
	s.vm.Set("%reg", s.guarded("", s.register))
	s.vm.Set("%add", s.guarded("", s.addVar))
	s.vm.Set("%vars", s.vm.NewDynamicArray(&s.vars))
}

// define makes one global function.
func (s *Script) define(name string, f func(*Script, goja.FunctionCall) goja.Value) {
	fn := s.vm.ToValue(s.guarded(name, func(call goja.FunctionCall) goja.Value { return f(s, call) })).(*goja.Object)
	fn.DefineDataProperty("name", s.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	fn.DefineDataPropertySymbol(s.symBuiltin, s.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	s.vm.GlobalObject().DefineDataProperty(name, fn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// builtinOf is the name of the builtin a function value is, or "".
func (s *Script) builtinOf(fn *goja.Object) string {
	if v := fn.GetSymbol(s.symBuiltin); v != nil && !goja.IsUndefined(v) {
		return v.String()
	}
	return ""
}

// guarded keeps a mistake of ours from taking the whole process down: a Go panic that is none of the machine's own becomes
// an exception of the script.
func (s *Script) guarded(name string, f func(goja.FunctionCall) goja.Value) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) (result goja.Value) {
		defer func() {
			if r := recover(); r != nil {
				panic(s.asException(name, r))
			}
		}()
		if result = f(call); result == nil {
			return goja.Undefined()
		}
		return result
	}
}

// asException passes on what the machine itself throws, and wraps errors of Go.
func (s *Script) asException(name string, r any) any {
	if err, ok := r.(interface {
		error
		RuntimeError()
	}); ok {
		return s.vm.NewTypeError("internal error in %s: %v", name, err)
	}
	return r
}
