package wire

import (
	"io"
	"time"
)

// helloTime is how long a session may take to describe itself.
const helloTime = 2 * time.Second

// Describe asks sessions of the directory to describe themselves, one after the other. Only the number is known of a
// session that does not answer within two seconds.
func (d *Dir) Describe(ids []int) []Session {
	var all []Session
	for _, id := range ids {
		s, err := d.hello(id)
		if err != nil {
			s = Session{ID: id, Script: "(does not answer)"}
		}
		all = append(all, s)
	}
	return all
}

func (d *Dir) hello(id int) (Session, error) {
	c, err := d.Connect(id)
	if err != nil {
		return Session{}, err
	}
	defer c.Close()
	var reply Reply
	if err := c.Send(Request{Version: Version, Verb: "session"}, helloTime); err != nil {
		return Session{}, err
	}
	if err := c.Receive(&reply, helloTime); err != nil {
		return Session{}, err
	}
	if reply.Session == nil {
		return Session{}, io.ErrUnexpectedEOF
	}
	return *reply.Session, nil
}
