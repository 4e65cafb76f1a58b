package typings

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/compile/js/builtin"
	"gotap/runtime/record"
	"gotap/runtime/value"
	"gotap/script"
	loading "gotap/script/load"
	"gotap/script/output"
)

// host is a loaded script with what it prints.
type host struct {
	*script.Script
	sink output.Sink
	out  bytes.Buffer
	list diag.List
}

func load(t *testing.T, text string) *host {
	t.Helper()
	h := &host{}
	h.sink = output.NewText(&h.out, &h.out)
	h.Script, h.list = script.Load(script.Options{Name: "test.js", Text: text, Unsafe: true, Output: h.sink})
	if h.Script != nil {
		t.Cleanup(h.Close)
	}
	return h
}

// printed is what the script has printed so far.
func (h *host) printed() string {
	h.sink.Flush()
	return h.out.String()
}

// words is what a script that prints words prints.
func words(t *testing.T, text string) []string {
	t.Helper()
	h := load(t, text)
	if h.list.HasErrors() {
		t.Fatalf("%s\n%v", text, h.list)
	}
	return strings.Fields(h.printed())
}

// names is a script's function that prints the properties of an object and of what it inherits, but for Object's own.
const names = `function names(o) {
  let all = [];
  for (; o && o !== Object.prototype; o = Object.getPrototypeOf(o)) all.push(...Object.getOwnPropertyNames(o));
  console.log(all.join(" "));
}
`

// The globals of a loaded script are those declared, JavaScript's own apart.
func TestGlobalsOfTheHost(t *testing.T) {
	d := read(Text())
	vm := goja.New()
	plain := vm.GlobalObject().GetOwnPropertyNames()
	var host []string
	for _, name := range words(t, names+"names(globalThis)") {
		if !slices.Contains(plain, name) && name[0] != '%' && name != "names" && name != loading.RegisterFunction { // the last is for joined modules alone
			host = append(host, name)
		}
	}
	known := slices.Clone(host)
	for _, b := range builtin.All() {
		space, _, _ := strings.Cut(b.Name, ".")
		known = append(known, space)
	}
	for name := range d.functions {
		if space, _, _ := strings.Cut(name, "."); !slices.Contains(known, space) {
			t.Errorf("%s is declared, and a script does not find it", name)
		}
	}
	for _, name := range host {
		_, space := d.functions[name+".log"]
		if _, ok := d.functions[name]; !ok && !space {
			t.Errorf("a script finds %s, which is not declared", name)
		}
	}
}

// What objects of the host have is what is declared of them.
func TestObjectsOfTheHost(t *testing.T) {
	d := read(Text())
	for object, face := range map[string]string{
		`count("n")`:            "Aggregation",
		`map("m")`:              "TraceMap",
		`perThread(0)`:          "PerThread",
		`probe("f", c => {})`:   "Probe",
		`every("1s", () => {})`: "Timer",
		`speculation()`:         "Trail",
		`recorder()`:            "Recorder",
		`recorder().dump()`:     "RecorderDump",
		`expect(1)`:             "Expectation",
		`expect(1).not`:         "Matchers",
		`(() => { const s = stats(); s.add(1); return s.get(); })()`:           "Stats",
		`(() => { const h = hist(); h.add(1); return h.get(); })()`:            "Histogram",
		`(() => { const h = hist(); h.add(5); return h.get().buckets[0]; })()`: "Bucket",
	} {
		same(t, face, d.members(face), words(t, names+"names("+object+")"))
	}
	for _, name := range d.members("KeyedAggregation") {
		if !slices.Contains(d.members("Aggregation"), name) {
			t.Errorf("%s of a keyed aggregation is none of aggregations", name)
		}
	}
}

// Only what can be undefined before the first hit is declared so.
func TestEmptyAggregations(t *testing.T) {
	d := read(Text())
	for _, kind := range []string{"count", "sum", "min", "max", "avg", "stats", "hist", "lhist", "tseries"} {
		bounds := ""
		if kind == "lhist" {
			bounds = "0, 10, 1"
		}
		undefined := words(t, fmt.Sprintf("const a = %s(%s); print(a.get() === undefined, a.take() === undefined)", kind, bounds))
		want := fmt.Sprint([]string{"false", "false"})
		if slices.ContainsFunc(d.functions[kind], func(s string) bool { return strings.Contains(s, "| undefined>") }) {
			want = fmt.Sprint([]string{"true", "true"})
		}
		if fmt.Sprint(undefined) != want {
			t.Errorf("an empty %s is undefined: %v, declared %v", kind, undefined, want)
		}
	}
}

// Options that are declared are taken, with the values declared.
func TestOptionsAreTaken(t *testing.T) {
	d := read(Text())
	values := map[string]string{"keys": "1", "max": "10", "full": `"evict"`, "top": "3", "div": "2", "bits": "5"}
	for face, use := range map[string]string{"AggregationOptions": "count(%s)", "HistogramOptions": "hist(%s)", "PrintOptions": "count().print(%s)"} {
		members := d.members(face)
		if len(members) == 0 {
			t.Errorf("%s has no members", face)
		}
		for _, name := range members {
			text := fmt.Sprintf(use, "{ "+name+": "+values[name]+" }")
			if list := load(t, text).list; list.HasErrors() {
				t.Errorf("%s: %v", text, list)
			}
		}
		text := fmt.Sprintf(use, "{ zork: 1 }")
		if list := load(t, text).list; !list.HasErrors() {
			t.Errorf("%s is taken", text)
		}
	}
}

// Programs can assign to just those members of the context that are not readonly.
func TestAssignableMembers(t *testing.T) {
	d := read(Text())
	for _, m := range builtin.Members() {
		face, handler := "Context", "leave"
		switch {
		case m.Leave:
			face = "LeaveContext"
		case m.Fault:
			face, handler = "FaultContext", "fault"
		}
		list := load(t, fmt.Sprintf(`probe("f", { %s(c) { c.%s = 1; } })`, handler, m.Name)).list
		if readonly := d.interfaces[face][m.Name]; readonly != list.HasErrors() {
			t.Errorf("%s is readonly: %v; assigning to it gives %v", m.Name, readonly, list)
		}
	}
	if list := load(t, `probe("f", { enter(c) { c.regs.rax = 1; } })`).list; list.HasErrors() {
		t.Error(list)
	}
}

// An event has what is declared, and so has the stack in it.
func TestEventAndStack(t *testing.T) {
	d := read(Text())
	h := load(t, names+`probe("f", { enter(c) { exit({ s: c.stack(2) }); },
  exit(e) {
    console.log(["`+strings.Join(d.members("Event"), `", "`)+`"].filter(name => name in e).join(" "));
    names(e.s);
    names(e.s.frames[0]);
  } })`)
	if h.list.HasErrors() {
		t.Fatal(h.list)
	}
	format := record.Format{Kind: record.ItemEvent, Fields: []record.Field{{Name: "s", Kind: value.KindStack}}}
	h.Deliver(record.Record{Header: record.Header{Flags: record.FlagEvent, Probe: h.Probes()[0].ID, Pid: 1, Tid: 1},
		Items: []record.Item{{Format: &format, Values: []value.Value{{Kind: value.KindStack, Stack: []uint64{0x1000}}}}}})
	lines := strings.Split(strings.TrimSpace(h.printed()), "\n")
	if len(lines) != 3 {
		t.Fatalf("the callback printed %q", h.printed())
	}
	for i, face := range []string{"Event", "Stack", "Frame"} {
		same(t, face, d.members(face), strings.Fields(lines[i]))
	}
}
