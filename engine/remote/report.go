package remote

import (
	"fmt"

	"gotap/engine/backend"
	"gotap/engine/report"
)

// reporter reports what happens to the target, whose process it names. The control's lock guards it.
type reporter struct {
	*report.Reporter
	threads *threads
}

// warn warns the user of something, once.
func (r *reporter) warn(format string, args ...any) { r.Warn(fmt.Sprintf(format, args...)) }

// notify reports an event of the target.
func (r *reporter) notify(e backend.Event) {
	e.Pid = r.threads.pid()
	r.Notify(e)
}
