package script

import (
	"time"

	"github.com/dlclark/regexp2/v2"
)

// Patterns with look-ahead or back-references are matched by backtracking, which can take for ever and cannot be interrupted.
// Their engine gives up by itself some time after a callback's deadline: the interrupt is pending by then, so the callback ends
// there, and never sees the result.
const matchTime = defaultDeadline + 500*time.Millisecond

func init() { regexp2.DefaultMatchTimeout = matchTime }
