package fold

import (
	"regexp"
	"sync"

	"gotap/compile/js"
)

// ofReturn finds predicates that can only be decided when the function returns: they use its result, or what enter has
// stored.
var ofReturn = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:rets?|elapsed|this|fails)\b`) })

// AtReturn reports whether the predicate of a probe with these handlers runs when the function returns. It runs once
// for each call: if possible at its entry, so that rejected calls cost nothing more.
func AtReturn(handlers map[js.HandlerKind]*js.Function) bool {
	when := handlers[js.When]
	return when != nil && handlers[js.Leave] != nil && ofReturn().MatchString(sourceOf(when))
}
