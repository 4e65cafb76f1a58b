/* Functions, a variable, an indirect function and a thread-local variable to name places in. */
#define KEEP __attribute__((noipa))

KEEP long work(long n) { __asm__ volatile(""); return n * 3 + 1; }
KEEP long worker(long n) { return work(n) + work(n + 1); }
long also_work(long n) __attribute__((alias("work")));

static KEEP long chosen_a(long n) { __asm__ volatile(""); return n + 3; }
static long (*resolve_chosen(void))(long) { return chosen_a; }
long chosen(long n) __attribute__((ifunc("resolve_chosen")));

long cell;
char small[2];
__thread long own;

int main(int argc, char **argv)
{
	(void)argv;
	own = cell = small[0] = worker(argc) + chosen(argc) + also_work(1);
	return own == 0;
}
