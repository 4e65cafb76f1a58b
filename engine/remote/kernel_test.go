package remote_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotap/engine/armtest"
	"gotap/engine/testenv"
)

// A machine is one that QEMU emulates, with the Debian kernel that is probed.
type machine struct {
	armtest.Machine
	gcc     string
	console string
	flags   []string
	needs   []testenv.Need
}

var machines = []machine{
	{armtest.Machine{Debian: "armhf", Kernel: "linux-image-armmp", QEMU: armtest.ARM.QEMU}, "arm-linux-gnueabihf-gcc", "ttyAMA0", []string{"-M", "virt", "-cpu", "cortex-a15"},
		[]testenv.Need{testenv.GCCARM, testenv.QEMUSystemA, testenv.DpkgDeb}},
	{armtest.ARM64, "aarch64-linux-gnu-gcc", "ttyAMA0", []string{"-M", "virt", "-cpu", "cortex-a57"},
		[]testenv.Need{testenv.GCCARM64, testenv.QEMUSystemARM64, testenv.DpkgDeb}},
	{armtest.Machine{Debian: "amd64", Kernel: "linux-image-amd64", QEMU: "qemu-system-x86_64"}, "gcc", "ttyS0", []string{"-cpu", "qemu64"},
		[]testenv.Need{testenv.GCC, testenv.AMD64, testenv.QEMUSystemX, testenv.DpkgDeb}},
}

// boot boots a machine with a stub, waits for its guest, and returns the stub's address, the list of the kernel's
// symbols, and what reads the console.
func (m machine) boot(t *testing.T) (address, symbols string, console func() string) {
	t.Helper()
	kernel, err := m.KernelFile()
	if err != nil {
		t.Log(err)
		testenv.Lack(t, testenv.ARMKernel)
	}
	dir := t.TempDir()
	guest := build(t, "guest-"+m.Debian, m.gcc, "-static", "-O1", "testdata/guest.c", "-o", filepath.Join(tools.dir, "guest-"+m.Debian))
	image := armtest.NewImage()
	if err := image.Add("/init", guest); err != nil {
		t.Fatal(err)
	}
	if err := image.Write(dir + "/initrd"); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(dir + "/console")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	address = fmt.Sprintf("127.0.0.1:%d", freePort(t))
	// no_timer_check: on a busy host the emulated timer comes so late that x86's kernel takes it for broken.
	cmd := exec.Command(m.QEMU, append(m.flags, "-nographic", "-no-reboot", "-m", "512", "-nic", "none", "-kernel", kernel, "-initrd", dir+"/initrd",
		"-gdb", "tcp:"+address, "-append", "console="+m.console+" quiet nokaslr no_timer_check panic=-1")...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	console = func() string {
		text, _ := os.ReadFile(dir + "/console")
		return strings.ReplaceAll(string(text), "\r", "")
	}
	for end := time.Now().Add(2 * patience); !strings.Contains(console(), "guest ready"); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) || strings.Contains(console(), "Kernel panic") {
			t.Fatalf("the guest does not come up:\n%.2000s", console())
		}
	}
	symbols = dir + "/kallsyms"
	lines := regexp.MustCompile(`(?m)^[0-9a-f]{8,16} [tTW] \S+$`).FindAllString(console(), -1)
	if err := os.WriteFile(symbols, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return address, symbols, console
}

