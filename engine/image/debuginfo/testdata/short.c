/* short: a function of one line that is inlined, and behind it one with more code on a line than it has copies. */
static int brief(int x) { if (x > 100) return -1; int s = 0; for (int i = 0; i < x; i++) { s += i * x; __asm__ volatile(""); } return s; }
int (*volatile called)(int) = brief;

int main(int argc, char **argv)
{
	return brief(argc) + brief(argc + 1) * called(3) + called(argc) + brief(argc + 2);
}
