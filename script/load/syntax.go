package load

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"

	"gotap/compile/diag"
)

// parse parses one text. It reports only the first error of the parser, because the others usually follow from it.
func (f *File) parse() (*ast.Program, diag.List) {
	tree, err := parser.ParseFile(nil, f.Path, f.Source.Text, 0, parser.WithDisableSourceMaps)
	if err == nil {
		if f.joined {
			unwrap(tree)
		}
		return tree, nil
	}
	var list diag.List
	var all parser.ErrorList
	if !errors.As(err, &all) || len(all) == 0 {
		list.Errorf(f.Span(Base, Base), "", "cannot parse the script: %v", err)
		return nil, list
	}
	list = append(list, f.syntaxError(f.Offset(all[0].Position), all[0].Message))
	return nil, list
}

// unwrap removes the function around joined modules: their variables are the script's own.
func unwrap(tree *ast.Program) {
	if len(tree.Body) != 1 {
		return
	}
	stmt, _ := tree.Body[0].(*ast.ExpressionStatement)
	if stmt == nil {
		return
	}
	call, _ := stmt.Expression.(*ast.CallExpression)
	if call == nil {
		return
	}
	if arrow, ok := call.Callee.(*ast.ArrowFunctionLiteral); ok {
		if body, ok := arrow.Body.(*ast.BlockStatement); ok {
			tree.Body, tree.DeclarationList = body.List, arrow.DeclarationList
		}
	}
}

// CompileError explains an error that the JavaScript compiler finds after parsing.
func (f *File) CompileError(err error) diag.List {
	var syntax *goja.CompilerSyntaxError
	if errors.As(err, &syntax) && syntax.File != nil {
		return diag.List{f.syntaxError(syntax.Offset, syntax.Message)}
	}
	var list diag.List
	list.Errorf(f.Span(Base, Base), "", "cannot compile the script: %v", err)
	return list
}

// syntaxError returns a parser error in words for people.
func (f *File) syntaxError(offset int, message string) diag.Diagnostic {
	text, hint, start, end := explain(f.Source.Text, offset, message)
	if other := otherLanguage(f.Source.Text); other != "" {
		hint = other
	}
	return diag.Diagnostic{Span: f.Span(file.Idx(start+Base), file.Idx(end+Base)), Text: text, Hint: hint}
}

// The beginnings of scripts of other tracers.
var (
	likeBpftrace = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*(?:(?:uprobe|uretprobe|u|ur|usdt|kprobe|tracepoint|interval|profile|syscall):\S|(?:BEGIN|END)\s*\{)`)
	})
	likeSystemTap = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*probe\s+[\w.]+`) })
	likeDTrace    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*(?:pid\$target|pid\d+|syscall|profile|proc):\S*:`)
	})
)

// otherLanguage returns a hint for a script that was written for another tracer, or "" if it resembles none.
func otherLanguage(src string) string {
	name := ""
	switch {
	case likeDTrace().MatchString(src):
		name = "DTrace"
	case likeBpftrace().MatchString(src):
		name = "bpftrace"
	case likeSystemTap().MatchString(src):
		name = "SystemTap"
	default:
		return ""
	}
	return "this looks like a script of " + name + `: here it is JavaScript, as in probe("libc:malloc", c => log(c.arg0)); see gotap help language`
}

var afterAwait = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[^\w$.])await\s+$`) })

var word = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[\p{L}_$#][\p{L}\p{N}_$]*|[0-9][\w.]*|"[^"\n]*"?|'[^'\n]*'?|[=!<>]=+|=>|&&|\|\||\?\?|\.\.\.|.)`)
})

