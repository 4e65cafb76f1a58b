package engine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/opcode"
	rtoutcome "gotap/runtime/outcome"
	"gotap/runtime/record"
)

// logs is a program that logs its first argument.
func (w *world) logs() *runtime.Code {
	return w.code(runtime.Inst{Op: opcode.Item}, runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.LogInt}, runtime.Inst{Op: opcode.EndItem})
}

// records runs the session and calls fn with each record until it ends.
func (w *world) records(fn func(record.Record)) {
	w.t.Helper()
	if err := w.Start(); err != nil {
		w.t.Fatal(err)
	}
	for ended := false; !ended; {
		ended = !w.arena.Wait(w.Done())
		for rec, ok := w.arena.Next(); ok; rec, ok = w.arena.Next() {
			fn(rec)
		}
	}
}

// TestInlineRecords: all records of several threads arrive in the order in which each thread wrote them, with its
// number and name and a time that does not go back.
func TestInlineRecords(t *testing.T) {
	recordsOfThreads(t, inlineWorld(t, FollowThreads))
}

// recordsOfThreads lets four threads write 5000 records each, and checks what arrives.
func recordsOfThreads(t *testing.T, w *world) {
	tg := w.launch(program(t, "target.c"), "threads", "5000", "4")
	w.probe("work", Handlers{Enter: w.logs()})
	next, last := map[uint32]int64{}, map[uint32]uint64{}
	records := 0
	w.records(func(r record.Record) {
		records++
		v := r.Items[0].Values[0].Int
		if v < next[r.Tid] || r.Time < last[r.Tid] || int(r.Pid) != tg.pid || r.Tid == r.Pid || !strings.HasPrefix(string(r.Comm[:]), "target") {
			t.Fatalf("%+v after %d at %d", r, next[r.Tid]-1, last[r.Tid])
		}
		next[r.Tid], last[r.Tid] = v+1, r.Time
	})
	lost := int(w.arena.Lost()["ring full"])
	if records+lost != 20000 || len(next) != 4 {
		t.Errorf("%d records of %d threads, %d lost", records, len(next), lost)
	}
	if s := w.Stats(); s.Inline != 1 || lost == 0 && s.Hits > 10000 {
		t.Errorf("%+v", s)
	}
	want(t, "output", tg.output(), "threads bad=0\n")
}

// TestInlineWakes: a thread that rings because the reader of the ring sleeps goes on with the programs that follow at
// its place.
func TestInlineWakes(t *testing.T) {
	w := inlineWorld(t, FollowThreads)
	tg := w.launch(program(t, "target.c"), "threads", "20000", "1")
	for range 4 {
		w.probe("work", Handlers{Enter: w.logs()})
	}
	var last int64
	records := 0
	w.records(func(r record.Record) {
		if v := r.Items[0].Values[0].Int; v < last {
			t.Fatalf("%d after %d", v, last)
		} else {
			last = v
		}
		records++
	})
	want(t, "records", records+int(w.arena.Lost()["ring full"]), 4*20000)
	want(t, "output", tg.output(), "threads bad=0\n")
}

// TestInlineLeaveOnly: a placement that has nothing to run at the entry, where the displaced instructions may fault.
func TestInlineLeaveOnly(t *testing.T) {
	w := inlineWorld(t, FollowThreads)
	tg := w.launch(program(t, "target.c"), "threads", "30", "1")
	n := w.counter()
	w.probe("work", Handlers{Leave: w.counts(n)})
	w.probe("libc:m*", Handlers{Leave: w.counts(w.counter())})
	w.run()
	want(t, "leaves", n.get(), 30)
	want(t, "output", tg.output(), "threads bad=0\n")
}

// TestInlineKilledWriters: processes that are killed while they write records do not keep those of others from being
// read.
func TestInlineKilledWriters(t *testing.T) {
	w := inlineWorld(t, FollowChildren)
	tg := w.launch(program(t, "killed.c"), "12")
	w.probe("killed*:work", Handlers{Enter: w.logs()})
	seen := map[int64]int{}
	w.records(func(r record.Record) { seen[r.Items[0].Values[0].Int]++ })
	if seen[12] != 1 || len(seen) < 10 {
		t.Errorf("records by value: %v, lost %v", seen, w.arena.Lost())
	}
	want(t, "output", tg.output(), "bad=0\n")
}

