package top

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
	"gotap/script/output"
	"gotap/script/output/picture"
)

// some returns a picture with a section of each kind.
func some() *picture.Picture {
	one, two, three := int64(1), int64(2), int64(3)
	counted := func(key value.Value, n int64) snapshot.Entry {
		return snapshot.Entry{Key: []value.Value{key}, Data: snapshot.Data{Kind: object.KindCount, Int: n}}
	}
	frames := func(value.Value) []string { return []string{"leaf+0x1 (prog)", "main+0x2 (prog)"} }
	return &picture.Picture{Title: "a.js", Target: "prog", Losses: []picture.Loss{{Cause: "ring full", Count: 3}},
		Tables: []output.Table{{Name: "functions", Columns: []string{"function", "calls"}, Rows: [][]any{{"read", int64(5)}, {"write\x1b[2J", int64(9)}}}},
		Aggregates: []output.Aggregate{
			{Snapshot: snapshot.Snapshot{Object: object.Object{Name: "calls", Kind: object.KindCount}, Entries: []snapshot.Entry{{Data: snapshot.Data{Kind: object.KindCount, Int: 42}}}}},
			{Snapshot: snapshot.Snapshot{Object: object.Object{Name: "names", Kind: object.KindCount, Keys: 1}, Entries: []snapshot.Entry{counted(value.Text("few"), 1), counted(value.Text("many"), 8)}}},
			{Snapshot: snapshot.Snapshot{Object: object.Object{Name: "at", Kind: object.KindCount, Keys: 1}, Entries: []snapshot.Entry{counted(value.Value{Kind: value.KindStack, Stack: []uint64{1, 2}}, 4)}},
				Options: snapshot.Options{Stack: frames}},
			{Snapshot: snapshot.Snapshot{Object: object.Object{Name: "sizes", Kind: object.KindHist}, Entries: []snapshot.Entry{{Data: snapshot.Data{Kind: object.KindHist,
				Buckets: []snapshot.Bucket{{Min: &one, Max: &one, Count: 5}, {Min: &two, Max: &three, Count: 10}}}}}}},
		}}
}

// keys gives a model keys, by their names or as text.
func keys(m *model, names ...string) {
	special := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "down": tea.KeyDown, "end": tea.KeyEnd, "backspace": tea.KeyBackspace, "space": tea.KeySpace}
	for _, name := range names {
		k := tea.Key{Code: special[name]}
		if k.Code == 0 {
			k = tea.Key{Code: []rune(name)[0], Text: name}
		}
		m.Update(tea.KeyPressMsg(k))
	}
}

// shown returns the screen without styles.
func shown(m *model) string { return ansi.Strip(m.screen()) }

func check(t *testing.T, m *model, wants ...string) {
	t.Helper()
	text := shown(m)
	for _, want := range wants {
		if not, no := strings.CutPrefix(want, "!"); no && strings.Contains(text, not) || !no && !strings.Contains(text, want) {
			t.Errorf("wanted %q in\n%s", want, text)
		}
	}
}

// before checks the order of two texts.
func before(t *testing.T, m *model, first, second string) {
	t.Helper()
	text := shown(m)
	if a, b := strings.Index(text, first), strings.Index(text, second); a < 0 || b < a {
		t.Errorf("%q is not before %q in\n%s", first, second, text)
	}
}

func made(look func() *picture.Picture) *model {
	m := newModel(look, func() {})
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 40})
	return m
}

// TestScreen: all that the run has is there, and text of the target as text.
func TestScreen(t *testing.T) {
	m := made(some)
	check(t, m, "3 lost  a.js  prog", "@calls", "42", "functions (2)", `write\x1b[2J`, "@names (2)", "value v", "leaf ", "2 to 3", "########################################", "!main+0x2")
	before(t, m, "many", "few")
	before(t, m, "1  ", "2 to 3")
	if strings.Contains(m.screen(), "\x1b[2J") {
		t.Error("the target clears the screen")
	}
}

// TestKeys: sorting, filtering, expanding, a pause.
func TestKeys(t *testing.T) {
	m := made(some)
	keys(m, "down", "down", "down") // calls, read, write, many
	keys(m, "r")
	before(t, m, "few", "many")
	keys(m, "s")
	before(t, m, "many", "few") // by key, downwards
	check(t, m, "key v")
	keys(m, "/", "l", "e", "a", "x", "backspace")
	check(t, m, "filter: lea_", "@at (1)", "!@names")
	keys(m, "enter", "end", "enter")
	check(t, m, "only: lea", "main+0x2 (prog)")
	keys(m, "enter", "esc")
	check(t, m, "!main+0x2", "@names")
	keys(m, "space")
	check(t, m, "paused")
}

// TestPause: while it is paused the screen keeps its values.
func TestPause(t *testing.T) {
	title := "first"
	m := made(func() *picture.Picture { return &picture.Picture{Title: title} })
	keys(m, "p")
	title = "second"
	m.Update(tick{})
	check(t, m, "first", "!second")
	keys(m, "p")
	m.Update(tick{})
	check(t, m, "second", "nothing yet")
}

// TestSizes: the screen fits any window, and the cursor stays on it.
func TestSizes(t *testing.T) {
	m := made(some)
	for _, size := range []tea.WindowSizeMsg{{Width: 40, Height: 8}, {Width: 1, Height: 1}, {Width: 10, Height: 3}, {Width: 300, Height: 100}} {
		m.Update(size)
		for _, key := range []string{"end", "home", "pgdown", "pgup"} {
			m.move(key)
			lines := strings.Split(m.screen(), "\n")
			if len(lines) > max(size.Height, 3) {
				t.Errorf("%d lines in a window of %v", len(lines), size)
			}
			for _, l := range lines {
				if ansi.StringWidth(l) > size.Width {
					t.Errorf("%q is wider than %d", l, size.Width)
				}
			}
			if size.Height >= 8 && !strings.Contains(m.screen(), reverse) {
				t.Errorf("%v, %s: no cursor in\n%s", size, key, m.screen())
			}
		}
	}
}

// TestLeave: q ends the run, and a second one leaves at once.
func TestLeave(t *testing.T) {
	ended := 0
	m := newModel(some, func() { ended++ })
	if cmd := m.press("q"); cmd != nil || ended != 1 {
		t.Errorf("ended %d times", ended)
	}
	check(t, m, "ending")
	if cmd := m.press("ctrl+c"); cmd == nil || ended != 1 {
		t.Error("a second one does not leave")
	}
}
