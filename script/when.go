package script

import (
	"regexp"

	"gotap/compile/js"
)

// ofReturn finds predicates that can only be decided when the function returns: those about its result, and those
// about what enter has noted.
var ofReturn = regexp.MustCompile(`\b(?:ret|elapsed|this)\b`)

// atReturn reports whether the predicate of a probe with these handlers is asked when the function returns. It is asked
// once for each call: as it is entered, so that calls it turns down cost no more, unless it cannot be decided then.
func atReturn(handlers map[js.HandlerKind]*js.Function) bool {
	when := handlers[js.When]
	return when != nil && handlers[js.Leave] != nil && ofReturn.MatchString(sourceOf(when))
}
