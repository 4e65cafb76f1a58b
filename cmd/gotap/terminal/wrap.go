package terminal

import "strings"

// leastColumns is the narrowest terminal for which text is wrapped.
const leastColumns = 20

// mostColumns is how long lines are at most, for the eye.
const mostColumns = 140

// Wrap breaks a text of help into lines of a number of columns; 0 leaves it as it is. Lines that begin with a letter
// belong to paragraphs, which are wrapped as a whole. Other lines are examples and entries of tables, " --flag type
// what it does". Of those, Wrap breaks only the ones that are too long, and indents the rest of an entry to the column
// of its description.
func Wrap(text string, columns int) string {
	columns = min(columns, mostColumns)
	if columns < leastColumns {
		return text
	}
	var out, paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			out = append(out, fill(strings.Fields(strings.Join(paragraph, " ")), 0, 0, columns)...)
		}
		paragraph = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && line[0] != ' ' && line[0] != '\t' {
			paragraph = append(paragraph, line)
			continue
		}
		flush()
		if len([]rune(line)) <= columns {
			out = append(out, line)
			continue
		}
		out = append(out, entry(line, columns)...)
	}
	flush()
	return strings.Join(out, "\n")
}

// entry breaks a line that is indented.
func entry(line string, columns int) []string {
	words := strings.TrimLeft(line, " \t")
	indent := len(line) - len(words)
	gap := strings.LastIndex(words, "  ")
	found := gap >= 0
	name, about := strings.TrimRight(words[:max(gap, 0)], " "), words[gap+1:]
	hang := indent + len([]rune(words)) - len([]rune(strings.TrimLeft(about, " ")))
	switch {
	case !found:
		return fill(strings.Fields(words), indent, indent, columns)
	case hang <= columns/2:
		lines := fill(strings.Fields(about), hang, hang, columns)
		lines[0] = line[:indent] + name + strings.Repeat(" ", hang-indent-len([]rune(name))) + strings.TrimLeft(lines[0], " ")
		return lines
	}
	const below = 4 // an entry whose text would have no room beside it
	lines := fill(strings.Fields(name), indent, indent+below, columns)
	return append(lines, fill(strings.Fields(about), indent+below, indent+below, columns)...)
}

// fill puts words on lines, the first and the others indented. A word that is too long has a line of its own.
func fill(words []string, first, others, columns int) (lines []string) {
	line := strings.Repeat(" ", first)
	empty, used := true, first
	for _, w := range words {
		n := len([]rune(w))
		if !empty && used+1+n > columns {
			lines = append(lines, line)
			line, empty, used = strings.Repeat(" ", others), true, others
		}
		if !empty {
			line, used = line+" ", used+1
		}
		line, empty, used = line+w, false, used+n
	}
	return append(lines, line)
}
