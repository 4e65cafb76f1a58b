package load

import (
	"strings"
	"unicode/utf8"

	"gotap/compile/diag"
)

// The parsers recurse once for each level of nesting, and the time of later stages grows with the square or the cube of
// that depth. Scripts written by people have about ten levels; those written by programs may have long chains of
// operators.
const (
	maxNesting = 500  // nested brackets, arrow functions and classes
	maxChain   = 5000 // operators and statements in an unbroken sequence: a + b + …, a.b.c…, else if … else if …

	// Arrow functions in the parameters of arrow functions, as in (a = (b = 1) => b) => a. A parser reads ( as the
	// start of an expression until it reaches =>, and then reads everything again: each level doubles the time.
	maxParameters = 10
)

// checkDepth refuses a text that is nested too deeply for the parsers. It splits the text into tokens roughly: if it
// mistakes one token for another, such as a regular expression for a division, it counts a few brackets wrongly.
func checkDepth(src *diag.Source) diag.List {
	s := depthScanner{text: src.Text, levels: []depthLevel{{}}}
	problem := s.scan()
	var list diag.List
	if problem != nil {
		list.Errorf(diag.Span{Source: src, Start: s.start, End: s.at}, problem.hint, problem.text, problem.limit)
	}
	return list
}

// A depthProblem is the reason why a text is refused.
type depthProblem struct {
	text, hint string
	limit      int
}

var (
	tooNested  = &depthProblem{"the script is nested deeper than %d levels", "move the inner parts to functions or variables", maxNesting}
	tooDefault = &depthProblem{"more than %d arrow functions are in the parameters of each other", "give the inner ones names", maxParameters}
	tooChained = &depthProblem{"more than %d operators or statements depend on each other here", "split them up: use several statements, an array or a loop", maxChain}
)

// A depthScanner counts the open constructs at each token.
type depthScanner struct {
	text      string
	start, at int // the current token
	levels    []depthLevel
	nested    int // nests in all levels
	chained   int // links in all levels

	// About the previous token.
	operand bool   // it ends an operand: a division can follow, but no regular expression
	word    string // the token itself, if it is a word
	sign    byte   // its last byte; 0 if there is no token
	newline bool   // a line end follows it
}

// A depthLevel holds the open constructs between two brackets.
type depthLevel struct {
	bracket    byte // '(', '[', '{', '`' for the ${ of a template, 0 for the whole text
	literal    bool // a { of an object, in which commas separate
	declares   bool // a statement of declarations, in which commas separate
	namespace  bool // the name of a namespace; each part is nested in the previous one
	ended      byte // ';' or '}': the statement has ended, unless the next token continues it
	expression depthCount
	statement  depthCount
	parameters int // arrow functions in the parameters of each other, so far
	closed     int // the same, in the brackets that closed last in this expression
}

// A depthCount counts what a parser may have open in an expression, or in nested statements.
type depthCount struct{ nests, links int }

func (s *depthScanner) top() *depthLevel { return &s.levels[len(s.levels)-1] }

// scan reads the text. It stops at the token that exceeds a limit.
func (s *depthScanner) scan() *depthProblem {
	for s.skipBlank(); s.at < len(s.text); s.skipBlank() {
		s.start = s.at
		s.token(s.text[s.at])
		switch {
		case s.nested+len(s.levels)-1 > maxNesting:
			return tooNested
		case s.top().parameters > maxParameters:
			return tooDefault
		case s.chained > maxChain:
			return tooChained
		}
	}
	return nil
}

// skipBlank advances to the next token.
func (s *depthScanner) skipBlank() {
	s.newline = false
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '\n' || c == '\r':
			s.newline = true
			s.at++
		case c == ' ' || c == '\t':
			s.at++
		case c == '/' && skipComment(s.text, s.at) != s.at:
			end := min(skipComment(s.text, s.at)+1, len(s.text))
			s.newline = s.newline || strings.ContainsAny(s.text[s.at:end], "\n")
			s.at = end
		default:
			return
		}
	}
}

// token reads a token and counts it.
func (s *depthScanner) token(c byte) {
	switch {
	case isWord(c) || c >= utf8.RuneSelf || c == '#' || c == '\\':
		s.readWord()
	case c == '"' || c == '\'':
		s.begin("")
		s.at = min(skipQuoted(s.text, s.at)+1, len(s.text))
		s.ends(true, "")
	case c == '`':
		s.resume("")
		s.at++
		s.template()
	case c == '/' && !s.operand:
		s.begin("")
		s.at = skipRegExp(s.text, s.at)
		s.ends(true, "")
	case strings.IndexByte("([{", c) >= 0:
		s.at++
		s.open(c)
	case strings.IndexByte(")]}", c) >= 0:
		s.at++
		s.close(c)
	case c == ';':
		s.at++
		s.resume("")
		s.top().ended = ';'
		s.ends(false, "")
	case c == ',':
		s.at++
		s.comma()
	default:
		s.operator(c)
	}
}

// Words that an operand follows, so they do not end one.
var prefixWords = wordSet("return typeof case do else in of instanceof new void delete throw yield await extends keyof unique readonly infer asserts as satisfies is async")

// Words that continue the preceding text.
var goesOn = wordSet("else catch finally while in of instanceof as satisfies extends implements from is")

