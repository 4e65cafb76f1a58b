package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layer is what the packages of one folder may import: folders of this module, and what is not of the standard library.
// A folder stands for all below it; its own packages may always import one another.
type layer struct{ folders, outside string }

const (
	goja   = "github.com/dop251/goja"
	system = "golang.org/x/sys/unix"
)

// layers is the direction of imports. What is not here is refused, so that a new folder or dependency has to be argued
// for in this table: front ends (script, compile) know nothing of processes, executors (engine, arch) nothing of
// JavaScript, and arch nothing of the host.
var layers = map[string]layer{
	"runtime": {"", system},                           // the arena is a memory file
	"compile": {"runtime", "golang.org/x/text/width"}, // how many columns a character takes below which carets stand
	"compile/js": {"compile runtime", // the syntax tree alone: the compiler runs no JavaScript
		goja + "/ast " + goja + "/file " + goja + "/token"},
	"script": {"compile runtime", system + " " + goja + " " + goja + "/ast " + goja + "/file " + goja + "/parser " + goja + "/token " +
		goja + "/unistring github.com/google/pprof/profile github.com/prometheus/client_golang/prometheus github.com/prometheus/common/expfmt charm.land/bubbletea/v2 github.com/charmbracelet/x/ansi go.opentelemetry.io/proto/otlp/common/v1 go.opentelemetry.io/proto/otlp/logs/v1 go.opentelemetry.io/proto/otlp/metrics/v1 go.opentelemetry.io/proto/otlp/resource/v1 go.opentelemetry.io/proto/otlp/trace/v1 google.golang.org/protobuf/proto google.golang.org/protobuf/encoding/protowire github.com/dlclark/regexp2/v2 github.com/evanw/esbuild/pkg/api github.com/go-sourcemap/sourcemap"},
	"arch":    {"", "golang.org/x/arch/arm/armasm golang.org/x/arch/arm64/arm64asm golang.org/x/arch/x86/x86asm"},
	"engine":  {"arch compile runtime", system + " golang.org/x/arch/x86/x86asm github.com/ianlancetaylor/demangle"},
	"samples": {},                                               // scripts
	"stdlib":  {},                                               // scripts
	".":       {"compile engine runtime script stdlib", system}, // the root package: a session of a script and the engine
	"cmd": {". arch compile engine runtime samples script stdlib", system +
		" github.com/spf13/cobra github.com/spf13/pflag github.com/fsnotify/fsnotify"}, // pflag is what cobra's flags are made of,
}

// sessions are the packages that know of sessions and probes; the parts of a traced thread do not.
const sessions = "engine/arming engine/backend engine/history engine/link engine/locate engine/probes engine/registry engine/remote engine/report " +
	"engine/syscallprobe engine/watchpoint"

