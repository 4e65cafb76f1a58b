package symname

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// IsGlob reports whether a pattern has wildcards: "*", "?" or a set "[a-z]". "[]" is not a set, because it is in names
// of operators; neither are brackets with a dot, a star or a comma, because Go's generic functions have them:
// "Map[...]", "Map[go.shape.*]". A backslash makes the next character literal. Alternatives are written "{a,b}", and a
// regular expression "/^a.*/".
func IsGlob(pattern string) bool {
	if _, ok := expression(pattern); ok || len(alternatives(pattern)) > 1 {
		return true
	}
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '*', '?':
			return true
		case '[':
			if setLen(pattern[i:]) > 0 {
				return true
			}
		}
	}
	return false
}

// Glob reports whether a pattern matches a whole name. "*" matches anything, including separators of paths and scopes;
// "[!a]" and "[^a]" match all but a. A regular expression matches a part of a name.
func Glob(pattern, name string) bool {
	if text, ok := expression(pattern); ok {
		re := compiled(text)
		return re != nil && re.MatchString(name)
	}
	for _, one := range alternatives(pattern) {
		if globOne(one, name) {
			return true
		}
	}
	return false
}

// expression returns the regular expression of a pattern "/…/".
func expression(pattern string) (text string, ok bool) {
	if len(pattern) < 3 || pattern[0] != '/' || pattern[len(pattern)-1] != '/' {
		return "", false
	}
	return pattern[1 : len(pattern)-1], true
}

// CheckAlternatives returns the error of a pattern that stands for too many others, or nil.
func CheckAlternatives(pattern string) error {
	if _, ok := expression(pattern); ok {
		return nil
	}
	_, err := expand(pattern)
	return err
}

// CheckPattern returns the error of a pattern that is a regular expression, or nil.
func CheckPattern(pattern string) error {
	text, ok := expression(pattern)
	if !ok {
		return nil
	}
	_, err := regexp.Compile(text)
	return err
}

// expressions are the regular expressions that were compiled, by their text; a wrong one is nil.
var expressions sync.Map

// compiled returns a regular expression, or nil if it is wrong.
func compiled(text string) *regexp.Regexp {
	if re, ok := expressions.Load(text); ok {
		return re.(*regexp.Regexp)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		re = nil
	}
	expressions.Store(text, re)
	return re
}

// maxAlternatives bounds how many patterns one with braces stands for.
const maxAlternatives = 256

// errAlternatives reports a pattern that stands for more.
var errAlternatives = fmt.Errorf("the braces stand for more than %d patterns", maxAlternatives)

// alternatives returns the patterns that one with "{a,b}" stands for, in order; without braces it is the pattern alone.
func alternatives(pattern string) []string {
	all, _ := expand(pattern)
	return all
}

// expand is alternatives, and returns errAlternatives with the first of too many.
func expand(pattern string) (all []string, err error) {
	for todo := []string{pattern}; len(todo) > 0; {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		choices := choose(next)
		if len(choices) == 0 {
			all = append(all, next)
		}
		for _, one := range slices.Backward(choices) {
			todo = append(todo, one)
		}
		if len(all)+len(todo) > maxAlternatives { // each of them stands for one pattern at least
			return append(all, todo[len(todo)-1]), errAlternatives
		}
	}
	return all, nil
}

// choose returns a pattern with each of the alternatives of its first braces, which may contain further ones. Braces in
// names of closures, which contain no comma or have parentheses, are no alternatives.
func choose(pattern string) []string {
	open := strings.IndexByte(pattern, '{')
	if open < 0 || open > 0 && pattern[open-1] == '\\' {
		return nil
	}
	depth, from := 0, open+1
	var parts []string
	for i := open; i < len(pattern); i++ {
		switch pattern[i] {
		case '(', '#':
			return nil
		case '{':
			depth++
		case ',':
			if depth == 1 {
				parts = append(parts, pattern[from:i])
				from = i + 1
			}
		case '}':
			if depth--; depth > 0 {
				continue
			}
			if len(parts) == 0 {
				return nil
			}
			parts = append(parts, pattern[from:i])
			for k, part := range parts {
				parts[k] = pattern[:open] + part + pattern[i+1:]
			}
			return parts
		}
	}
	return nil
}

// globOne is Glob for a pattern without alternatives.
func globOne(pattern, name string) bool {
	p, n := 0, 0
	star, retry := -1, 0 // the last "*", and where in the name to try next
	// Only the last star is tried again, because it can match anything that an earlier one could. So the time is at
	// most the product of the lengths.
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			star, retry = p, n
			p++
			continue
		}
		if w := matchOne(pattern[p:], name[n]); w > 0 {
			p, n = p+w, n+1
			continue
		}
		if star < 0 {
			return false
		}
		retry++
		p, n = star+1, retry
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// matchOne matches one byte of a name. It returns the length of the pattern that matched, or 0.
func matchOne(pattern string, c byte) int {
	if pattern == "" {
		return 0
	}
	n, match := 1, pattern[0] == c
	switch pattern[0] {
	case '?':
		match = true
	case '\\':
		if len(pattern) > 1 {
			n, match = 2, pattern[1] == c
		}
	case '[':
		if set := setLen(pattern); set > 0 {
			n, match = set, inSet(pattern[1:set-1], c)
		}
	}
	if !match {
		return 0
	}
	return n
}

// setLen returns the length of the set "[…]" at the start of a pattern, or 0.
func setLen(pattern string) int {
	end := strings.IndexByte(pattern[1:], ']')
	if end <= 0 || strings.ContainsAny(pattern[1:end+1], ".*,") {
		return 0
	}
	return end + 2
}

// inSet reports whether a set, without its brackets, contains a byte.
func inSet(set string, c byte) bool {
	not := len(set) > 1 && (set[0] == '!' || set[0] == '^')
	if not {
		set = set[1:]
	}
	for i := 0; i < len(set); i++ {
		lo, hi := set[i], set[i]
		if i+2 < len(set) && set[i+1] == '-' {
			hi = set[i+2]
			i += 2
		}
		if lo <= c && c <= hi {
			return !not
		}
	}
	return not
}
