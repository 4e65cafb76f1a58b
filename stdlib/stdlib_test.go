package stdlib_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gotap/compile/diag"
	"gotap/script"
	"gotap/script/output"
	"gotap/stdlib"
)

// run loads a script and gives what it printed.
func run(t *testing.T, name, text string) (data, status string) {
	t.Helper()
	var out, errs bytes.Buffer
	sink := output.NewText(&out, &errs)
	s, list := script.Load(script.Options{Name: name, Text: text, Std: stdlib.Files(), Output: sink})
	if err := list.Err(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer s.Close()
	s.End()
	sink.Flush()
	return out.String(), errs.String()
}

// value is what an expression gives with a module's exports at hand.
func values(t *testing.T, module, expression string) []string {
	t.Helper()
	data, _ := run(t, module+".js", fmt.Sprintf("import * as m from %q;\nfor (const v of %s) console.log(String(v));", "gotap/"+module, expression))
	return strings.Split(strings.TrimSuffix(data, "\n"), "\n")
}

func modules(t *testing.T) []string {
	t.Helper()
	names, err := fs.Glob(stdlib.Files(), "*.js")
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Every module says what it is, shows its use, and names all it exports in its header.
func TestHeaders(t *testing.T) {
	for _, name := range modules(t) {
		text, err := fs.ReadFile(stdlib.Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		module := strings.TrimSuffix(name, ".js")
		header, _, _ := strings.Cut(string(text), "\n\n")
		if !strings.HasPrefix(header, "// gotap/"+module+": ") {
			t.Errorf("%s does not begin with its name and purpose", name)
		}
		if !strings.Contains(header, `from "gotap/`+module+`"`) {
			t.Errorf("the header of %s has no example", name)
		}
		for _, export := range strings.Fields(strings.Join(values(t, module, "[Object.keys(m).join(' ')]"), " ")) {
			if !strings.Contains(header, export+"(") {
				t.Errorf("the header of %s does not tell of %s", name, export)
			}
		}
	}
}

// Both ways to load a module give the same exports, and loading alone places no probe.
func TestImport(t *testing.T) {
	for _, name := range modules(t) {
		module := strings.TrimSuffix(name, ".js")
		text := fmt.Sprintf("import * as a from %q;\nconst b = require(%[1]q);\nfor (const k of Object.keys(a)) if (typeof a[k] !== typeof b[k]) console.log(k);", "gotap/"+module)
		s, list := script.Load(script.Options{Name: name, Text: text, Std: stdlib.Files()})
		if err := list.Err(); err != nil {
			t.Fatal(err)
		}
		if n := len(s.Probes()); n > 0 {
			t.Errorf("importing %s places %d probes", module, n)
		}
		s.Close()
		if data, _ := run(t, name, text); data != "" {
			t.Errorf("import and require of %s differ: %s", module, data)
		}
	}
}

// testdata/NAME.js checks module NAME; it prints what is wrong.
func TestScripts(t *testing.T) {
	names, err := filepath.Glob("testdata/*.js")
	if err != nil || len(names) == 0 {
		t.Fatal(err, len(names))
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			data, _ := run(t, name, check+string(text))
			if !strings.HasSuffix(data, "done\n") || strings.Count(data, "\n") != 1 {
				t.Errorf("%s", data)
			}
		})
	}
}

// check is put in front of those scripts, on one line so that theirs keep their numbers but for one.
const check = `function is(got, want) { if (String(got) !== String(want)) console.log("got " + got + ", want " + want); } ` +
	`function fails(f, text) { try { f(); } catch (e) { if (!String(e).includes(text)) console.log("fails with " + e); return; } console.log("does not fail: " + text); }` + "\n"

// Names of errors and signals are those of package unix.
func TestErrnoAndSignals(t *testing.T) {
	names := values(t, "errno", "Array.from({ length: 134 }, (_, k) => m.errno(-k))")
	for n, got := range names {
		want := unix.ErrnoName(unix.Errno(n))
		if alias := map[string]string{"EOPNOTSUPP": "ENOTSUP", "EUCLEAN": "EFSCORRUPTED"}[got]; alias != "" && want == alias {
			continue
		}
		if want == "" {
			want = strconv.Itoa(n)
		}
		if got != want {
			t.Errorf("errno(%d) is %s, not %s", n, got, want)
		}
	}
	for n, got := range values(t, "signals", "Array.from({ length: 32 }, (_, k) => m.signalName(k))") {
		want := unix.SignalName(unix.Signal(n))
		if want == "" {
			want = strconv.Itoa(n)
		}
		if got != want {
			t.Errorf("signalName(%d) is %s, not %s", n, got, want)
		}
	}
}

// Names of flags stand for the bits that the kernel's headers give them.
func TestFlags(t *testing.T) {
	for _, c := range []struct {
		expression string
		value      int
		want       string
	}{
		{"openFlags", unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_CLOEXEC, "O_RDWR|O_CREAT|O_EXCL|O_CLOEXEC"},
		{"openFlags", unix.O_WRONLY | unix.O_TRUNC | unix.O_APPEND | unix.O_NONBLOCK, "O_WRONLY|O_TRUNC|O_APPEND|O_NONBLOCK"},
		{"openFlags", unix.O_SYNC | unix.O_NOFOLLOW | unix.O_DIRECTORY, "O_RDONLY|O_SYNC|O_NOFOLLOW|O_DIRECTORY"},
		{"openFlags", unix.O_TMPFILE | unix.O_RDWR, "O_RDWR|O_TMPFILE"},
		{"openFlags", unix.O_PATH | unix.O_NOATIME | unix.O_DSYNC, "O_RDONLY|O_DSYNC|O_NOATIME|O_PATH"},
		{"accessMode", unix.R_OK | unix.X_OK, "R_OK|X_OK"},
		{"accessMode", unix.F_OK, "F_OK"},
		{"mmapProt", unix.PROT_READ | unix.PROT_EXEC, "PROT_READ|PROT_EXEC"},
		{"mmapProt", unix.PROT_NONE, "PROT_NONE"},
		{"mmapFlags", unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE, "MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE"},
		{"mmapFlags", unix.MAP_SHARED | unix.MAP_FIXED | unix.MAP_POPULATE, "MAP_SHARED|MAP_FIXED|MAP_POPULATE"},
		{"mmapFlags", unix.MAP_STACK | unix.MAP_HUGETLB | unix.MAP_PRIVATE, "MAP_PRIVATE|MAP_STACK|MAP_HUGETLB"},
		{"family", unix.AF_UNIX, "AF_UNIX"},
		{"family", unix.AF_INET6, "AF_INET6"},
		{"family", unix.AF_NETLINK, "AF_NETLINK"},
		{"family", unix.AF_VSOCK, "AF_VSOCK"},
		{"family", unix.AF_PACKET, "AF_PACKET"},
		{"socketType", unix.SOCK_DGRAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK, "SOCK_DGRAM|SOCK_CLOEXEC|SOCK_NONBLOCK"},
		{"messageFlags", unix.MSG_PEEK | unix.MSG_NOSIGNAL | unix.MSG_DONTWAIT, "MSG_PEEK|MSG_DONTWAIT|MSG_NOSIGNAL"},
		{"whence", 2, "SEEK_END"},
		{"futexOp", 0 | 128, "FUTEX_WAIT_PRIVATE"},
		{"cloneFlags", unix.CLONE_VM | unix.CLONE_THREAD, "CLONE_VM|CLONE_THREAD"},
		{"cloneFlags", int(unix.SIGCHLD), "SIGCHLD"},
		{"pollEvents", unix.POLLIN | unix.POLLHUP, "POLLIN|POLLHUP"},
		{"clockName", unix.CLOCK_BOOTTIME, "CLOCK_BOOTTIME"},
		{"madvice", unix.MADV_DONTNEED, "MADV_DONTNEED"},
		{"madvice", unix.MADV_HUGEPAGE, "MADV_HUGEPAGE"},
		{"atFlags", unix.AT_EMPTY_PATH | unix.AT_SYMLINK_NOFOLLOW, "AT_SYMLINK_NOFOLLOW|AT_EMPTY_PATH"},
		{"fcntlOp", unix.F_DUPFD_CLOEXEC, "F_DUPFD_CLOEXEC"},
		{"fcntlOp", unix.F_SETFL, "F_SETFL"},
		{"dirfd", unix.AT_FDCWD, "AT_FDCWD"},
		{"dirfd", 7, "7"},
		{"fileMode", 0o644, "0644"},
	} {
		if got := values(t, "syscalls", fmt.Sprintf("[m.%s(%d)]", c.expression, c.value)); got[0] != c.want {
			t.Errorf("%s(%#x) is %s, not %s", c.expression, c.value, got[0], c.want)
		}
	}
}

// Addresses read as package net writes them, zone and brackets apart.
func TestAddresses(t *testing.T) {
	for _, text := range []string{"::", "::1", "1::", "2001:db8::1", "2001:db8:0:1:1:1:1:1", "fe80::1:0:0:2", "1:0:0:2::3", "::ffff:10.1.2.3", "1:2:3:4:5:6:7:8", "0:1::"} {
		raw, _ := json.Marshal(slices.Collect(func(yield func(int) bool) {
			for _, b := range net.ParseIP(text).To16() {
				if !yield(int(b)) {
					return
				}
			}
		}))
		want := net.ParseIP(text).String()
		if ip := net.ParseIP(text); ip.To4() != nil {
			want = "::ffff:" + want
		}
		if got := values(t, "sockets", fmt.Sprintf("[m.ipv6(Uint8Array.from(%s))]", raw)); got[0] != want {
			t.Errorf("ipv6 of %s is %s, not %s", text, got[0], want)
		}
	}
}

// What /proc tells of this process is what the runtime knows of it.
func TestProc(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HERE", "1") // not in the environment of the start
	pid := os.Getpid()
	for expression, want := range map[string]string{
		"exe": exe, "cwd": wd, "command": strings.Join(os.Args, " "), "parent": strconv.Itoa(os.Getppid()), "user": strconv.Itoa(os.Getuid()),
	} {
		if got := values(t, "proc", fmt.Sprintf("[m.%s(%d), m.%[1]s(0x7ffffffe)]", expression, pid)); got[0] != want || got[1] != "undefined" {
			t.Errorf("%s is %v, not %s", expression, got, want)
		}
	}
	got := values(t, "proc", fmt.Sprintf("[m.threads(%d).includes(%[1]d), m.rss(%[1]d) > 1e6, m.cpuTime(%[1]d) >= 0, m.maps(%[1]d).some(x => x.path === %q), "+
		"m.threadName(%[1]d, %[1]d).length > 0, typeof m.environ(%[1]d).PATH, m.environ(%[1]d).HERE]", pid, exe))
	if strings.Join(got, " ") != "true true true true true string undefined" {
		t.Errorf("of this process: %v", got)
	}
}

// The groups of a process as container managers name them.
func TestContainer(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 4)
	for groups, want := range map[string]string{
		"0::/system.slice/docker-" + id + ".scope\n":                                        id,
		"0::/\n4:memory:/docker/" + id + "\n1:name=systemd:/\n":                             id,
		"0::/kubepods.slice/kubepods-pod0123_4567.slice/cri-containerd-" + id + ".scope\n":  id,
		"0::/machine.slice/libpod-" + id + ".scope/container\n":                             id,
		"0::/docker/" + strings.Repeat("f", 64) + "/kubelet/kubepods/pod1-2-3/" + id + "\n": id,
		"0::/lxc.payload.web/system.slice/nginx.service\n":                                  "web",
		"12:cpu:/lxc/web\n": "web",
		"0::/machine.slice/machine-debian.scope/payload\n": "debian",
		"0::/user.slice/user-1000.slice/session-2.scope\n": "",
		"0::/\n": "",
	} {
		if got := values(t, "proc", fmt.Sprintf("[m.containerOf(%q)]", groups)); got[0] != want {
			t.Errorf("%q: %s, not %s", groups, got[0], want)
		}
	}
	if got := values(t, "proc", fmt.Sprintf("[typeof m.container(%d), m.container(0x7ffffffe)]", os.Getpid())); got[0] != "string" || got[1] != "undefined" {
		t.Errorf("of this process and of none: %v", got)
	}
}

