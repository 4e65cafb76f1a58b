package remote

import (
	"fmt"

	"gotap/engine/backend"
	"gotap/engine/linux/ptrace"
)

// reporter calls the callbacks of the configuration. The control's lock guards it, and is held during the callbacks.
type reporter struct {
	cfg     *backend.Config
	threads *threads
	warned  map[string]bool
}

// warn warns the user of something, once.
func (r *reporter) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if r.cfg.Warn != nil && !r.warned[text] {
		r.warned[text] = true
		r.cfg.Warn(text)
	}
}

// notify reports an event of the target.
func (r *reporter) notify(e backend.Event) {
	if r.cfg.Notify == nil {
		return
	}
	e.Time, e.Pid = ptrace.Now(), r.threads.pid()
	r.cfg.Notify(e)
}
