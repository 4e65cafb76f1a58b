// Package testenv is what tests of real targets share: which tools and permissions they need, and the only way
// in which such a test may skip.
//
// A skip names a typed Need. With GOTAP_CI=1 in the environment a missing Need is a failure, not a skip, so that a test
// that should have run in continuous integration cannot hide. What no package can add, because the kernel lacks it
// (ofKernel), skips there, too.
package testenv

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"

	"gotap/engine/linux/debugreg/trial"
)

// Need is something outside the module that a test uses.
type Need string

// The needs there are. Tools are named as on the command line.
const (
	GCC       Need = "gcc"
	GXX       Need = "g++"
	Clang     Need = "clang++"
	LibCxx    Need = "libc++" // headers and library of LLVM's C++ library, for clang++
	Objdump   Need = "objdump"
	Readelf   Need = "readelf"
	NM        Need = "nm"
	GDB       Need = "gdb"
	Python3   Need = "python3"
	Rust      Need = "rustc"
	Bpftrace  Need = "bpftrace"
	Redis     Need = "redis-server"
	SQLite    Need = "sqlite3"
	JQ        Need = "jq"
	Postgres  Need = "pg_ctlcluster" // a server in Debian's place
	OpenSSL   Need = "openssl"
	Node      Need = "node"
	Promtool  Need = "promtool"
	Scraper   Need = "prometheus"
	AMD64     Need = "an x86-64 processor"
	M32       Need = "gcc -m32"
	IA32      Need = "a kernel that runs 32-bit programs"
	Ptrace    Need = "permission to trace children"
	ProcMem   Need = "/proc/PID/mem of a child"
	NoFilter  Need = "tests that no seccomp filter applies to"
	ColdPiece Need = "a compiler that splits off cold pieces"
	Copies    Need = "a linker that copies a library's variables into programs"
	Libraries Need = "libc in the usual place"
	Root      Need = "root"
	Addr2line Need = "addr2line"
	CxxFilt   Need = "c++filt"
	Objcopy   Need = "objcopy"
	SDT       Need = "sys/sdt.h" // header of static marks
	Strace    Need = "strace"
	TSC       Need = "tsc" // TypeScript's compiler, also where GOTAP_TSC says
	Bash      Need = "bash"
	Taskset   Need = "taskset"
	CPUs      Need = "more than one CPU"
	Populate  Need = "MADV_POPULATE_WRITE, of Linux 5.14"
	Watched   Need = "a processor whose hardware watchpoints are hit"
	Rights    Need = "a kernel that tells which protection keys a thread may use"
	Chromium  Need = "chromium"
	Collector Need = "the modules of OpenTelemetry's Collector, in a long run (GOTAP_LONG)" // to build a program of them costs most of a minute
	Time      Need = "a run that is not short (go test -short)"
	RunTimes  Need = "a kernel that counts the run times of threads (CONFIG_SCHED_INFO)"
)

// checks tell of needs that are no commands; all others are looked up in PATH.
var checks = map[Need]func() bool{
	AMD64:     func() bool { return isAMD64 },
	M32:       sync.OnceValue(canBuild32),
	IA32:      sync.OnceValue(canRun32),
	Watched:   func() bool { return trial.Watchpoint() == nil },
	Ptrace:    canTrace,
	Root:      func() bool { return os.Geteuid() == 0 },
	SDT:       hasSDT,
	LibCxx:    hasLibCxx,
	TSC:       hasTSC,
	CPUs:      func() bool { return runtime.NumCPU() > 1 },
	Time:      func() bool { return !testing.Short() },
	Cgroups:   func() bool { return len(CgroupRoots()) > 0 },
	Collector: func() bool { return os.Getenv("GOTAP_LONG") != "" },
}

// ofKernel are needs that only another kernel, or another configuration of it, meets.
var ofKernel = map[Need]bool{IA32: true, Populate: true, RunTimes: true, Watched: true, Rights: true, Cgroups: true}

// ofChoice are needs that continuous integration does without: time where a run is short, modules that may be out of
// reach, and a browser and the debug information of a library, which are large packages for one test.
var ofChoice = map[Need]bool{Time: true, Collector: true, Chromium: true, LibraryDebug: true}

// Expected reports whether a need has to be met here: in continuous integration all are that packages can meet.
func Expected(n Need) bool { return os.Getenv("GOTAP_CI") != "" && !ofKernel[n] && !ofChoice[n] }

// Have reports whether a need is met on this machine.
func Have(n Need) bool {
	if check := checks[n]; check != nil {
		return check()
	}
	_, err := exec.LookPath(string(n))
	return err == nil
}

// Require skips the test when a need is missing, or fails it where the need is expected.
func Require(t testing.TB, needs ...Need) {
	t.Helper()
	for _, n := range needs {
		if !Have(n) {
			Lack(t, n)
		}
	}
}

// Lack is for a test that finds out only on its way that a need is missing: it skips, or fails where the need is
// expected.
func Lack(t testing.TB, n Need) {
	t.Helper()
	if Expected(n) {
		t.Fatalf("needs %s, which has to be here in continuous integration", n)
	}
	t.Skipf("needs %s", n)
}
