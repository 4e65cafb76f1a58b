package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// demoWord is the hidden first argument of the demonstration process.
const demoWord = "__demo"

// demoFunction is the demonstration's own function, as debug information and symbols name it.
const demoFunction = "work"

// demoTime is how long the demonstration lasts without -T: enough for a few lines of every("1s").
const demoTime = 3200 * time.Millisecond

// sizes is how many sizes of arguments the demonstration has: 1, 2, 4 and so on.
const sizes = 20

// runDemo returns the demonstration process, the target when the user names none. It calls the function work, which
// follows the C calling convention, with arguments of very different sizes, and now and then does one of demoDeeds, so that samples about
// files, connections, signals, failures and the C library have something to show.
func runDemo(lasts time.Duration) error {
	end := time.Now().Add(lasts)
	for round := 0; round < sizes || time.Now().Before(end); round++ { // on a busy machine too there is each size
		for i := range 10 {
			n := int64(1) << ((round + i) % sizes)
			if got := demoWork(n); got != 2*n+1 {
				return fmt.Errorf("work(%d) is %d: something changed the demonstration", n, got)
			}
		}
		if round%3 == 1 {
			demoDeeds[round/3%len(demoDeeds)]()
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// demoDeeds are what the demonstration does besides calling work; each is done once in the shortest run. What fails is left out: the
// demonstration runs everywhere.
var demoDeeds = []func(){
	func() { demoProgram("ls", "-l", "/") },
	demoFile,
	demoConnection,
	demoSignal,
	demoChecks,
	func() { demoProgram("sleep", "0.3") },
	func() { demoProgram("sh", "-c", "sleep 5 & kill $!; wait") },
}

// demoProgram runs a program and drops its output.
func demoProgram(argv ...string) { exec.Command(argv[0], argv[1:]...).Run() }

// demoFile writes a temporary file, reads it and removes it.
func demoFile() {
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

// demoConnection is a connection of the process with itself, on the loopback interface.
func demoConnection() {
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

// demoChecks calls check, which calls work and fails for large numbers.
func demoChecks() {
	for i := range sizes {
		demoCheck(1 << i)
	}
}

// demoSignal sends the process a signal that it ignores.
func demoSignal() { syscall.Kill(os.Getpid(), syscall.SIGWINCH) }

// demoCommand returns the command line of a demonstration that lasts so long.
func demoCommand(lasts time.Duration) (path string, argv []string, err error) {
	exe, err := ownProgram()
	return exe, []string{"gotap", demoWord, lasts.String()}, err
}

// demoOf returns how long the demonstration lasts; ok is false when the command line is not the demonstration's.
func demoOf(args []string) (lasts time.Duration, ok bool) {
	if len(args) != 2 || args[0] != demoWord {
		return 0, false
	}
	lasts, err := time.ParseDuration(args[1])
	return lasts, err == nil
}
