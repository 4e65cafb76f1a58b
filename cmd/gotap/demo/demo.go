// Package demo is the demonstration: a process that a script can probe when the user names none.
//
// It runs in a process of its own, in one thread that calls work again and again. Its functions are named in symbols as
// below; work and check follow the C calling convention on amd64, and are Go functions elsewhere.
package demo

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// word is the hidden first argument of the demonstration process.
const word = "__demo"

// Time is how long the demonstration lasts without -T: enough for a few lines of every("1s").
const Time = 3200 * time.Millisecond

// sizes is how many sizes of arguments the demonstration has: 1, 2, 4 and so on.
const sizes = 20

// Run is the demonstration process. It calls the function work with arguments of very different sizes, and now and then
// does one of deeds, so that samples about files, connections, signals, failures and the C library have something to
// show. It returns after the time, or with an error if a result was changed.
func Run(lasts time.Duration) error {
	end := time.Now().Add(lasts)
	for round := 0; round < sizes || time.Now().Before(end); round++ { // on a busy machine too there is each size
		for i := range 10 {
			n := int64(1) << ((round + i) % sizes)
			if got := callWork(n); got != 2*n+1 {
				return fmt.Errorf("work(%d) is %d: something changed the demonstration", n, got)
			}
		}
		if round%3 == 1 {
			deeds[round/3%len(deeds)]()
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// deeds are what the demonstration does besides calling work; each is done once in the shortest run. What fails is left
// out: the demonstration runs everywhere.
var deeds = []func(){
	func() { program("ls", "-l", "/") },
	file,
	connection,
	signal,
	checks,
	func() { program("sleep", "0.3") },
	func() { program("sh", "-c", "sleep 5 & kill $!; wait") },
}

// program runs a program and drops its output.
func program(argv ...string) { exec.Command(argv[0], argv[1:]...).Run() }

// file writes a temporary file, reads it and removes it.
func file() {
	f, err := os.CreateTemp("", "gotap-demonstration-")
	if err != nil {
		return
	}
	defer os.Remove(f.Name())
	defer f.Close()
	f.Write(make([]byte, 5000))
	f.Seek(0, io.SeekStart)
	io.Copy(io.Discard, f)
}

// connection is a connection of the process with itself, on the loopback interface.
func connection() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return
	}
	defer listener.Close()
	out, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return
	}
	defer out.Close()
	in, err := listener.Accept()
	if err != nil {
		return
	}
	defer in.Close()
	if _, err := out.Write([]byte("a few words\n")); err == nil {
		in.Read(make([]byte, 100))
	}
}

// checks calls check, which calls work and fails for large numbers.
func checks() {
	for i := range sizes {
		callCheck(1 << i)
	}
}

// signal sends the process a signal that it ignores.
func signal() { syscall.Kill(os.Getpid(), syscall.SIGWINCH) }

// Command returns the command line of a demonstration that lasts so long.
func Command(lasts time.Duration) (argv []string) { return []string{"gotap", word, lasts.String()} }

// Of returns how long the demonstration lasts; ok is false when the command line is not the demonstration's.
func Of(args []string) (lasts time.Duration, ok bool) {
	if len(args) != 2 || args[0] != word {
		return 0, false
	}
	lasts, err := time.ParseDuration(args[1])
	return lasts, err == nil
}
