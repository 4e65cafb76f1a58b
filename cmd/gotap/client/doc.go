// Package client is the side of `gotap ctl` that asks: it finds a session of this user, sends it a request and prints
// the answer.
//
// # One request
//
// Do looks for the session: the only one that has a socket in this user's directory (wire.Dir), or the one that Session
// names. It sends the request and waits for the reply (Ask), up to a minute, because inserting a script into a large
// program takes time. The reply is printed as text or JSON. What a session refuses is an error with the session's own
// text, hint and exit status; Report prints it.
//
// A Client has no goroutines of its own and belongs to one.
package client

import (
	"io"

	"gotap/compile/diag"
)

// A Client asks sessions and prints what they answer.
type Client struct {
	Session int  // the process that traces, or that the user started; 0: the only session
	JSON    bool // answers and errors are JSON, an object a line; otherwise text
	Quiet   bool // text without notes on what was done

	Stdout, Stderr io.Writer // answers; notes and errors
}

// out is standard output for text with names from targets and files.
func (c *Client) out() io.Writer { return diag.Escaper{W: c.Stdout} }

// errs is standard error for such text.
func (c *Client) errs() io.Writer { return diag.Escaper{W: c.Stderr} }
