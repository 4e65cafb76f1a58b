package top

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"gotap/script/output/picture"
)

// redrawTime is how often the screen has new values.
const redrawTime = time.Second

// A model is what the screen shows and what the user has chosen. It implements tea.Model.
type model struct {
	look func() *picture.Picture // now
	stop func()                  // ends the run

	shown    *picture.Picture
	sections []section
	width    int
	height   int

	paused   bool
	stopping bool
	typing   bool   // the filter
	filter   string // rows with this text; "": all
	orders   map[string]order
	expanded map[string]bool // rows, by section and id
	at       int             // the row under the cursor, of all that are shown
	first    int             // the first line on the screen
}

// An order is the column that a section is sorted by.
type order struct {
	column int
	up     bool
}

func newModel(look func() *picture.Picture, stop func()) *model {
	m := &model{look: look, stop: stop, width: 80, height: 24, orders: map[string]order{}, expanded: map[string]bool{}}
	m.refresh()
	return m
}

// tick is the message that new values are due.
type tick struct{}

func nextTick() tea.Cmd { return tea.Tick(redrawTime, func(time.Time) tea.Msg { return tick{} }) }

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return nextTick() }

// refresh takes the values of now.
func (m *model) refresh() {
	m.shown = m.look()
	m.sections = sectionsOf(m.shown)
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tick:
		if !m.paused {
			m.refresh()
		}
		return m, nextTick()
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		if m.typing {
			return m, m.edit(msg)
		}
		return m, m.press(msg.String())
	}
	return m, nil
}

// press does what a key means.
func (m *model) press(key string) tea.Cmd {
	switch key {
	case "q", "ctrl+c":
		return m.leave()
	case "space", "p":
		m.paused = !m.paused
	case "/":
		m.typing = true
	case "esc":
		m.filter = ""
	case "s", "S", "r":
		m.sort(key)
	case "enter":
		if l, ok := m.current(); ok {
			m.expanded[l.id] = !m.expanded[l.id]
		}
	default:
		m.move(key)
	}
	return nil
}

// leave ends the run; the screen goes when the run has ended, or when the user asks again.
func (m *model) leave() tea.Cmd {
	if m.stopping {
		return tea.Quit
	}
	m.stopping = true
	m.stop()
	return nil
}

// move moves the cursor.
func (m *model) move(key string) {
	page := max(1, m.height-4)
	switch key {
	case "up", "k":
		m.at--
	case "down", "j":
		m.at++
	case "pgup":
		m.at -= page
	case "pgdown":
		m.at += page
	case "home", "g":
		m.at = 0
	case "end", "G":
		m.at = 1 << 30
	}
}

// edit changes the filter while it is typed.
func (m *model) edit(key tea.KeyPressMsg) tea.Cmd {
	switch key.String() {
	case "ctrl+c":
		return m.leave()
	case "enter":
		m.typing = false
	case "esc":
		m.typing, m.filter = false, ""
	case "backspace":
		if r := []rune(m.filter); len(r) > 0 {
			m.filter = string(r[:len(r)-1])
		}
	default:
		m.filter += key.Text
	}
	return nil
}

// sort sorts the section under the cursor by its next column, or the one before, or the other way round.
func (m *model) sort(key string) {
	l, ok := m.current()
	if !ok || l.section.fixed {
		return
	}
	o, n := m.orderOf(l.section), len(l.section.columns)
	switch key {
	case "s":
		o = order{column: (o.column + 1) % n}
	case "S":
		o = order{column: (max(o.column, 0) + n - 1) % n}
	case "r":
		o.up = !o.up
	}
	m.orders[l.section.title] = o
}

// orderOf returns the order of a section: what the user has chosen, the script's own order, or the largest value first.
func (m *model) orderOf(s *section) order {
	if o, ok := m.orders[s.title]; ok {
		return o
	}
	return order{column: s.bars}
}