// explain improves the parser's terse messages; it returns the piece of text to point at.
func explain(src string, offset int, message string) (text, hint string, start, end int) {
	offset = max(0, min(offset, len(src)))
	token := word().FindString(src[offset:])
	start, end = offset, offset+len(token)
	switch {
	case strings.HasPrefix(message, "Unexpected end of input") || token == "" && strings.HasPrefix(message, "Unexpected"):
		at := len(strings.TrimRight(src, " \t\r\n"))
		return "unexpected end of the script", unclosed(src), at, at + 1
	case message == "Unexpected token ILLEGAL":
		return illegal(token), "", start, end
	case strings.HasPrefix(message, "Unexpected ") && afterAwait().MatchString(src[:offset]):
		at := strings.LastIndex(src[:offset], "await")
		return "await is not possible here", "callbacks run to their end; use every(…) or exit(…) to come back later", at, at + len("await")
	case strings.HasPrefix(message, "Unexpected ") && token == "import":
		return "import(…) is not possible here", `use import … from "./file.js" at the top, or require("./file.js")`, start, end
	case strings.HasPrefix(message, "Unexpected "):
		return "unexpected " + quoted(token), likely(src, offset, token), start, end
	case strings.HasPrefix(message, "Identifier '"):
		return strings.ToLower(message[:1]) + message[1:], "", start, end
	}
	return lowerFirst(clipped(message)), "", start, max(end, start+1)
}

// maxMessage is the maximum length of a parser message that is shown: some messages repeat the text that they are
// about.
const maxMessage = 300

// clipped truncates a message to maxMessage bytes.
func clipped(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + "…"
}

// lowerFirst makes the first letter of a parser message lower case, as in our messages.
func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return strings.ToLower(string(r)) + s[n:]
}

// quoted returns a token as messages show it; text has its own quotes.
func quoted(token string) string {
	if strings.HasPrefix(token, `"`) || strings.HasPrefix(token, "'") {
		return "text " + token
	}
	return `"` + token + `"`
}

// illegal describes a token that the parser cannot name.
func illegal(token string) string {
	if strings.HasPrefix(token, `"`) || strings.HasPrefix(token, "'") {
		return "this text has no closing quote on its line"
	}
	if strings.HasPrefix(token, "`") {
		return "this template has no closing backquote"
	}
	return "unexpected character " + quoted(token)
}

// likely guesses what is missing if a name, number or text follows something that is complete.
func likely(src string, offset int, token string) string {
	if token == ":" {
		return "types are for .ts files"
	}
	before := strings.TrimRight(src[:offset], " \t\r\n")
	if typeWord().MatchString(before) {
		return "types are for .ts files"
	}
	if before == "" || token == "" || strings.ContainsAny(token[:1], ")]};,.") {
		return ""
	}
	if last := before[len(before)-1]; strings.IndexByte(`)]}"'`, last) >= 0 || isWord(last) {
		return "is a comma, an operator or a semicolon missing before it?"
	}
	return ""
}

// typeWord matches the beginning of a TypeScript declaration.
var typeWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*(?:interface|type|enum|declare|namespace|abstract)$`)
})

// isWord reports whether a byte can be part of a name or number. Letters beyond ASCII are left to the parser.
func isWord(b byte) bool {
	return b == '_' || b == '$' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}

// unclosed names the innermost bracket that is still open at the end of a text. It skips quoted text and comments only
// roughly, because the result is just a hint.
func unclosed(src string) string {
	var open []int
	for i := 0; i < len(src); i++ {
		switch c := src[i]; c {
		case '(', '[', '{':
			open = append(open, i)
		case ')', ']', '}':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		case '"', '\'', '`':
			i = skipQuoted(src, i)
		case '/':
			i = skipComment(src, i)
		}
	}
	if len(open) == 0 {
		return ""
	}
	pos := diag.NewSource("", src).Position(open[len(open)-1])
	return `"` + src[open[len(open)-1]:][:1] + `" opened in line ` + strconv.Itoa(pos.Line) + " is not closed"
}

// skipQuoted returns the index of the closing quote.
func skipQuoted(src string, i int) int {
	quote := src[i]
	for i++; i < len(src) && src[i] != quote; i++ {
		if src[i] == '\\' {
			i++
		} else if src[i] == '\n' && quote != '`' {
			break
		}
	}
	return i
}

// skipComment returns the index of the last byte of a comment that begins at i, or i.
func skipComment(src string, i int) int {
	rest := src[i:]
	switch {
	case strings.HasPrefix(rest, "//"):
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			return i + n
		}
		return len(src)
	case strings.HasPrefix(rest, "/*"):
		if n := strings.Index(rest, "*/"); n >= 0 {
			return i + n + 1
		}
		return len(src)
	}
	return i
}
