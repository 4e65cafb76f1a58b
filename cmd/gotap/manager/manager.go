package manager

import (
	"fmt"
	"os"
	"strings"
	"time"

	"gotap"
	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/wire"
)

// Config is what a manager answers for. Session and Insertion are required.
type Config struct {
	Session    *gotap.Session
	Script     string        // its name, as the user knows it
	Command    []string      // the traced program and its arguments, if the session started one
	Supervisor int           // the process that the user started, when this is another; otherwise 0
	Idle       time.Duration // how long a client may be silent while others wait for its place

	// Insertion turns a request to insert a script into what the session understands. An error is wrong usage.
	Insertion func(*wire.Script) (gotap.Insertion, error)
}

// A Manager answers `gotap ctl` while a session runs. A nil Manager is that of a session without a socket. Its methods
// are safe for concurrent use.
type Manager struct {
	Config
	id      int
	started time.Time
	server  *wire.Server
}

// Start opens the socket of this process's session and serves clients until Close.
func Start(c Config) (*Manager, error) {
	m := &Manager{Config: c, id: os.Getpid(), started: time.Now()}
	var err error
	if m.server, err = wire.NewServer(m.id, c.Idle, m.reply); err != nil {
		return nil, err
	}
	go m.server.Serve()
	return m, nil
}

// reply does what is asked, and turns an error into a reply.
func (m *Manager) reply(q wire.Request) wire.Reply {
	reply, err := m.answer(q)
	if err != nil {
		reply.Error = refusal(err)
	}
	return reply
}

// answer does what is asked. A panic must not end the session, whose probes would stay in the target.
func (m *Manager) answer(q wire.Request) (reply wire.Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			reply, err = wire.Reply{}, status.With(status.Failure, fmt.Errorf("cannot %s: internal error: %v", q.Verb, p))
		}
	}()
	if q.Version != wire.Version {
		return wire.Reply{}, status.With(status.Usage, fmt.Errorf("this session speaks version %d of the protocol, not %d", wire.Version, q.Version))
	}
	do := verbs[q.Verb]
	if do == nil {
		return wire.Reply{}, status.With(status.Usage, fmt.Errorf("a session has no verb %q", q.Verb))
	}
	return do(m, q)
}

// refusal returns an error as it is sent.
func refusal(err error) *wire.Error {
	var b strings.Builder
	status.Print(&b, err)
	text := strings.TrimSuffix(b.String(), "\n")
	if plain, own := strings.CutPrefix(text, "gotap: "); own {
		return &wire.Error{Text: strings.TrimSuffix(plain, "\nhint: "+status.HintOf(err)), Hint: status.HintOf(err), Status: status.Of(err)}
	}
	return &wire.Error{Text: text, Status: status.Of(err), Shown: true}
}

// Close ends the socket: a request that is being answered is finished, then nothing is changed any more.
func (m *Manager) Close() {
	if m != nil {
		m.server.Close(m.Session.Control().Freeze)
	}
}

// Unlink removes the socket's name, for ends in a hurry too.
func (m *Manager) Unlink() {
	if m != nil {
		m.server.Unlink()
	}
}
