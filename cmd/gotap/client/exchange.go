package client

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/wire"
)

// awaitEnd waits until a session has ended, which closes the connection.
func awaitEnd(c *wire.Conn) error {
	var none wire.Reply
	if err := c.Receive(&none, endTime); errors.Is(err, os.ErrDeadlineExceeded) {
		return status.With(status.Failure, fmt.Errorf("the session is still ending after %v", endTime))
	}
	return nil
}

// Times of a client: for an answer, when something is inserted into a large program, and for a session to end.
const (
	answerTime = 60 * time.Second
	endTime    = 30 * time.Second
)

// Do finds the session, sends it a request and prints the answer.
func (c *Client) Do(q wire.Request) error { return c.do(q, nil) }

// Stop ends the session as Ctrl-C does, and waits until it has ended.
func (c *Client) Stop() error { return c.do(wire.Request{Verb: "stop"}, awaitEnd) }

// do is Do, and then calls then, which may be nil.
func (c *Client) do(q wire.Request, then func(*wire.Conn) error) error {
	conn, reply, err := c.exchange(q)
	if conn == nil {
		return err
	}
	defer conn.Close()
	if err == nil {
		err = c.print(q.Verb, reply)
	}
	if err == nil && then != nil {
		err = then(conn)
	}
	return err
}

// Exchange finds the session, sends it a request and returns the answer without printing it.
func (c *Client) Exchange(q wire.Request) (wire.Reply, error) {
	conn, reply, err := c.exchange(q)
	if conn != nil {
		conn.Close()
	}
	return reply, err
}

// exchange is Exchange with an open connection, or with nil, which means that no session runs. A session that ends
// while clients wait breaks their connections before it has read anything, so the request is sent once more, to the
// sessions there are then.
func (c *Client) exchange(q wire.Request) (conn *wire.Conn, reply wire.Reply, err error) {
	for range 2 {
		if conn, err = c.find(); err != nil {
			return nil, reply, err
		}
		if reply, err = Ask(conn, q); !errors.Is(err, unix.ECONNRESET) && !errors.Is(err, unix.EPIPE) {
			break
		}
		defer conn.Close()
	}
	return conn, reply, err
}

// Sessions prints the sessions of this user.
func (c *Client) Sessions() error {
	dir, ids, err := Live()
	if err != nil || dir == nil {
		return err
	}
	defer dir.Close()
	return c.printSessions(dir.Describe(ids))
}

// Ask sends a request and waits for the answer. A refusal is an error with the session's text,
// hint and exit status.
func Ask(c *wire.Conn, q wire.Request) (wire.Reply, error) {
	q.Version = wire.Version
	var reply wire.Reply
	err := c.Send(q, wire.RequestTime)
	if err == nil {
		err = c.Receive(&reply, answerTime)
	}
	switch {
	case errors.Is(err, unix.ECONNRESET), errors.Is(err, unix.EPIPE), errors.Is(err, io.EOF):
		return reply, status.Hinted(status.With(status.Target, fmt.Errorf("the session ended before it answered: %w", err)), "gotap ctl sessions lists those there are")
	case err != nil:
		return reply, status.With(status.Target, fmt.Errorf("cannot talk to the session: %w", err))
	case reply.Error != nil:
		return reply, status.With(reply.Error.Status, &refusal{reply.Error})
	case reply.Version != wire.Version:
		return reply, status.With(status.Failure, fmt.Errorf("the session speaks version %d of the protocol, this gotap version %d", reply.Version, wire.Version))
	}
	return reply, nil
}