// Words of statements that can be nested without brackets.
var statementWords = wordSet("if else for while do with")

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// readWord reads a name, a keyword or a number.
func (s *depthScanner) readWord() {
	for s.at < len(s.text) && (isWord(s.text[s.at]) || s.text[s.at] >= utf8.RuneSelf || s.text[s.at] == '#' || s.text[s.at] == '\\') {
		s.at++
	}
	word := s.text[s.start:s.at]
	s.begin(word)
	top := s.top()
	switch {
	case statementWords[word]:
		s.count(&top.statement, 0, 1)
	case word == "class":
		s.count(&top.expression, 1, 1)
	case word == "case":
		s.drop(&top.expression)
		s.drop(&top.statement)
	case prefixWords[word]:
		s.count(&top.expression, 0, 1)
	case word == "let" || word == "var" || word == "const":
		top.declares = true
	case s.word == "namespace" || s.word == "module":
		top.namespace = true
	}
	s.ends(!prefixWords[word] && !statementWords[word], word)
}

// begin handles a token that begins an operand or a statement: the preceding statement has ended unless this token can
// continue it.
func (s *depthScanner) begin(word string) {
	top := s.top()
	s.resume(word)
	if s.newline && s.operand && !goesOn[word] {
		s.drop(&top.expression)
		if top.declares, top.namespace = false, false; s.sign != ')' { // the statement follows if (…)
			s.drop(&top.statement)
		}
	}
}

// resume checks whether a statement has ended. It has not if the next token continues it, such as else after a
// semicolon.
func (s *depthScanner) resume(word string) {
	top := s.top()
	if top.ended == ';' && word != "else" || top.ended == '}' && word != "" && !goesOn[word] {
		s.drop(&top.expression)
		s.drop(&top.statement)
		top.declares, top.namespace = false, false
	}
	top.ended = 0
}

// ends records the token that has been read.
func (s *depthScanner) ends(operand bool, word string) {
	s.operand, s.word, s.sign = operand, word, s.text[s.at-1]
}

func (s *depthScanner) count(c *depthCount, nests, links int) {
	c.nests, c.links = c.nests+nests, c.links+links
	s.nested, s.chained = s.nested+nests, s.chained+links
}

func (s *depthScanner) drop(c *depthCount) {
	s.top().closed = 0
	s.nested, s.chained = s.nested-c.nests, s.chained-c.links
	*c = depthCount{}
}

// open begins a level.
func (s *depthScanner) open(bracket byte) {
	s.resume("")
	literal := bracket == '[' || bracket == '{' && (s.sign == 0 || s.word == "return" || strings.IndexByte("=(,[:?&|+", s.sign) >= 0)
	s.top().namespace = false
	s.count(&s.top().expression, 0, 1)
	s.levels = append(s.levels, depthLevel{bracket: bracket, literal: literal})
	s.ends(false, "")
}

// close ends a level, whichever bracket closes it: the parser reports brackets that do not match.
func (s *depthScanner) close(bracket byte) {
	if len(s.levels) == 1 {
		s.ends(true, "")
		return
	}
	top := s.top()
	s.drop(&top.expression)
	s.drop(&top.statement)
	opened, parameters := top.bracket, top.parameters
	s.levels = s.levels[:len(s.levels)-1]
	s.top().parameters, s.top().closed = max(s.top().parameters, parameters), parameters
	if opened == '`' && bracket == '}' {
		s.template()
		return
	}
	if bracket == '}' {
		s.top().ended = '}'
	}
	s.ends(true, "")
}

// comma ends an expression of a list. In other places it is an operator.
func (s *depthScanner) comma() {
	top := s.top()
	s.resume("")
	if top.literal || top.declares {
		s.drop(&top.expression)
	} else {
		s.count(&top.expression, 0, 1)
	}
	top.closed = 0
	s.ends(false, "")
}

// template reads the text of a template up to its end, or to the next ${.
func (s *depthScanner) template() {
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '`':
			s.at++
			s.count(&s.top().expression, 0, 1) // of a tagged template, which is a call
			s.ends(true, "")
			return
		case '$':
			if strings.HasPrefix(s.text[s.at:], "${") {
				s.at += 2
				s.levels = append(s.levels, depthLevel{bracket: '`'})
				s.ends(false, "")
				return
			}
		}
	}
	s.at = min(s.at, len(s.text))
}

// longestOperator is the maximum number of times that a sign is repeated in one operator: >>>.
const longestOperator = 3

// operator reads a sign and its repetitions, as in &&, === and >>>. Signs that are operators of one character are never
// adjacent.
func (s *depthScanner) operator(c byte) {
	if c == '@' { // the decorator of a class
		s.begin("@")
	}
	top := s.top()
	top.ended = 0
	if strings.HasPrefix(s.text[s.at:], "=>") {
		s.at += 2
		s.count(&top.expression, 1, 1)
		top.parameters = max(top.parameters, top.closed+1)
		top.closed = 0
		s.ends(false, "")
		return
	}
	for s.at++; c != '!' && c != '~' && s.at < len(s.text) && s.text[s.at] == c && s.at < s.start+longestOperator; s.at++ {
	}
	nests := 0
	if c == '.' && top.namespace {
		nests = 1
	}
	s.count(&top.expression, nests, 1)
	s.ends(s.operand && (c == '+' || c == '-') && s.at == s.start+2, "") // x++ ends an operand
}

// skipRegExp returns the index after a regular expression that begins at i.
func skipRegExp(src string, i int) int {
	class := false
	for i++; i < len(src) && src[i] != '\n'; i++ {
		switch c := src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			return i + 1
		}
	}
	return min(i, len(src))
}
