package engine

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gotap/engine/place"
	"gotap/engine/testenv"
)

// TestSamples: the program computes what it computes without samples, and no call that sleeps notices them: none fails,
// and one with a time limit ends although it is looked at more often than that.
func TestSamples(t *testing.T) {
	for _, on := range []string{"cpu", "wall"} {
		t.Run(on, func(t *testing.T) {
			testenv.Require(t, testenv.Ptrace, testenv.GCC)
			w := newWorld(t, Config{Follow: FollowChildren})
			n := w.counter()
			w.probe("sample:"+on+"/1ms", Handlers{Enter: w.counts(n)})
			tg := w.launch(program(t, "sampled.c", "-pthread"), "3", "100", "2", "2")
			w.run()
			if out := tg.output(); out != "bad=0\n" {
				t.Errorf("the program said %q", out)
			}
			st := w.Query()[0]
			if want(t, "hits", int64(st.Hits), n.get()); n.get() < 10 {
				t.Errorf("%d samples", n.get())
			}
		})
	}
}

// TestSamplesEnd: detaching ends samples, and a process that was sampled goes on.
func TestSamplesEnd(t *testing.T) {
	t.Parallel()
	testenv.Require(t, testenv.Ptrace, testenv.GCC)
	cmd := exec.Command(program(t, "sampled.c", "-pthread"), "4", "300", "1", "2")
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		w := newWorld(t, Config{Follow: FollowThreads})
		n := w.counter()
		w.probe("sample:wall/1ms", Handlers{Enter: w.counts(n)})
		if err := w.Attach(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		ended := false
		for n.get() < 5 && !ended {
			select {
			case <-w.Done():
				ended = true
			case <-time.After(time.Millisecond):
			}
		}
		if err := w.Close(false); err != nil {
			t.Error(err)
		}
		if ended {
			break
		}
	}
	if err := cmd.Wait(); err != nil || out.String() != "bad=0\n" {
		t.Errorf("%v, and it said %q", err, out.String())
	}
}

// TestSampleHandlers: a sample has no other program than enter.
func TestSampleHandlers(t *testing.T) {
	testenv.Require(t, testenv.Ptrace)
	w := newWorld(t, Config{})
	var refused *place.RefusedError
	if _, err := w.tryProbe("sample:cpu/10ms", Handlers{Leave: w.counts(w.counter())}); !errors.As(err, &refused) {
		t.Errorf("leave: %v", err)
	}
}
