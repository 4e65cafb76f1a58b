package container

import (
	"strconv"
	"strings"
)

// An ID identifies a container.
type ID struct {
	Runtime string // docker, containerd, cri-o, podman, lxc, systemd-nspawn; "" when the control group does not tell
	ID      string // 64 hexadecimal digits; of lxc and systemd-nspawn the name of the machine
}

// digits is how long the IDs are that engines make.
const digits = 64

// runtimes are the engines, by what precedes an ID in the name of a control group. An engine's monitor has a group of
// its own beside the container, as in "libpod-conmon-ID": it is in no container.
var runtimes = map[string]string{"docker": "docker", "cri-containerd": "containerd", "nerdctl": "containerd", "crio": "cri-o", "libpod": "podman"}

// parents are the engines, by the group above one that is named by an ID alone. Below libpod_parent such a group is a
// pod.
var parents = map[string]string{"docker": "docker", "libpod_parent": ""}

// Parse returns the containers of a process from the text of its /proc/PID/cgroup, outermost first. Not every hierarchy
// needs to have them: the line with most containers counts.
func Parse(text string) (best []ID) {
	for line := range strings.Lines(text) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		_, path, _ := strings.Cut(rest, ":")
		if found := ofPath(strings.TrimSuffix(path, " (deleted)")); len(found) > len(best) {
			best = found
		}
	}
	return best
}

// ofPath returns the containers that the groups of a path belong to.
func ofPath(path string) (found []ID) {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		above, below := "", ""
		if i > 0 {
			above = parts[i-1]
		}
		if i+1 < len(parts) {
			below = parts[i+1]
		}
		if id, ok := ofGroup(part, above, below); ok {
			found = append(found, id)
		}
	}
	return found
}

// ofGroup returns the container that a group is for, by its name and those of the groups around it.
func ofGroup(name, above, below string) (ID, bool) {
	if machine, ok := machine(name); ok {
		return ID{"systemd-nspawn", machine}, below != "supervisor" // which starts the machine from outside
	}
	if machine, ok := strings.CutPrefix(name, "lxc.payload."); ok && machine != "" {
		return ID{"lxc", machine}, true
	}
	name = strings.TrimSuffix(name, ".scope")
	if len(name) < digits || !isHex(name[len(name)-digits:]) {
		return ID{}, false
	}
	before, id := name[:len(name)-digits], name[len(name)-digits:]
	if before == "" {
		engine, known := parents[above]
		return ID{engine, id}, !known || engine != ""
	}
	last := before[len(before)-1]
	if last != '-' && last != ':' {
		return ID{}, false
	}
	before = before[:len(before)-1]
	if last == ':' { // SLICE:PREFIX:ID, where the engine wrote a name for systemd and systemd does not run the group
		before = before[strings.LastIndexByte(before, ':')+1:]
	}
	engine, ok := runtimes[before]
	return ID{engine, id}, ok
}

// machine returns the name of a machine of systemd-nspawn from that of its unit. Virtual machines have such units, too.
func machine(unit string) (string, bool) {
	name, ok := strings.CutPrefix(unit, "systemd-nspawn@")
	if ok {
		name, ok = strings.CutSuffix(name, ".service")
	} else if name, ok = strings.CutPrefix(unit, "machine-"); ok {
		name, ok = strings.CutSuffix(name, ".scope")
	}
	name = unescape(name)
	return name, ok && name != "" && !strings.HasPrefix(name, "qemu-")
}

// unescape returns a name that systemd has escaped: "\x2d" is a hyphen.
func unescape(name string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(name, `\x`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if code, err := strconv.ParseUint(after[:min(2, len(after))], 16, 8); err == nil && len(after) >= 2 {
			b.WriteByte(byte(code))
			name = after[2:]
			continue
		}
		b.WriteString(`\x`)
		name = after
	}
}

func isHex(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
