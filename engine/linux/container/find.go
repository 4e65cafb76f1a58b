package container

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gotap/engine/linux/procfs"
)

// A Container has the processes of a container that this process can see.
type Container struct {
	ID
	Pids []int // ascending
}

// shownID is how much of an ID tools show.
const shownID = 12

// Short returns the ID as tools show it: its beginning, or the name of a machine.
func (c ID) Short() string {
	if len(c.ID) == digits && isHex(c.ID) {
		return c.ID[:shownID]
	}
	return c.ID
}

// String describes a container for people: its ID, engine, first program and number of processes.
func (c Container) String() string {
	text := c.Short() + " ("
	if c.Runtime != "" {
		text += c.Runtime + ", "
	}
	if names := procfs.Names(c.Pids[0]); len(names) > 0 {
		text += names[0] + ", "
	}
	if len(c.Pids) == 1 {
		return text + "1 process)"
	}
	return fmt.Sprintf("%s%d processes)", text, len(c.Pids))
}

// Of returns the innermost container of a process; ok is false when it is in none.
func Of(pid int) (id ID, ok bool) {
	all := Parse(procfs.Read(pid, "cgroup"))
	if len(all) == 0 {
		return ID{}, false
	}
	return all[len(all)-1], true
}

// List returns all containers with processes, by their IDs. Processes that have ended are in none.
func List() []Container {
	return list(procfs.Processes(), func(pid int) string {
		if procfs.Ended(pid) {
			return ""
		}
		return procfs.Read(pid, "cgroup")
	})
}

// list returns the containers of processes, whose control groups a function tells.
func list(pids []int, groups func(pid int) string) (all []Container) {
	at := map[ID]int{}
	for _, pid := range pids {
		for _, id := range Parse(groups(pid)) {
			i, known := at[id]
			if !known {
				i = len(all)
				at[id], all = i, append(all, Container{ID: id})
			}
			if !slices.Contains(all[i].Pids, pid) {
				all[i].Pids = append(all[i].Pids, pid)
			}
		}
	}
	slices.SortFunc(all, func(a, b Container) int {
		return cmp.Or(strings.Compare(a.ID.ID, b.ID.ID), strings.Compare(a.Runtime, b.Runtime))
	})
	return all
}

// leastText is how much of an ID is needed, in characters.
const leastText = 6

// Find returns the container that a text means: by its ID, by the beginning of its ID, at least six characters of it,
// or by what Kubernetes shows, as in "containerd://ID". The error is a *NotFoundError or an *AmbiguousError.
func Find(all []Container, text string) (Container, error) {
	id := text
	if _, after, ok := strings.Cut(text, "://"); ok {
		id = after
	}
	var found []Container
	for _, c := range all {
		switch {
		case c.ID.ID == id:
			return c, nil
		case len(id) >= leastText && strings.HasPrefix(c.ID.ID, id):
			found = append(found, c)
		}
	}
	switch len(found) {
	case 0:
		return Container{}, &NotFoundError{text, len(id) < leastText, all}
	case 1:
		return found[0], nil
	}
	return Container{}, &AmbiguousError{text, found}
}

// NotFoundError reports that no container is meant by a text.
type NotFoundError struct {
	Text  string
	Short bool // the text is too short for the beginning of an ID
	All   []Container
}

func (e *NotFoundError) Error() string {
	if e.Short {
		return fmt.Sprintf("no container has the ID %q; the beginning of an ID has at least %d characters", e.Text, leastText)
	}
	return fmt.Sprintf("no container has an ID that begins with %q", e.Text)
}

// Hint lists the containers.
func (e *NotFoundError) Hint() string {
	if len(e.All) == 0 {
		return "no process that can be seen here is in a container; inside a container, name processes with -p"
	}
	return "containers are " + listed(e.All)
}

// AmbiguousError reports that several containers are meant by a text.
type AmbiguousError struct {
	Text  string
	Found []Container
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%d containers have an ID that begins with %q: %s", len(e.Found), e.Text, listed(e.Found))
}

// Hint says what to do.
func (e *AmbiguousError) Hint() string { return "give more characters of the ID" }

// mostListed is how many containers an error lists.
const mostListed = 12

// listed describes containers, so that those with a common beginning differ.
func listed(all []Container) string {
	texts := make([]string, 0, len(all))
	for _, c := range all[:min(len(all), mostListed)] {
		texts = append(texts, c.String())
	}
	text := strings.Join(texts, ", ")
	if left := len(all) - mostListed; left > 0 {
		text += fmt.Sprintf(", and %d more", left)
	}
	return text
}
