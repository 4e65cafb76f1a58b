package load

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"gotap/compile/diag"
)

// Version is the version of the script language, which a script may request with the line "// @gotap 1".
const Version = "1"

var versionLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t]*//[ \t]*@gotap[ \t]+(\S+)`) })

// checkText refuses a text that cannot be a script before a parser sees it.
func checkText(src *diag.Source) diag.List {
	var list diag.List
	if at := badByte(src.Text); at >= 0 {
		list.Errorf(diag.Span{Source: src, Start: at, End: at + 1}, badByteHint(src.Text),
			"the file is not UTF-8 text")
		return list
	}
	if at := strings.IndexByte(src.Text, 0); at >= 0 {
		list.Errorf(diag.Span{Source: src, Start: at, End: at + 1}, "is it a binary file?", "the script holds a NUL byte")
		return list
	}
	head := src.Text[:codeStart(src.Text)]
	if m := versionLine().FindStringSubmatchIndex(head); m != nil && head[m[2]:m[3]] != Version {
		list.Errorf(diag.Span{Source: src, Start: m[2], End: m[3]}, "this gotap speaks version "+Version,
			"the script asks for version %s of the language", head[m[2]:m[3]])
		return list
	}
	return checkDepth(src)
}

// badByte returns the offset of the first byte that is not UTF-8, or -1.
func badByte(text string) int {
	if utf8.ValidString(text) {
		return -1
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// badByteHint recognises a text in another encoding, the usual reason, by its byte order mark.
func badByteHint(text string) string {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return "it looks like UTF-16: save it as UTF-8"
	}
	if strings.HasPrefix(text, "\x7fELF") {
		return "this is a program: gotap run SCRIPT -- PROGRAM traces one"
	}
	return "save it as UTF-8"
}

var (
	spaceOrComment = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:[\s\x{feff}]+|//[^\n]*|/\*(?s:.*?)\*/|#![^\n]*)+`)
	})
	moduleSyntax = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^[ \t]*(?:import[ \t]*["'{*]|import[ \t]+[\w$]|export[ \t]*[{*]|export[ \t]+\w)`)
	})
	commonJS       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:exports|require)\b`) })
	propertyEscape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\[pP]\{`) })
)

// codeStart returns the offset of the end of the comments at the start of a script.
func codeStart(text string) int { return len(spaceOrComment().FindString(text)) }

// IsEmpty reports whether a text has nothing but comments.
func IsEmpty(text string) bool { return codeStart(text) == len(text) }

// hasModules reports whether a text seems to have import or export declarations. A line of a template that looks like
// one only costs a pass through esbuild.
func hasModules(text string) bool { return moduleSyntax().MatchString(text) }

// isCommonJS reports whether a text is a CommonJS module. A text without exports is not one, so that importing a name
// from it is an error.
func isCommonJS(text string) bool { return !hasModules(text) && commonJS().MatchString(text) }

// BadRegExp reports a pattern with a property escape: the JavaScript machine accepts these and silently never matches.
func BadRegExp(pattern string) bool { return propertyEscape().MatchString(pattern) }