// A descriptor's path, flags, position and socket are those it was opened with.
func TestFiles(t *testing.T) {
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "f"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("12345"); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	pid, fd := os.Getpid(), f.Fd()
	got := values(t, "files", fmt.Sprintf("[m.fdPath(%d, %d), m.fdPosition(%[1]d, %[2]d), m.fdFlags(%[1]d, %[2]d) & 0o2003, m.descriptors(%[1]d)[%[2]d], m.fdPath(%[1]d, 99999), "+
		"m.atPath(%[1]d, -100, 'x'), m.atPath(%[1]d, -100, '/x')]", pid, fd))
	wd, _ := os.Getwd()
	want := []string{f.Name(), "5", strconv.Itoa(os.O_RDWR | os.O_APPEND), f.Name(), "fd 99999", filepath.Join(wd, "x"), "/x"}
	if !slices.Equal(got, want) {
		t.Errorf("files: %v, not %v", got, want)
	}
	socket := values(t, "sockets", fmt.Sprintf("[JSON.stringify(m.socketOf(%d, %d)), m.socketOf(%[1]d, %[3]d)]", pid, file.Fd(), fd))
	if socket[0] != fmt.Sprintf(`{"kind":"tcp","local":%q,"remote":"0.0.0.0:0","state":"LISTEN"}`, l.Addr()) || socket[1] != "undefined" {
		t.Errorf("sockets: %v", socket)
	}
}

