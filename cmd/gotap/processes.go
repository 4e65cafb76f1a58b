package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gotap/cmd/gotap/status"
	"gotap/engine/linux/procfs"
)

// processes returns the processes that a text of -p means: one by its number, or all with a name. A name is that of the
// program's file, of the command as it was called, or of the process itself, as pidof and pgrep -x have it.
func (w *World) processes(text string) ([]int, error) {
	if named := w.processesNamed(text); len(named) > 0 {
		return named, nil
	}
	pid, err := procfs.ParsePid(text)
	switch {
	case err == nil:
		return []int{pid}, nil
	case text == "" || text[0] == '-' || text[0] >= '0' && text[0] <= '9' || !strings.ContainsFunc(text, unicode.IsLetter):
		return nil, status.With(status.Usage, fmt.Errorf("-p %w", err))
	}
	return nil, status.Hinted(status.With(status.Target, fmt.Errorf("-p %s: no process has this name", text)), cmp.Or(w.nearProcess(text), "ps -e lists the processes"))
}

// processesNamed returns the processes with a name, in the order of their numbers, without gotap's own.
func (w *World) processesNamed(name string) (pids []int) {
	own := append(w.waiting(), os.Getpid())
	for _, pid := range procfs.Processes() {
		if slices.Contains(procfs.Names(pid), name) && !slices.Contains(own, pid) && !procfs.Ended(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// nearProcess asks whether a process of a similar name was meant.
func (w *World) nearProcess(name string) string {
	const shortest = 3 // characters: every word is like a shorter name
	var names []string
	for _, pid := range procfs.Processes() {
		names = append(names, procfs.Names(pid)...)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return len(n) < shortest })
	slices.Sort(names)
	return near(name, slices.Compact(names), "")
}

// processList returns "process 12", or "2 processes: 12, 34".
func processList(pids []int) string {
	texts := make([]string, len(pids))
	for i, pid := range pids {
		texts[i] = strconv.Itoa(pid)
	}
	if len(pids) == 1 {
		return "process " + texts[0]
	}
	return fmt.Sprintf("%s: %s", plural(len(pids), "process"), strings.Join(texts, ", "))
}

// plural returns a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "s") {
		thing += "e"
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
