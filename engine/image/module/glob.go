package module

import "strings"

// IsGlob reports whether a pattern has wildcards: "*", "?" or a set "[a-z]". "[]" is not a set, because it is in names
// of operators; neither are brackets with a dot, a star or a comma, because Go's generic functions have them:
// "Map[...]", "Map[go.shape.*]". A backslash makes the next character literal.
func IsGlob(pattern string) bool {
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
// "[!a]" and "[^a]" match all but a.
func Glob(pattern, name string) bool {
	p, n := 0, 0
	star, retry := -1, 0 // the last "*", and where in the name to try next
	// Only the last star is tried again, because it can match anything that an earlier one could. So the time is at most
	// the product of the lengths.
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