// special is what single packages may not import although their layer may.
var special = map[string]string{
	"compile":              "compile/js compile/dpdf compile/ppdf",         // front ends use the compiler, it does not know them
	"runtime":              "runtime/facility",                             // facilities are built on hooks and records
	"runtime/native":       "runtime/facility",                             // programs alone
	"script/scope":         "compile runtime",                              // trees alone
	"script/watchdog":      "compile runtime",                              // time and memory alone
	"script/host":          "compile",                                      // records and functions alone
	"cmd/gotap/emulate":    "compile engine runtime samples script stdlib", // instruction sets alone
	"engine/remote":        "engine",                                       // back ends do not know one another
	"engine/probes":        "engine engine/remote",                         // nor does what they share know them
	"engine/syscallprobe":  "engine engine/remote engine/probes",
	"engine/watchpoint":    "engine engine/remote engine/probes",
	"engine/report":        "engine engine/remote engine/probes",
	"engine/image/module":  "engine",                                                      // files alone: no process is looked at
	"engine/image/symtab":  "engine engine/image/module compile runtime arch",             // symbols alone
	"engine/image/symname": "engine engine/image/symtab engine/image/module runtime arch", // names alone
	"engine/link":          "engine/image engine/linux engine/remote arch",                // what a session offers, no more
	"engine/image/unwind":  "engine compile runtime",                                      // tables and registers
	// Debug information, from below: entries, then types and functions, then locations and lines, then calling
	// conventions.
	"engine/image/debuginfo/entry":    "engine compile runtime engine/image/debuginfo",
	"engine/image/debuginfo/ctype":    debuginfo("function location lines callconv"),
	"engine/image/debuginfo/function": debuginfo("ctype location lines callconv"),
	"engine/image/debuginfo/location": debuginfo("ctype lines callconv"),
	"engine/image/debuginfo/lines":    debuginfo("ctype location callconv"),
	"engine/image/debuginfo/callconv": debuginfo("lines"),
	"engine/crashsafe/fallback":       "engine compile runtime",                                                                 // bytes for the target
	"engine/crashsafe":                "engine compile runtime " + sessions,                                                     // what survives a kill of the session
	"engine/affinity":                 "engine engine/tracee compile runtime " + sessions,                                       // CPUs
	"engine/tracee":                   "engine compile runtime " + sessions,                                                     // one thread
	"engine/inject":                   "engine compile runtime " + sessions,                                                     // one thread
	"engine/inline":                   "engine compile runtime " + sessions,                                                     // memory of a process
	"engine/throttle":                 "engine engine/linux/procfs engine/remote engine/tracee compile",                         // time and counts
	"engine/turns":                    "engine compile runtime",                                                                 // numbers
	"engine/tracingthread":            "engine engine/tracee engine/threadstate compile runtime " + sessions,                    // a thread of this program
	"engine/space":                    "engine engine/probes engine/remote compile runtime",                                     // memory of a process
	"engine/trampoline":               "engine engine/probes engine/remote compile",                                             // an executor
	"engine/stepping":                 "engine engine/probes engine/remote compile runtime",                                     // one thread
	"engine/sampling":                 "engine engine/probes engine/remote compile",                                             // threads
	"engine/view":                     "engine engine/probes engine/remote compile",                                             // one thread
	"engine/view/stopped":             "engine engine/probes engine/remote engine/space engine/tracee engine/emulation compile", // both back ends use it
	"engine/command":                  "engine engine/tracee engine/probes engine/registry compile",                             // a child of this process
	"engine/emulation":                "engine compile runtime " + sessions,                                                     // one thread
	"engine/sigqueue":                 "engine compile runtime " + sessions,                                                     // one thread
	"engine/remote/control":           "engine compile runtime",                                                                 // stops, whatever they mean
	"engine/remote/memory":            "engine compile runtime",                                                                 // bytes
	"engine/remote/register":          "engine compile runtime",                                                                 // one thread
	"engine/remote/rsp":               "engine compile runtime",                                                                 // a protocol
	"engine/remote/symbollist":        "engine engine/remote compile runtime",                                                   // a file's contents
	"runtime/native/amd64/asm":        "runtime",                                                                                // instructions alone
}

// debuginfo returns what a package below engine/image/debuginfo may not import: the engine, and the named neighbours.
func debuginfo(neighbours string) string {
	not := "engine"
	for _, n := range strings.Fields(neighbours) {
		not += " engine/image/debuginfo/" + n
	}
	return not
}

// ordered lists the packages of a folder with many, the lowest first: each may import those before it and no other of
// the folder.
var ordered = map[string][]string{
	"runtime": {"runtime/hook", "runtime/gate", "runtime/opcode", "runtime/opcode/generate", "runtime/value", "runtime/outcome", "runtime/key",
		"runtime/record", "runtime/object", "runtime/snapshot", "runtime/arena", "runtime/calls", "runtime/clock", "runtime/ranges", "runtime/element", "runtime", "runtime/facility",
		"runtime/native", "runtime/native/amd64/asm", "runtime/native/amd64/objdump", "runtime/native/amd64/span", "runtime/native/amd64/quotient", "runtime/native/amd64", "runtime/native/arm64"},
	"compile/js": {"compile/js/tree", "compile/js", "compile/js/report", "compile/js/state", "compile/js/operator", "compile/js/fetch",
		"compile/js/operand", "compile/js/builtin", "compile/js/lower", "compile/js/emit", "compile/js/compiler"},
	"script": {"script/watchdog", "script/load", "script/scope", "script/source", "script/output", "script/output/syslog", "script/output/picture",
		"script/output/metric", "script/output/openmetrics", "script/output/folded", "script/output/html", "script/output/live", "script/output/otlp", "script/output/top", "script/output/perfetto", "script/output/pprof", "script/output/format", "script/definition", "script/journal", "script/host", "script/jsvm", "script/limits", "script/shared", "script/value", "script/event", "script/timer",
		"script/environ", "script/console", "script/expect", "script/option", "script/module", "script/listen", "script/aggregate",
		"script/recorder", "script/variable", "script/fold", "script/probe", "script", "script/scripttest", "script/recording", "script/typings"},
}

