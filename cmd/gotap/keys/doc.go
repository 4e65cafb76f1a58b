// Package keys reads single keys from the user's terminal while a session runs.
//
// Reader switches the terminal to noncanonical mode without echo, and back when it is closed. Signals of the terminal
// (Ctrl-C, Ctrl-Z) stay signals. While gotap is in the background of its shell it neither reads nor changes the mode;
// when it returns to the foreground it sets the mode again. Restore sets the mode back for a process that was killed
// before it could.
//
// A Reader has one goroutine, from Open to Close, which calls the function for each key.
package keys
