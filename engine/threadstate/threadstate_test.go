package threadstate

import (
	"os"
	"strings"
	"testing"
)

// TestTableOnPage: the table on the package page is the one that the package uses.
func TestTableOnPage(t *testing.T) {
	page, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	column := []State{Running, Stopped, JobStopped, Parked, Held, Settled, LeftAsleep, Gone}
	rows := 0
	for line := range strings.Lines(string(page)) {
		f := strings.Fields(strings.TrimPrefix(line, "//"))
		if len(f) != 1+len(column) || f[0] == "from" {
			continue
		}
		from := Fresh
		for ; from < count && strings.ReplaceAll(from.String(), " ", "") != strings.ReplaceAll(strings.ToLower(f[0]), "jobstopped", "job-stopped"); from++ {
		}
		if from == count {
			t.Errorf("row %q is no state", f[0])
			continue
		}
		rows++
		for i, to := range column {
			if got := f[1+i] == "x"; got != Legal(from, to) {
				t.Errorf("%v to %v: the page says %v", from, to, got)
			}
		}
		if Legal(from, Fresh) {
			t.Errorf("%v to fresh is legal", from)
		}
	}
	if rows != int(count) {
		t.Errorf("the page has %d rows for %d states", rows, count)
	}
}

// TestIllegal: an illegal change is reported and made; a legal one is not reported.
func TestIllegal(t *testing.T) {
	var seen []string
	old := Illegal
	Illegal = func(from, to State) { seen = append(seen, from.String()+" to "+to.String()) }
	defer func() { Illegal = old }()
	var th Thread
	for _, s := range []State{Stopped, Running, Running, Stopped, Held, Stopped, Running, Settled, Gone, Running} {
		if th.To(s); th.Now() != s {
			t.Errorf("%v, want %v", th.Now(), s)
		}
	}
	if got := strings.Join(seen, ", "); got != "running to settled, gone to running" {
		t.Errorf("reported %q", got)
	}
}

// TestEveryStateIsReached: each state but the first can be reached from it, and each leads to the end.
func TestEveryStateIsReached(t *testing.T) {
	reached := of(Fresh)
	for range count {
		for s := range count {
			if reached.has(s) {
				reached |= next[s]
			}
		}
	}
	for s := range count {
		if !reached.has(s) {
			t.Errorf("nothing leads to %v", s)
		}
		if s != Gone && !Legal(s, Gone) {
			t.Errorf("%v does not lead to the end", s)
		}
	}
}
