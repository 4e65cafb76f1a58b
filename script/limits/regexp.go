package limits

import (
	"time"

	"github.com/dlclark/regexp2/v2"
)

// Deadline is the usual deadline of a callback.
const Deadline = 2 * time.Second

// matchTime limits patterns with look-ahead or back-references, which are matched by backtracking: that can take for
// ever and cannot be interrupted. It ends some time after a callback's deadline, when an interrupt is already pending,
// so the callback ends there and never sees the result.
const matchTime = Deadline + 500*time.Millisecond

func init() { regexp2.DefaultMatchTimeout = matchTime }
