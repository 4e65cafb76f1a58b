package output

import (
	"strings"

	"gotap/compile/diag"
)

// Colours are those of ECMA-48 (SGR) that every terminal has.
const (
	red, yellow, green, cyan = "\x1b[1;31m", "\x1b[1;33m", "\x1b[32m", "\x1b[36m"
	plain                    = "\x1b[0m"
)

// Paint colours the text of diagnostics: the word error or warning, the carets, and the word hint. The text without the
// colours is what it was.
func Paint(list ...diag.Diagnostic) string {
	var b strings.Builder
	for _, d := range list {
		for line := range strings.Lines(d.String()) {
			b.WriteString(paintLine(d, line))
		}
	}
	return b.String()
}

func paintLine(d diag.Diagnostic, line string) string {
	word, colour, message := "error: ", red, diag.Escape(d.Text)
	if d.Severity == diag.Warning {
		word, colour = "warning: ", yellow
	}
	text := strings.TrimSuffix(line, "\n")
	end := line[len(text):]
	switch {
	case strings.HasSuffix(text, word+message):
		at := len(text) - len(word+message)
		return text[:at] + colour + strings.TrimSuffix(word, " ") + plain + " " + message + end
	case strings.HasPrefix(text, "hint: "):
		return cyan + "hint:" + plain + text[len("hint:"):] + end
	case text != "" && strings.Trim(text, " \t^") == "" && strings.Contains(text, "^"):
		at := strings.IndexByte(text, '^')
		return text[:at] + green + text[at:] + plain + end
	}
	return line
}
