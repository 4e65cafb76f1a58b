package load

import (
	"strings"
	"unicode/utf8"

	"gotap/compile/diag"
)

// The parsers descend once for each level of nesting, and what comes after them takes time that grows with its square or cube. Scripts
// that people write have some ten levels; those that programs write may have long chains of operators.
const (
	maxNesting = 500  // brackets, arrow functions and classes within each other
	maxChain   = 5000 // operators and statements that follow each other without an end: a + b + …, a.b.c…, else if … else if …

	// Arrow functions in the parameters of arrow functions, as in (a = (b = 1) => b) => a. A parser takes ( for an expression until
	// it meets =>, and then reads all of it again: each level takes twice the time.
	maxParameters = 10
)

// checkDepth refuses a text that is nested too deeply for the parsers. It splits the text into tokens roughly: where it takes one for
// another, as a regular expression for a division, it counts a few brackets wrongly.
func checkDepth(src *diag.Source) diag.List {
	s := depthScanner{text: src.Text, levels: []depthLevel{{}}}
	problem := s.scan()
	var list diag.List
	if problem != nil {
		list.Errorf(diag.Span{Source: src, Start: s.start, End: s.at}, problem.hint, problem.text, problem.limit)
	}
	return list
}

// A depthProblem is why a text is refused.
type depthProblem struct {
	text, hint string
	limit      int
}

var (
	tooNested  = &depthProblem{"the script is nested deeper than %d levels", "move the inner parts to functions or variables", maxNesting}
	tooDefault = &depthProblem{"more than %d arrow functions are in the parameters of each other", "give the inner ones names", maxParameters}
	tooChained = &depthProblem{"more than %d operators or statements depend on each other here", "split them up: use several statements, an array or a loop", maxChain}
)

// A depthScanner counts what is open at each token.
type depthScanner struct {
	text      string
	start, at int // the token
	levels    []depthLevel
	nested    int // nests of all levels
	chained   int // links of all levels

	// Of the token before.
	operand bool   // it ends an operand: a division can follow, and no regular expression
	word    string // the token itself, when it is a word
	sign    byte   // its last byte; 0: there is none
	newline bool   // there is an end of a line behind it
}

// A depthLevel is what is open between two brackets.
type depthLevel struct {
	bracket    byte // '(', '[', '{', '`' for the ${ of a template, 0 for the whole text
	literal    bool // a { of an object, whose commas separate
	declares   bool // a statement of declarations, whose commas separate
	namespace  bool // the name of a namespace, each part of which is one within the one before
	ended      byte // ';' or '}': the statement has ended, if the next token does not go on with it
	expression depthCount
	statement  depthCount
	parameters int // arrow functions in the parameters of each other, in what has been read
	closed     int // the same, in the brackets that closed last in this expression
}

// A depthCount is what a parser may have open of an expression, or of statements within each other.
type depthCount struct{ nests, links int }

func (s *depthScanner) top() *depthLevel { return &s.levels[len(s.levels)-1] }

// scan goes through the text; it stops at the token where a limit is exceeded.
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

// skipBlank goes to the next token.
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

// Words after which an operand comes, so that they do not end one.
var prefixWords = wordSet("return typeof case do else in of instanceof new void delete throw yield await extends keyof unique readonly infer asserts as satisfies is async")

// Words that go on with what stands before them.
var goesOn = wordSet("else catch finally while in of instanceof as satisfies extends implements from is")

// Words of statements that can have each other within them without brackets.
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

// begin is called for a token that begins an operand or a statement: what came before has ended, if this cannot go on with it.
func (s *depthScanner) begin(word string) {
	top := s.top()
	s.resume(word)
	if s.newline && s.operand && !goesOn[word] {
		s.drop(&top.expression)
		if top.declares, top.namespace = false, false; s.sign != ')' { // behind if (…) comes what it is for
			s.drop(&top.statement)
		}
	}
}

// resume checks whether a statement has ended: it has not if the next token continues it, such as else after a semicolon.
func (s *depthScanner) resume(word string) {
	top := s.top()
	if top.ended == ';' && word != "else" || top.ended == '}' && word != "" && !goesOn[word] {
		s.drop(&top.expression)
		s.drop(&top.statement)
		top.declares, top.namespace = false, false
	}
	top.ended = 0
}

// ends notes the token that has been read.
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
			s.count(&s.top().expression, 0, 1) // of a tagged one, which is a call
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

// longestOperator is how often a sign is repeated in one operator: >>>.
const longestOperator = 3

// operator reads a sign and its repetitions, as of &&, === and >>>; the signs that are operators one by one do not stand together.
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

// skipRegExp is the index behind a regular expression that begins at i.
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
