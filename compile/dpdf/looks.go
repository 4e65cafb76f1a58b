package dpdf

import (
	"slices"
	"strings"
)

// Looks reports whether a text whose file name says nothing is a definition file: what it says first is a keyword and
// its value, or a line of the preprocessor. A script can begin neither way, except that it could assign to a variable
// it never declared, and then it would end the line as scripts do.
func Looks(text string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(withoutComments(text)), "\n")
	if directive, ok := strings.CutPrefix(first, "#"); ok {
		words := strings.Fields(directive)
		return len(words) > 0 && slices.Contains(directiveNames, words[0])
	}
	key, value, ok := strings.Cut(first, "=")
	if !ok || strings.HasPrefix(value, "=") || strings.HasPrefix(value, ">") || strings.HasSuffix(strings.TrimSpace(value), ";") {
		return false
	}
	key = strings.TrimSpace(key)
	return headerKeys[key] != nil || probeKeys[key] != nil || key == "offset" || key == "address"
}

// directiveNames are the preprocessor's words that can come first. The #! of a script is not one.
var directiveNames = []string{"define", "undef", "include", "if", "ifdef", "ifndef", "error", "warning", "pragma"}

// withoutComments leaves out the comments that a text begins with.
func withoutComments(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\r\n\ufeff")
		var found bool
		switch {
		case strings.HasPrefix(text, "//"):
			_, text, found = strings.Cut(text, "\n")
		case strings.HasPrefix(text, "/*"):
			_, text, found = strings.Cut(text, "*/")
		default:
			return text
		}
		if !found {
			return ""
		}
	}
}