// Options and function may stand in either order, and a function that is needed is asked for.
func TestOrderOfArguments(t *testing.T) {
	for module, names := range map[string][]string{"tls": {"tls", "handshakes"}, "sqlite": {"statements"}, "redis": {"commands"}, "postgres": {"queries"},
		"node": {"loop", "collections", "lookups", "opens"}, "python": {"calls", "returns", "imports", "collections", "exceptions"}} {
		for _, name := range names {
			for _, call := range []string{"({}, e => {})", "(e => {}, {})", "(e => {})"} {
				text := fmt.Sprintf("import { %s } from %q;\n%s%s;", name, "gotap/"+module, name, call)
				if _, list := script.Load(script.Options{Name: "t.js", Text: text, Std: stdlib.Files()}); list.Err() != nil {
					t.Errorf("%s%s: %v", name, call, list)
				}
			}
			text := fmt.Sprintf("import { %s } from %q;\n%s({}, 5);", name, "gotap/"+module, name)
			if _, list := script.Load(script.Options{Name: "t.js", Text: text, Std: stdlib.Files()}); list.Err() == nil ||
				!strings.HasPrefix(list[0].String(), fmt.Sprintf("t.js:2:1: error: TypeError: gotap/%s: %s takes a function, not 5", module, name)) {
				t.Errorf("%s: %v", name, list)
			}
		}
	}
}

