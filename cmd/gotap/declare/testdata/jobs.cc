// A program whose types scripts use.
enum Colour { RED = 3, Map = 4 };

struct point { int x, y; };

struct job {
	point at;
	const char *name;
	job *next;
	Colour colour;
	bool urgent;
	unsigned kind : 3;
	union { long whole; unsigned char part[8]; };
	void (*done)(job *);
};

namespace shop {
struct Stack { job *items[4]; int used; };
Stack waiting;
__attribute__((noipa)) job *push(Stack *s, job &j) { s->items[s->used++ & 3] = &j; return &j; }
}

__attribute__((noipa)) int move(point *p, int by) { p->x += by; return p->x; }
__attribute__((noipa)) int move(job *j, double by) { j->at.x += by; return j->at.x; }

int main()
{
	job j = { { 1, 2 }, "first", nullptr, RED, true, 5, { 7 }, nullptr };
	job *top = shop::push(&shop::waiting, j);
	return move(&top->at, 1) + move(top, 2.0) > 0 ? 0 : 1;
}
