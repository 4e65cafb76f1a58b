package report

import (
	"gotap/engine/backend"
	"gotap/engine/linux/ptrace"
)

// Reporter calls the callbacks of one session.
type Reporter struct {
	cfg  *backend.Config
	said map[string]bool // the warnings that were given
}

// New returns a Reporter. Callbacks that are nil are not called.
func New(cfg *backend.Config) *Reporter { return &Reporter{cfg: cfg, said: map[string]bool{}} }

// Warn reports a text, once.
func (r *Reporter) Warn(text string) {
	if r.cfg.Warn != nil && !r.said[text] {
		r.said[text] = true
		r.cfg.Warn(text)
	}
}

// WarnOf warns of an error, if there is one.
func (r *Reporter) WarnOf(err error) {
	if err != nil {
		r.Warn(err.Error())
	}
}

// Notify reports an event that happens now.
func (r *Reporter) Notify(e backend.Event) {
	if r.cfg.Notify != nil {
		e.Time = ptrace.Now()
		r.cfg.Notify(e)
	}
}