// What a module of the library probes for a script, and is not there, is shown where the script asks for it.
func TestPlacesOfLibraryCalls(t *testing.T) {
	for _, call := range []string{`latency("nowhere");`, `calltree(["nowhere"]);`} {
		name, _, _ := strings.Cut(call, "(")
		s, list := script.Load(script.Options{Name: "s.js", Text: "import { " + name + " } from \"gotap/" + name + "\";\n" + call, Std: stdlib.Files()})
		if list.Err() != nil {
			t.Fatal(list)
		}
		for _, p := range s.Probes() {
			for _, spec := range p.Specs {
				if at := (diag.Diagnostic{Span: spec.Span}).String(); !strings.HasPrefix(at, "s.js:2:1: ") {
					t.Errorf("%s is at %s", call, at)
				}
			}
		}
		s.Close()
	}
}

// TestUnknownWords: debug information may know nothing of a library function's arguments or result, which are "?" then.
func TestUnknownWords(t *testing.T) {
	got := values(t, "prototypes", `[m.callOf("strchr", ["?", "?"], [undefined, undefined]), m.resultOf("strchr", "?"), m.callOf("open", ["?", 0, "?"], ["a"]), m.callOf("open", ["?", "?", "?"], ["a"]), m.resultOf("strlen", "?"), m.resultOf("read", "?")]`)
	want := []string{"strchr(?, ?)", "?", "open(?, O_RDONLY)", "open(?, ?, ?)", "?", "?"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// Durations that round up to the next unit are shown in it.
func TestDurationsRound(t *testing.T) {
	want := []string{"950 ns", "1.00 us", "1.00 ms", "999 us", "10.0 us", "100 us", "1.00 s", "124 ns"}
	got := values(t, "time", `[950, 999.6, 999999, 999400, 9996, 99960, 999999999, 123.7].map(x => m.duration(x))`)
	if strings.Join(got, ",") != strings.Join(want, ",") {
		t.Errorf("%q, want %q", got, want)
	}
}

// An import that a module does not have is told what there is, of the largest module too.
func TestMissingExports(t *testing.T) {
	_, list := script.Load(script.Options{Name: "t.js", Text: `import { nothingLikeIt } from "gotap/proc"; nothingLikeIt();`, Std: stdlib.Files()})
	if len(list) != 1 || !strings.Contains(list[0].Hint, "environ") {
		t.Errorf("%v", list)
	}
}

// An option that a module does not know is an error that names those it does; a target that lacks what is needed is
// reported once, with what it would need.
func TestConventions(t *testing.T) {
	for call, module := range map[string]string{
		`latency("f", "n", { zork: 1 })`: "latency", `allocations({ zork: 1 })`: "memory", `mutexes({ zork: 1 })`: "locks", `calltree("f", { zork: 1 })`: "calltree",
		`tls({ zork: 1 }, e => {})`: "tls", `table([], { zork: 1 })`: "table", `dump("", { zork: 1 })`: "hexdump", `queries({ zork: 1 }, e => {})`: "postgres",
		`statements({ zork: 1 })`: "sqlite", `commands({ zork: 1 })`: "redis", `loop({ zork: 1 })`: "node", `imports(e => {}, { zork: 1 })`: "python",
	} {
		name, _, _ := strings.Cut(call, "(")
		_, list := script.Load(script.Options{Name: "t.js", Text: fmt.Sprintf("import { %s } from %q;\n%s;", name, "gotap/"+module, call), Std: stdlib.Files()})
		if list.Err() == nil || !strings.Contains(list.Error(), "gotap/"+module+": unknown option zork; there are ") {
			t.Errorf("%s: %v", call, list)
		}
		if at := list[0].String(); !strings.HasPrefix(at, "t.js:2:1: ") {
			t.Errorf("%s is told at %s", call, at)
		}
	}
	for call, module := range map[string]string{
		"tls({}, e => {}); handshakes({}, e => {})": "tls", "allocations({})": "memory", "mutexes({})": "locks", "queries({}, e => {}); phases(); transactions()": "postgres",
		"statements({})": "sqlite", "commands({})": "redis", "loop({}); opens({}, e => {}); lookups({}, e => {}); collections({}, e => {})": "node",
		"calls(); returns(e => {}); imports(e => {}); collections(e => {})": "python", "exceptions(e => {})": "python",
	} {
		_, status := run(t, "t.js", fmt.Sprintf("const m = require(%q); const { tls, handshakes, allocations, mutexes, queries, phases, transactions, statements, commands, loop, opens, lookups, "+
			"collections, calls, returns, imports, exceptions } = m;\n%s;", "gotap/"+module, call))
		if strings.Count(status, "nothing was seen; the target has to have") != 1 || !strings.HasPrefix(status, "gotap/"+module+": ") {
			t.Errorf("%s: %q", call, status)
		}
	}
}
