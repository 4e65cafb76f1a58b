package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"gotap/cmd/gotap/wire"
)

// A manager answers `gotap ctl` while a session runs. Its server calls answer on a goroutine for each client; the
// session's Control makes changes one after the other. A nil manager is that of a session without a socket.
type manager struct {
	r       *run
	id      int
	started time.Time
	server  *wire.Server
}

// manage opens the session's socket. If that fails, the session runs without a socket, except in the background,
// where nothing else could end it.
func (r *run) manage() error {
	m, err := newManager(r, wire.IdleTime)
	switch {
	case err == nil:
		r.manager = m
	case r.w.background != nil:
		return withStatus(statusFailure, fmt.Errorf("cannot run in the background: %w", err))
	case r.plan.verbose:
		r.note("gotap ctl will not find this session: %v", err)
	}
	return nil
}

// newManager serves clients; silent ones make room for others after idle.
func newManager(r *run, idle time.Duration) (*manager, error) {
	m := &manager{r: r, id: os.Getpid(), started: time.Now()}
	var err error
	if m.server, err = wire.NewServer(m.id, idle, m.reply); err != nil {
		return nil, err
	}
	go m.server.Serve()
	return m, nil
}

// reply does what is asked, and turns an error into a reply.
func (m *manager) reply(q wire.Request) wire.Reply {
	reply, err := m.answer(q)
	if err != nil {
		reply.Error = toCtlError(err)
	}
	return reply
}

// answer does what is asked. A panic must not end the session, whose probes would stay in the target.
func (m *manager) answer(q wire.Request) (reply wire.Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			reply, err = wire.Reply{}, withStatus(statusFailure, fmt.Errorf("cannot %s: internal error: %v", q.Verb, p))
		}
	}()
	if q.Version != wire.Version {
		return wire.Reply{}, withStatus(statusUsage, fmt.Errorf("this session speaks version %d of the protocol, not %d", wire.Version, q.Version))
	}
	do := ctlVerbs[q.Verb]
	if do == nil {
		return wire.Reply{}, withStatus(statusUsage, fmt.Errorf("a session has no verb %q", q.Verb))
	}
	return do(m, q)
}

func toCtlError(err error) *wire.Error {
	var b strings.Builder
	report(&b, err)
	text := strings.TrimSuffix(b.String(), "\n")
	if plain, own := strings.CutPrefix(text, "gotap: "); own {
		return &wire.Error{Text: strings.TrimSuffix(plain, "\nhint: "+hintOf(err)), Hint: hintOf(err), Status: statusOf(err)}
	}
	return &wire.Error{Text: text, Status: statusOf(err), Shown: true}
}

// close ends the socket: a request that is being answered is finished, then nothing is changed any more.
func (m *manager) close() {
	if m != nil {
		m.server.Close(m.r.session.Control().Freeze)
	}
}

// unlink removes the socket's name, for ends in a hurry too.
func (m *manager) unlink() {
	if m != nil {
		m.server.Unlink()
	}
}
