package main

import (
	"fmt"
	"os/exec"
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
// follows the C calling convention, with arguments of very different sizes, and now and then runs small programs of the
// system, one that works and one that sleeps, so that samples about libc have something to show.
func runDemo(lasts time.Duration) error {
	end := time.Now().Add(lasts)
	programs := [][]string{{"ls", "-l", "/"}, {"sleep", "0.3"}}
	for round := 0; round < sizes || time.Now().Before(end); round++ { // on a busy machine too there is each size
		for i := range 10 {
			n := int64(1) << ((round + i) % sizes)
			if got := demoWork(n); got != 2*n+1 {
				return fmt.Errorf("work(%d) is %d: something changed the demonstration", n, got)
			}
		}
		if round%12 == 4 {
			argv := programs[round/12%len(programs)]
			exec.Command(argv[0], argv[1:]...).Run() // its output is dropped; it may be missing
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

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
