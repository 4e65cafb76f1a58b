package inline

import (
	"os"
	"os/exec"
	goruntime "runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"gotap/runtime/arena"
)

// enabledFile is the variable with which the test starts itself as the process that is killed.
const enabledFile = "GOTAP_TEST_ENABLED"

// TestDisabledByDeath: the control word enables the stubs while its thread lives. The kernel disables them when the
// thread ends, and when the whole process is killed with SIGKILL; another process sees that in the memory that they
// share.
func TestDisabledByDeath(t *testing.T) {
	if os.Getenv(enabledFile) != "" {
		holdEnabled()
	}
	a, err := arena.New(arena.Options{Size: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	word := a.Control()
	enabled, end := make(chan error), make(chan bool)
	var run func()
	run = func() {
		goruntime.LockOSThread()
		if unix.Gettid() == unix.Getpid() { // Go cannot end the first thread
			go run()
			<-end
			return
		}
		enabled <- Enable(word)
		<-end
	}
	go run()
	if err := <-enabled; err != nil {
		t.Fatal(err)
	}
	if Disabled(word) || *word == 0 {
		t.Fatalf("the word is %#x", *word)
	}
	close(end)
	awaitDisabled(t, word)

	if a.FD() < 0 {
		t.Fatal("the arena has no file")
	}
	*word = 0
	file := os.NewFile(uintptr(a.FD()), "arena")
	cmd := exec.Command("/proc/self/exe", "-test.run=TestDisabledByDeath")
	cmd.Env, cmd.ExtraFiles = append(os.Environ(), enabledFile+"=1"), []*os.File{file}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	for end := time.Now().Add(5 * time.Minute); *word == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			cmd.Process.Kill()
			t.Fatal("the other process does not enable")
		}
	}
	if Disabled(word) {
		t.Fatal("disabled while the process lives")
	}
	cmd.Process.Kill()
	awaitDisabled(t, word)
}

// holdEnabled maps the arena of the test and enables its stubs until it is killed.
func holdEnabled() {
	goruntime.LockOSThread()
	mem, err := unix.Mmap(3, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	if err := Enable((*uint32)(unsafe.Pointer(&mem[arena.ControlOffset]))); err != nil {
		panic(err)
	}
	select {}
}

func awaitDisabled(t *testing.T, word *uint32) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !Disabled(word); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still enabled: %#x", *word)
		}
	}
}
