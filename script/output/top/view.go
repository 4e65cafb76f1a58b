package top

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"gotap/compile/diag"
)

// SGR sequences; bubbletea leaves colours out where a terminal has none, or NO_COLOR is set.
const (
	bold    = "\x1b[1m"
	faint   = "\x1b[2m"
	reverse = "\x1b[7m"
	red     = "\x1b[31m"
	plain   = "\x1b[0m"
)

// A line of the screen. Lines with an id are rows, which the cursor can be on.
type line struct {
	text    string
	style   string
	id      string
	section *section
}

// lines returns all lines below the head.
func (m *model) lines() (all []line) {
	for i := range m.sections {
		s := &m.sections[i]
		o := m.orderOf(s)
		rows := s.arrange(m.filter, o.column, !o.up)
		if len(rows) == 0 && m.filter != "" {
			continue
		}
		widths := widthsOf(s, rows)
		all = append(all, line{text: fmt.Sprintf("%s (%d)", s.title, len(rows)), style: bold}, line{text: head(s, o, widths), style: faint})
		most := 0.0
		for _, r := range rows {
			if s.bars >= 0 {
				most = max(most, r.at(s.bars).number)
			}
		}
		for _, r := range rows {
			id := s.title + "\x00" + r.id
			all = append(all, line{text: m.rowText(s, r, widths, most), id: id, section: s})
			if m.expanded[id] {
				for _, d := range r.detail {
					all = append(all, line{text: "      " + d, style: faint})
				}
			}
		}
		all = append(all, line{})
	}
	return all
}

// current returns the row under the cursor, which is on a row whatever has gone.
func (m *model) current() (found line, ok bool) {
	var rows []line
	for _, l := range m.lines() {
		if l.id != "" {
			rows = append(rows, l)
		}
	}
	m.at = max(0, min(m.at, len(rows)-1))
	if len(rows) == 0 {
		return line{}, false
	}
	return rows[m.at], true
}

// Limits of the widths of columns.
const (
	widestCell = 60
	widestBar  = 40
)

// widthsOf returns the widths of the columns.
func widthsOf(s *section, rows []row) []int {
	widths := make([]int, len(s.columns))
	for i, c := range s.columns {
		widths[i] = ansi.StringWidth(c) + 2 // for the mark of the order
	}
	for _, r := range rows {
		for i := range widths {
			widths[i] = min(widestCell, max(widths[i], ansi.StringWidth(r.at(i).text)))
		}
	}
	return widths
}

// head returns the names of the columns, with a mark at the one that is sorted by.
func head(s *section, o order, widths []int) string {
	var b strings.Builder
	for i, c := range s.columns {
		if i == o.column && !s.fixed {
			c += map[bool]string{false: " v", true: " ^"}[o.up]
		}
		b.WriteString("  " + padded(c, widths[i], i > 0))
	}
	return b.String()
}

// rowText returns a row: its cells, and a bar when the section has bars.
func (m *model) rowText(s *section, r row, widths []int, most float64) string {
	var b strings.Builder
	for i := range widths {
		c := r.at(i)
		b.WriteString("  " + padded(c.text, widths[i], c.is))
	}
	text := b.String()
	if s.bars >= 0 && most > 0 {
		room := min(widestBar, m.width-ansi.StringWidth(text)-2)
		if n := int(r.at(s.bars).number / most * float64(room)); n > 0 && room > 4 {
			text += "  " + strings.Repeat("#", n)
		}
	}
	return text
}

// padded returns a text of a width, right is where a number stands.
func padded(text string, width int, right bool) string {
	text = ansi.Truncate(text, width, "~")
	blanks := strings.Repeat(" ", width-ansi.StringWidth(text))
	if right {
		return blanks + text
	}
	return text + blanks
}

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	return v
}

// screen returns the lines that the window has room for.
func (m *model) screen() string {
	m.current()
	all := m.lines()
	cursor, row := 0, 0
	for i, l := range all {
		if l.id == "" {
			continue
		}
		if row == m.at {
			cursor = i
		}
		row++
	}
	room := max(1, m.height-2)
	m.first = max(0, min(m.first, max(cursor-2, 0)), cursor-room+1)
	m.first = min(m.first, max(0, len(all)-room))
	out := []string{m.status()}
	for i := m.first; i < min(len(all), m.first+room); i++ {
		l := all[i]
		if i == cursor && l.id != "" {
			l.style = reverse
		}
		out = append(out, m.styled(l.text, l.style))
	}
	for len(out) < m.height-1 {
		out = append(out, "")
	}
	return strings.Join(append(out, m.styled(m.foot(), faint)), "\n")
}

func (m *model) styled(text, style string) string {
	text = ansi.Truncate(text, m.width, "")
	if style == "" || text == "" {
		return text
	}
	return style + text + plain
}

// status is the first line.
func (m *model) status() string {
	text := diag.Escape(m.shown.Title) + "  " + diag.Escape(m.shown.Target)
	switch {
	case m.stopping:
		text += "  ending"
	case m.paused:
		text += "  paused"
	}
	if m.filter != "" && !m.typing {
		text += "  only: " + diag.Escape(m.filter)
	}
	lost := uint64(0)
	for _, l := range m.shown.Losses {
		lost += l.Count
	}
	if lost == 0 {
		return m.styled(text, bold)
	}
	told := fmt.Sprintf("%d lost  ", lost)
	return red + ansi.Truncate(told, m.width, "") + plain + bold + ansi.Truncate(text, max(0, m.width-len(told)), "") + plain
}

// foot is the last line.
func (m *model) foot() string {
	switch {
	case m.typing:
		return "filter: " + diag.Escape(m.filter) + "_"
	case len(m.sections) == 0:
		return "nothing yet: tables and aggregations of the script appear here  q end"
	}
	return "q end  space pause  s sort  r reverse  / filter  enter stack  arrows move"
}