// TestKernels: the samples see what a kernel does, all of it, and the kernel goes on afterwards. The short run has
// those that count and that see returns, on two of the machines.
func TestKernels(t *testing.T) {
	if testing.Short() {
		t.Log("no machine is booted in a short run")
		return
	}
	long := os.Getenv("GOTAP_LONG") != ""
	for _, m := range machines {
		if !long && m.Debian == armtest.ARM64.Debian {
			continue
		}
		t.Run(m.Debian, func(t *testing.T) {
			testenv.Require(t, m.needs...)
			address, symbols, console := m.boot(t)
			traced := func(script ...string) string {
				return traced(t, console, append([]string{"-q", "--remote", address, "--exe", symbols}, script...)...)
			}
			sample := func(name string) string { return traced("kernel-" + name) }
			expect(t, sample("counts"), `(?m)^kernel_clone 3 times, stack ([0-9a-f]{2} ?){16}$`, `(?m)^kill 3 times, `)
			if long {
				expect(t, sample("kprobe"), `(?m)^pre kernel_clone: pc = 0x[0-9a-f]+, sp = 0x[0-9a-f]+\npost kernel_clone: pc = `)
				expect(t, sample("jprobe"), `(?m)^kernel_clone: flags = 0x1200000$`, `(?m)^do_filp_open: /proc/version$`)
			}
			calls := traced("-e", callScript)
			expect(t, calls, `(?m)^openat gave 3$`, `(?m)^@kill\[kill, 0\]: [0-9]+$`)
			if m.Debian == "armhf" { // see the package's documentation
				expect(t, calls, `cannot read memory at address 0x`)
			} else {
				expect(t, calls, `(?m)^openat of /proc/version gave 3$`)
			}
			returned := sample("kretprobe")
			expect(t, returned, `(?m)^do_sys_openat2 returned 3 and took [0-9]+ ns`)
			compareChildren(t, returned, console)
			killSession(t, address, symbols, console)
		})
	}
}

// callScript is on system calls of the guest.
const callScript = `const n = count("kill", { keys: 2 });
probe(["syscall:kill", "syscall:nosuch"], { optional: true, enter(c) { n.at(c.func, c.arg1).inc(); } });
probe("syscall:openat", { enter(c) { this.name = c.arg1; }, leave(c) { print("openat gave " + c.ret); print("openat of " + str(this.name) + " gave " + c.ret); } });`

// ready starts gotap run and waits until its probes are armed.
func ready(t *testing.T, out io.Writer, args ...string) *exec.Cmd {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(gotap(t), append([]string{"run", "--ready-fd", "3"}, args...)...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = out, out, []*os.File{w}
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if said, _ := io.ReadAll(r); string(said) != "ready\n" {
		t.Errorf("%v: not ready: %q, %v", args, said, cmd.Wait())
	}
	return cmd
}

// traced runs a script while the guest makes some processes.
func traced(t *testing.T, console func() string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	cmd := ready(t, &out, args...)
	awaitChildren(t, console, 8)
	cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %v\n%s", args, err, out.String())
	}
	return out.String()
}

// awaitChildren waits until the guest has made so many more processes.
func awaitChildren(t *testing.T, console func() string, n int) {
	t.Helper()
	before := len(console())
	for end := time.Now().Add(patience); strings.Count(console()[before:], "child ") < n; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the guest does not go on")
		}
	}
}

// killSession: when a session is killed, its supervisor lets the kernel go on, which stands at a breakpoint or will.
func killSession(t *testing.T, address, symbols string, console func() string) {
	t.Helper()
	cmd := ready(t, io.Discard, "--remote", address, "--exe", symbols, "-e", `let n = 0; probe("kernel_clone", c => { n++; })`)
	var session int
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", cmd.Process.Pid))
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		fmt.Sscan(string(children), &session)
	}
	if session == 0 {
		t.Fatal("there is no session")
	}
	syscall.Kill(session, syscall.SIGKILL)
	cmd.Wait()
	awaitChildren(t, console, 3)
}

// expect looks for patterns in an output.
func expect(t *testing.T, out string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		if !regexp.MustCompile(p).MatchString(out) {
			t.Errorf("no %s in\n%.2000s", p, out)
		}
	}
}

// compareChildren: every process that the guest made while its kernel was probed was seen, and it makes more
// afterwards.
func compareChildren(t *testing.T, returned string, console func() string) {
	t.Helper()
	var first, last, n int
	for _, m := range regexp.MustCompile(`(?m)^kernel_clone returned ([0-9]+) `).FindAllStringSubmatch(returned, -1) {
		fmt.Sscan(m[1], &last)
		if n++; first == 0 {
			first = last
		}
	}
	if n < 3 || last-first != n-1 {
		t.Errorf("of the processes %d to %d there were %d seen", first, last, n)
	}
	after := fmt.Sprintf("\nchild %d\n", last+3)
	for end := time.Now().Add(patience); !strings.Contains(console(), after); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the guest makes no more processes after number %d", last)
		}
	}
}