// ownImports returns the imports of every file that is no test, for all systems, as folder → import path → file.
func ownImports(t *testing.T, root string) map[string]map[string]string {
	t.Helper()
	found := map[string]map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "testdata" || len(e.Name()) > 1 && e.Name()[0] == '.' && e.Name() != ".."):
			return filepath.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		if found[folder] == nil {
			found[folder] = map[string]string{}
		}
		for _, i := range f.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			found[folder][p] = path
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// layerOf returns the innermost entry of the table that a folder belongs to.
func layerOf(folder string) (string, layer, bool) {
	for name := folder; ; name = filepath.Dir(name) {
		if l, ok := layers[name]; ok && (name != "." || folder == ".") { // the root package has no folders below it
			return name, l, true
		}
		if name == "." {
			return "", layer{}, false
		}
	}
}

func within(folder, parent string) bool {
	return folder == parent || strings.HasPrefix(folder, parent+"/")
}

// allowed reports whether a folder may import a path.
func allowed(folder, path string) bool {
	name, l, ok := layerOf(folder)
	if !ok {
		return false
	}
	own, isOwn := strings.CutPrefix(path, "gotap/")
	if path == "gotap" {
		own, isOwn = ".", true
	}
	if !isOwn {
		standard := !strings.Contains(strings.Split(path, "/")[0], ".")
		return standard || strings.Contains(" "+l.outside+" ", " "+path+" ")
	}
	for _, not := range strings.Fields(special[folder]) {
		if own == not || not != "engine" && within(own, not) {
			return false
		}
	}
	for _, may := range append(strings.Fields(l.folders), strings.Split(name, "/")[0]) {
		if within(own, may) {
			return true
		}
	}
	return false
}

func TestImportsGoOneWay(t *testing.T) {
	imports := ownImports(t, filepath.Join("..", ".."))
	if len(imports) < 20 {
		t.Fatalf("only %d folders have Go files; the walk looks at the wrong place", len(imports))
	}
	for folder, paths := range imports {
		for path, file := range paths {
			if !allowed(folder, path) {
				t.Errorf("%s imports %s, which package %s may not", file, path, folder)
			}
		}
	}
	for name := range special {
		if imports[name] == nil {
			t.Errorf("the table speaks of %s, where no package is", name)
		}
	}
}

// TestImportsAreOrdered compares the imports inside the folders of ordered with their order.
func TestImportsAreOrdered(t *testing.T) {
	imports := ownImports(t, filepath.Join("..", ".."))
	for parent, order := range ordered {
		for folder, paths := range imports {
			if !within(folder, parent) {
				continue
			}
			at := slices.Index(order, folder)
			if at < 0 {
				t.Errorf("the order of %s lacks %s", parent, folder)
				continue
			}
			for path, file := range paths {
				own, isOwn := strings.CutPrefix(path, "gotap/")
				if isOwn && within(own, parent) && !slices.Contains(order[:at], own) {
					t.Errorf("%s imports %s, which does not come before %s", file, path, folder)
				}
			}
		}
	}
}

// TestImportsRefused makes sure that the table refuses anything at all.
func TestImportsRefused(t *testing.T) {
	for _, c := range []struct{ folder, path string }{
		{"runtime", "gotap/compile"}, {"compile", "gotap/script"}, {"compile", "gotap/compile/js"}, {"compile/js", "gotap/engine"},
		{"compile/js/lower", goja}, {"script", "gotap/engine"}, {"script/load", "gotap/engine/image/module"}, {"arch/x86", "gotap/engine"},
		{"arch/arm", system}, {"arch", "gotap/runtime"}, {"engine", goja}, {"engine", "gotap/script"}, {"engine/image/module", "gotap/engine"},
		{"engine/place", goja + "/ast"}, {"runtime/hook", goja}, {"stdlib", "gotap/script"}, {"cmd/gotap", goja},
		{".", "gotap/cmd/gotap"}, {".", "github.com/spf13/cobra"}, {"engine/link", "gotap"}, {"script", "gotap"}, {"engine/link", "gotap/script"},
		{"elsewhere", "gotap/runtime"}, {"runtimes", "gotap/runtime"},
	} {
		if allowed(c.folder, c.path) {
			t.Errorf("%s may import %s", c.folder, c.path)
		}
	}
}

// TestPtraceStaysInEngine: the package of raw trace requests is the engine's own; the command and the front ends go
// through sessions.
func TestPtraceStaysInEngine(t *testing.T) {
	for folder, paths := range ownImports(t, filepath.Join("..", "..")) {
		if file, ok := paths["gotap/engine/linux/ptrace"]; ok && !within(folder, "engine") {
			t.Errorf("%s makes trace requests itself", file)
		}
	}
}