// TestInlinePosed: a thread is not taken for the one that its own data begin with.
func TestInlinePosed(t *testing.T) {
	w := inlineWorld(t, FollowThreads)
	tg := w.launch(program(t, "posed.c"))
	w.probe("posed*:work", Handlers{Enter: w.logs()})
	seen := map[int64]int{}
	w.records(func(r record.Record) {
		v := r.Items[0].Values[0].Int
		seen[v]++
		if (r.Tid == r.Pid) != (v == 1) {
			t.Fatalf("%+v", r)
		}
	})
	if seen[1] != 1000 || seen[2] != 1000 || w.Stats().Inline != 1 {
		t.Errorf("%v, %+v", seen, w.Stats())
	}
	want(t, "output", tg.output(), "bad=0\n")
}

// TestInlineRecordsMapped: the process has mapped the pages of the ring before its first record, and none of them if it
// writes no records.
func TestInlineRecordsMapped(t *testing.T) {
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(page)
	if unix.Madvise(page, unix.MADV_POPULATE_WRITE) != nil {
		testenv.Lack(t, testenv.Populate)
	}
	large := func(w *world) *runtime.Code { // logs numbers that are too large to occur
		return w.code(runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.PushD, V: 1 << 60}, runtime.Inst{Op: opcode.Gt}, runtime.Inst{Op: opcode.Jz, A: 9},
			runtime.Inst{Op: opcode.Item}, runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.LogInt}, runtime.Inst{Op: opcode.EndItem}, runtime.Inst{Op: opcode.Exit, A: uint32(rtoutcome.ExitPlain)})
	}
	counts := func(w *world) *runtime.Code { return w.counts(w.counter()) }
	for name, code := range map[string]func(*world) *runtime.Code{"records": large, "none": counts} {
		t.Run(name, func(t *testing.T) {
			w := inlineWorld(t, FollowThreads)
			p := start(t, program(t, "target.c"), "spin", "1")
			if err := w.Attach(p.pid()); err != nil {
				t.Fatal(err)
			}
			w.probe("work", Handlers{Enter: code(w)})
			w.Start()
			eventually(t, "a jump", func() bool { return w.Stats().Inline == 1 })
			got, ring := mappedKiB(t, p.pid(), "gotap-arena"), int(w.arena.RingLayout().Size>>10)
			if all := got >= ring; all != (name == "records") {
				t.Errorf("%d KiB are mapped; the ring has %d KiB", got, ring)
			}
			w.Close(true)
			want(t, "target", p.end(), "spin bad=0")
		})
	}
}

// mappedKiB returns how much of the mappings of a file is present in a process, as the kernel tells it.
func mappedKiB(t *testing.T, pid int, file string) (sum int) {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps")
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for line := range strings.Lines(string(text)) {
		switch f := strings.Fields(line); {
		case strings.Contains(f[0], "-"):
			inside = strings.Contains(line, file)
		case inside && f[0] == "Rss:":
			n, _ := strconv.Atoi(f[1])
			sum += n
		}
	}
	return sum
}

// TestRecordsOfFaults: at an instruction that accesses memory, each call that returns has one record, however often the
// instruction has faulted before, and one that a handler of the fault abandons has none. The target counts.
func TestRecordsOfFaults(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	all := map[string]Engine{"inline": Inline}
	for name, e := range engines {
		all[name] = e
	}
	for name, e := range all {
		t.Run(name, func(t *testing.T) { recordsAtOperands(t, e, "200") })
	}
}

// TestInlineOperands is the same without faults: few calls stop.
func TestInlineOperands(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	const rounds = 2000
	s := recordsAtOperands(t, Inline, strconv.Itoa(rounds), "good")
	if s.Inline != 8 || s.Hits > 8*rounds/2 {
		t.Errorf("%+v", s)
	}
}

// recordsAtOperands counts the records at instructions that access memory.
func recordsAtOperands(t *testing.T, e Engine, args ...string) Stats {
	w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
	tg := w.launch(program(t, "operands.c"), args...)
	seen := map[uint32]int{}
	var ids []uint32
	for _, name := range strings.Fields("loads loads_indexed compares pushes stores stores_constant adds near_stack") {
		ids = append(ids, w.probe(name, Handlers{Enter: w.logs()}))
	}
	w.records(func(r record.Record) { seen[r.Probe]++ })
	got := ""
	for _, id := range ids {
		got += fmt.Sprint(seen[id], " ")
	}
	want(t, "records", got+"\n", tg.output())
	return w.Stats()
}
