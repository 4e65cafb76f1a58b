package container

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

const (
	one = "4c01db0b339c4b1a8e0d6c3f5a7b9e2d1f8a6b4c2e0d9f7a5b3c1e8d6f4a2b0c"
	two = "4c01dbffaa11bb22cc33dd44ee5566778899aabbccddeeff0011223344556677"
	pod = "5d12ec1c44ad5c2b9f1e7d4060c8caf3e2f9b7c5d3f1e0a8b6c4d2f9e7a5b3c1"
)

// TestParse: the texts are those of /proc/PID/cgroup as the kernel writes them for each engine, with the other lines of
// hosts that have many.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []ID
	}{
		{"docker, v1, cgroupfs", "12:pids:/docker/" + one + "\n4:memory:/docker/" + one + "\n1:name=systemd:/docker/" + one + "\n0::/system.slice/containerd.service\n", []ID{{"docker", one}}},
		{"docker, v1, systemd", "11:cpuset:/\n1:name=systemd:/system.slice/docker-" + one + ".scope\n", []ID{{"docker", one}}},
		{"docker, v2, systemd", "0::/system.slice/docker-" + one + ".scope\n", []ID{{"docker", one}}},
		{"docker, v2, with groups of its own", "0::/system.slice/docker-" + one + ".scope/init.scope\n", []ID{{"docker", one}}},
		{"docker, rootless", "0::/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" + one + ".scope\n", []ID{{"docker", one}}},
		{"docker, from another container", "0::/../" + one + "\n", []ID{{"", one}}},
		{"docker in docker", "0::/docker/" + one + "/docker/" + two + "\n", []ID{{"docker", one}, {"docker", two}}},
		{"the same in one hierarchy", "9:cpu:/docker/" + one + "\n8:pids:/docker/" + one + "/docker/" + two + "\n", []ID{{"docker", one}, {"docker", two}}},
		{"containerd, v2, systemd", "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod2b8ac_f7.slice/cri-containerd-" + one + ".scope\n", []ID{{"containerd", one}}},
		{"containerd, from an ephemeral container", "0::/../cri-containerd-" + one + ".scope\n", []ID{{"containerd", one}}},
		{"containerd, v1, cgroupfs", "10:devices:/kubepods/besteffort/podd2a2f1b1-7a52-4f5c-9a52-a4b1b1e6b5a3/" + one + "\n", []ID{{"", one}}},
		{"containerd, v1, a name for systemd", "5:memory:/system.slice/containerd.service/kubepods-besteffort-pod1_2.slice:cri-containerd:" + one + "\n", []ID{{"containerd", one}}},
		{"nerdctl", "0::/system.slice/nerdctl-" + one + ".scope\n", []ID{{"containerd", one}}},
		{"cri-o, v2", "0::/kubepods.slice/kubepods-pod7.slice/crio-" + one + ".scope/container\n", []ID{{"cri-o", one}}},
		{"cri-o, v1, cgroupfs", "3:pids:/kubepods/besteffort/pod7/crio-" + one + "\n", []ID{{"cri-o", one}}},
		{"the monitor of cri-o", "0::/kubepods.slice/kubepods-pod7.slice/crio-conmon-" + one + ".scope\n", nil},
		{"podman, v2", "0::/machine.slice/libpod-" + one + ".scope/container\n", []ID{{"podman", one}}},
		{"podman, in a pod", "0::/machine.slice/machine-libpod_pod_" + pod + ".slice/libpod-" + one + ".scope\n", []ID{{"podman", one}}},
		{"podman, v1, cgroupfs", "6:blkio:/libpod_parent/libpod-" + one + "\n", []ID{{"podman", one}}},
		{"podman, v1, cgroupfs, in a pod", "6:blkio:/libpod_parent/" + pod + "/libpod-" + one + "\n", []ID{{"podman", one}}},
		{"podman, rootless", "1:name=systemd:/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + one + ".scope\n0::/user.slice\n", []ID{{"podman", one}}},
		{"the monitor of podman", "0::/machine.slice/libpod-conmon-" + one + ".scope\n", nil},
		{"systemd-nspawn", "0::/machine.slice/machine-web\\x2d1.scope/payload/init.scope\n", []ID{{"systemd-nspawn", "web-1"}}},
		{"systemd-nspawn, v1", "1:name=systemd:/machine.slice/machine-web.scope\n", []ID{{"systemd-nspawn", "web"}}},
		{"systemd-nspawn, a service", "0::/machine.slice/systemd-nspawn@web.service/payload\n", []ID{{"systemd-nspawn", "web"}}},
		{"systemd-nspawn itself", "0::/machine.slice/machine-web.scope/supervisor\n", nil},
		{"a virtual machine", "0::/machine.slice/machine-qemu\\x2d3\\x2dvm.scope/libvirt/emulator\n", nil},
		{"lxc", "0::/lxc.payload.web/system.slice/cron.service\n", []ID{{"lxc", "web"}}},
		{"the monitor of lxc", "0::/lxc.monitor.web\n", nil},
		{"a removed group", "0::/docker/" + one + " (deleted)\n", []ID{{"docker", one}}},
		{"no container", "1:name=systemd:/user.slice/user-0.slice/session-1.scope\n0::/\n", nil},
		{"32 digits", "4:memory:/a/" + one[:32] + "\n", nil},
		{"more than 64 digits", "4:memory:/a/a" + one + "\n", nil},
		{"something named like it", "0::/system.slice/backup-" + one + ".scope\n", nil},
		{"escapes at the end", "0::/machine-a\\x2.scope\n0::/machine-\\x.scope\n", []ID{{"systemd-nspawn", `a\x2`}}},
		{"broken lines", "\n:\n::\n0:" + one + "\n", nil},
	} {
		if got := Parse(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestFind: a beginning of an ID means one container, or the error tells which there are.
func TestFind(t *testing.T) {
	texts := map[int]string{1: "0::/init.scope\n", 11: "0::/docker/" + one + "\n", 12: "0::/docker/" + two + "\n", 13: "0::/docker/" + one + "\n",
		14: "0::/machine-web.scope/payload\n", 15: "0::/docker/" + two + "/docker/" + pod + "\n"}
	all := list([]int{1, 11, 12, 13, 14, 15}, func(pid int) string { return texts[pid] })
	for text, want := range map[string][]int{one: {11, 13}, one[:12]: {11, 13}, "docker://" + two: {12, 15}, two[:8]: {12, 15}, pod[:6]: {15}, "web": {14}} {
		if c, err := Find(all, text); err != nil || !slices.Equal(c.Pids, want) {
			t.Errorf("%s: %v, error %v; want %v", text, c.Pids, err, want)
		}
	}
	var missing *NotFoundError
	for _, text := range []string{"", "we", "4c01d", "ffffff", one + "0", "docker://"} {
		if _, err := Find(all, text); !errors.As(err, &missing) || !strings.Contains(missing.Hint(), one[:12]+" (docker, ") {
			t.Errorf("%s: error %v, hint %v", text, err, missing)
		}
	}
	var several *AmbiguousError
	if _, err := Find(all, one[:6]); !errors.As(err, &several) || len(several.Found) != 2 || !strings.Contains(err.Error(), two[:12]+" (docker, ") {
		t.Errorf("error %v", err)
	}
	if _, err := Find(nil, one); !errors.As(err, &missing) || !strings.Contains(missing.Hint(), "no process") {
		t.Errorf("error %v", err)
	}
}

// TestManyListed: an error stays readable where there are many containers.
func TestManyListed(t *testing.T) {
	var all []Container
	for i := range 1000 {
		all = append(all, Container{ID{"docker", fmt.Sprintf("%064x", i)}, []int{-1}})
	}
	if hint := (&NotFoundError{All: all}).Hint(); len(hint) > 1000 || !strings.HasSuffix(hint, "and 988 more") {
		t.Errorf("%d bytes: %s", len(hint), hint)
	}
}

// TestRealGroups: the kernel's own words about processes in groups that the test makes, in each hierarchy that can be
// written.
func TestRealGroups(t *testing.T) {
	testenv.Require(t, testenv.Root, testenv.Cgroups)
	for _, root := range testenv.CgroupRoots() {
		t.Run(filepath.Base(root), func(t *testing.T) {
			parent := filepath.Join(root, fmt.Sprintf("gotap-test-%d", os.Getpid()))
			group := filepath.Join(parent, "cri-containerd-"+two+".scope")
			if err := os.MkdirAll(group, 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sleep", "600")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				cmd.Process.Kill()
				cmd.Wait()
				os.Remove(group)
				os.Remove(parent)
			})
			if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), fmt.Append(nil, cmd.Process.Pid), 0); err != nil {
				t.Fatal(err)
			}
			c, err := Find(List(), two[:12])
			if err != nil || !slices.Equal(c.Pids, []int{cmd.Process.Pid}) || c.Runtime != "containerd" {
				t.Errorf("found %v, error %v, want process %d", c, err, cmd.Process.Pid)
			}
			if want := two[:12] + " (containerd, sleep, 1 process)"; c.String() != want {
				t.Errorf("described as %s, want %s", c, want)
			}
			if id, ok := Of(cmd.Process.Pid); !ok || id.Short() != two[:12] {
				t.Errorf("process %d is in %v", cmd.Process.Pid, id)
			}
			if id, ok := Of(os.Getpid()); ok && id.ID == two {
				t.Error("this process is in it, too")
			}
		})
	}
}
