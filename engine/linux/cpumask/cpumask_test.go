package cpumask

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"gotap/engine/linux/procfs"
	"gotap/engine/testenv"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"3": "0-1", "f": "0-3", "00000000,00000003": "0-1", "1,00000000": "32", "80000001,00000000,00000101": "0,8,64,95", "0": "",
	} {
		m, ok := Parse(text)
		if !ok || m.String() != want {
			t.Errorf("%s: %s, %v; not %s", text, m, ok, want)
		}
		if back := FromBytes(m.Bytes()); !back.Equal(m) {
			t.Errorf("%s: the bytes are those of %s", text, back)
		}
	}
	for _, text := range []string{"", "x", "1,,2", "100000000"} {
		if m, ok := Parse(text); ok {
			t.Errorf("%q is taken for the mask %s", text, m)
		}
	}
}

func TestOnly(t *testing.T) {
	m, _ := Parse("ffffffff,ffffffff,ffffffff")
	for _, cpu := range []int{0, 31, 63, 64, 95} {
		one := m.Only(cpu)
		if one.Count() != 1 || !one.Has(cpu) || one.String() != strconv.Itoa(cpu) || len(one) != len(m) {
			t.Errorf("CPU %d alone: %s", cpu, one)
		}
	}
	if n := m.Only(-1).Count() + m.Only(1000).Count(); n != 0 {
		t.Errorf("CPUs that do not exist: %d", n)
	}
}

// sleeper starts a process that does nothing.
func sleeper(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("sleep", "3600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd.Process.Pid
}

// TestAgainstTaskset compares with util-linux's taskset, and with the list that the kernel prints.
func TestAgainstTaskset(t *testing.T) {
	testenv.Require(t, testenv.Taskset)
	pid := sleeper(t)
	before, ok := Of(pid)
	if list := procfs.Status(pid, "Cpus_allowed_list"); !ok || before.String() != list {
		t.Fatalf("the kernel lists %s, Of has %s, %v", list, before, ok)
	}
	back, err := Neutral(pid, before)
	if now, _ := Of(pid); err != nil || !now.Equal(before) {
		t.Errorf("finding the neutral mask has left %s of %s: %v", now, before, err)
	}
	cpu := firstOf(before)
	if err := Set(pid, before.Only(cpu)); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("taskset", "-pc", strconv.Itoa(pid)).Output()
	if text := strings.TrimSpace(string(out)); err != nil || !strings.HasSuffix(text, ": "+strconv.Itoa(cpu)) {
		t.Errorf("taskset: %q, %v", text, err)
	}
	if n, err := Replace(pid, before, back); n != 0 || err != nil {
		t.Errorf("a mask that no thread has was replaced in %d threads, %v", n, err)
	}
	if n, err := Replace(pid, before.Only(cpu), back); n != 1 || err != nil {
		t.Errorf("replaced in %d threads, %v", n, err)
	}
	if now, _ := Of(pid); !now.Equal(before) {
		t.Errorf("the mask is %s again, was %s", now, before)
	}
}

// TestNeutralOfNarrowMask: a mask that was set is kept as it is, and not widened to the cpuset.
func TestNeutralOfNarrowMask(t *testing.T) {
	pid := sleeper(t)
	before, _ := Of(pid)
	narrow := before.Only(firstOf(before))
	if before.Count() == 1 {
		testenv.Lack(t, testenv.CPUs)
	}
	if err := Set(pid, narrow); err != nil {
		t.Fatal(err)
	}
	back, err := Neutral(pid, narrow)
	if now, _ := Of(pid); err != nil || !back.Equal(narrow) || !now.Equal(narrow) {
		t.Errorf("neutral: %s, in force: %s, %v; not %s", back, now, err, narrow)
	}
}

func TestErrors(t *testing.T) {
	if err := Set(1<<22, Mask{1}); err == nil {
		t.Error("the mask of a thread that does not exist was set")
	}
	if err := Set(0, nil); err == nil {
		t.Error("no mask at all was set")
	}
	if _, ok := Of(1 << 22); ok {
		t.Error("a thread that does not exist has a mask")
	}
}

func firstOf(m Mask) int {
	for cpu := range 64 * len(m) {
		if m.Has(cpu) {
			return cpu
		}
	}
	return -1
}
