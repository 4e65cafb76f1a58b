// Package status defines the exit statuses of gotap, the errors that carry one, and how an error is printed.
//
// A command returns an error. With attaches the exit status to it, Hinted what the user can do about it; both keep the
// error itself for errors.Is and errors.As. Of and HintOf read them back, however deep they are wrapped. Print writes
// the error to standard error once, at the end of the command line.
//
// All functions are safe for concurrent use.
package status
