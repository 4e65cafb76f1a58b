package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime/opcode"
)

// TestRandomPrograms makes programs of functions that call each other, jump to each other at their ends, call by
// pointers and leave by longjmp, in several threads and in signal handlers. A program counts its own calls and returns
// and adds up its results, and prints that: probes have to have seen the same.
func TestRandomPrograms(t *testing.T) {
	t.Parallel()
	builds := [][]string{{"-O2"}, {"-O0"}, {"-Os", "-no-pie"}, append([]string{"-O2"}, variants["32"]...), {"-O3", "-fcf-protection=full"}, {"-O1", "-static"}}
	for seed := range uint64(scaled(12, 100)) {
		flags := builds[seed%uint64(len(builds))]
		t.Run(fmt.Sprintf("%d %s", seed, flags[0]), func(t *testing.T) {
			testenv.Require(t, testenv.AMD64, testenv.GCC, testenv.Ptrace)
			if len(flags) > 2 {
				testenv.Require(t, testenv.M32, testenv.IA32)
			}
			g := &generator{Rand: rand.New(rand.NewPCG(seed, 2)), n: 12}
			g.run(t, []Engine{Auto, Emulate, Step}[g.IntN(3)], flags)
		})
	}
}

// generator makes one program.
type generator struct {
	*rand.Rand
	n int // functions
}

// run builds the program, runs it under probes, and compares.
func (g *generator) run(t *testing.T, e Engine, flags []string) {
	source := filepath.Join(t.TempDir(), "random.c")
	if err := os.WriteFile(source, []byte(g.source()), 0o600); err != nil {
		t.Fatal(err)
	}
	path := builtWith(t, testenv.GCC, strings.ReplaceAll(t.Name(), "/", "_"), append([]string{"gcc", "-w", "-pthread", "-o", "OUT", source}, flags...)...)
	w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
	tg := w.launch(path)
	var calls, leaves, results []*counter
	for i := range g.n {
		c, l, r := w.counter(), w.counter(), w.counter()
		f := fmt.Sprintf("f%d", i)
		w.probe(f, Handlers{Enter: w.counts(c), Leave: w.counts(l)})
		w.probe(f, Handlers{Leave: w.sums(r, opcode.Retval, 0)})
		calls, leaves, results = append(calls, c), append(leaves, l), append(results, r)
	}
	w.probe(fmt.Sprintf("f%d+*", g.IntN(g.n)), Handlers{Enter: w.counts(w.counter())})
	w.run()
	var seen strings.Builder
	for i := range g.n {
		fmt.Fprintf(&seen, "f%d %d %d %d\n", i, calls[i].get(), leaves[i].get(), results[i].get())
	}
	want(t, "what probes saw", seen.String(), tg.output())
}

// source is the program.
func (g *generator) source() string {
	var s strings.Builder
	fmt.Fprintf(&s, "#define NF %d\n%s", g.n, randomHead)
	for i := range g.n {
		fmt.Fprintf(&s, "WORD f%d(ull, int, unsigned);\n", i)
	}
	for i := range g.n {
		fmt.Fprintf(&s, "WORD f%d(ull ch, int n, unsigned r)\n{\n\tENTER(%d)\n", i, i)
		end := ""
		if g.IntN(4) == 0 {
			s.WriteString("\tstruct place here = {top};\n\tif (sigsetjmp(here.buf, 1) == 0) {\n\ttop = &here;\n")
			end = "\ttop = here.up;\n\t} else {\n\ttop = here.up;\n\tacc += 3;\n\t}\n"
		}
		s.WriteString("\tif (n > 0 && budget-- > 0)\n\t\tswitch (r % 6) {\n")
		for j := range 6 {
			fmt.Fprintf(&s, "\t\tcase %d: %s break;\n", j, g.action(i, end == ""))
		}
		fmt.Fprintf(&s, "\t\t}\n%s\tLEAVE(%d)\n}\n", end, i)
	}
	s.WriteString("static long (*volatile all[NF])(ull, int, unsigned) = {")
	for i := range g.n {
		fmt.Fprintf(&s, "f%d, ", i)
	}
	s.WriteString("};\n" + randomTail)
	return s.String()
}

// action is something that function i does. A function is not jumped to again in the same call: of a round of jumps one
// call is followed.
func (g *generator) action(i int, jumps bool) string {
	callee, other := g.IntN(g.n), g.IntN(g.n)
	switch die := g.IntN(10); {
	case die < 2 && jumps && callee != i:
		return fmt.Sprintf("if (!holds(ch, %d)) return f%d(ch << 5 | %d, n - 1, next(r));", callee, callee, i+1)
	case die < 3:
		return "if (top) siglongjmp(top->buf, 1);"
	case die < 4:
		return "if (top) raise(SIGUSR2);"
	case die < 5:
		return "raise(SIGUSR1);"
	case die < 7:
		return "acc += all[r / 8 % NF](0, n - 1, next(r)) & 255;"
	case die < 8:
		return "acc += ((char *)memset(alloca(r % 300 + 1), 7, r % 300 + 1))[r % 300];"
	}
	return fmt.Sprintf("acc += f%d(0, n - 1, next(r)) & 255; acc += f%d(0, n - 2, next(r + 1)) & 255;", callee, other)
}

// The truth is kept with the call that runs: ch are the functions that have jumped to this one, five bits each, and
// return with it.
const randomHead = `#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
typedef unsigned long long ull;
#define WORD __attribute__((noipa)) long
#define ADD(to, v) __atomic_fetch_add(&(to), v, __ATOMIC_RELAXED)
static struct { long calls, leaves, results; } truth[NF];
struct place { struct place *up; sigjmp_buf buf; };
static __thread struct place *volatile top;
static __thread volatile int budget;
static unsigned next(unsigned r) { r ^= r << 13; r ^= r >> 17; r ^= r << 5; return r; }
static int holds(ull ch, unsigned f) { if (ch >> 55) return 1; for (; ch; ch >>= 5) if ((ch & 31) == f + 1) return 1; return 0; }
static void left(ull ch, long acc) { for (; ch; ch >>= 5) { ADD(truth[(ch & 31) - 1].leaves, 1); ADD(truth[(ch & 31) - 1].results, acc); } }
static long (*volatile all[NF])(ull, int, unsigned);
#define ENTER(i) ADD(truth[i].calls, 1); volatile long acc = r % 100;
#define LEAVE(i) long result = acc; ADD(truth[i].leaves, 1); ADD(truth[i].results, result); left(ch, result); return result;
`

const randomTail = `
static void on_usr1(int sig)
{
	static __thread int inside;
	if (inside)
		return;
	inside = 1;
	struct place *was = top;
	int had = budget;
	top = NULL;
	budget = 3;
	all[(unsigned)had % NF](0, 2, had + 1);
	budget = had;
	top = was;
	inside = 0;
}
static void on_usr2(int sig) { siglongjmp(top->buf, 1); }
static void *thread(void *v)
{
	for (unsigned i = 1; i < 24; i++) {
		budget = 40;
		all[i % NF](0, 8, i * 2654435761u + (unsigned)(long)v);
	}
	return NULL;
}
int main(void)
{
	pthread_t threads[3];
	struct sigaction one = {.sa_handler = on_usr1, .sa_flags = SA_NODEFER}, two = {.sa_handler = on_usr2};
	sigaction(SIGUSR1, &one, NULL);
	sigaction(SIGUSR2, &two, NULL);
	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, thread, (void *)(i * 77));
	thread((void *)1000);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < NF; i++)
		printf("f%d %ld %ld %ld\n", i, truth[i].calls, truth[i].leaves, truth[i].results);
	return 0;
}
`
