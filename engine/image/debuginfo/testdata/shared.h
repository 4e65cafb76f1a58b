// A function that every unit has for itself: one of them has its code, the others have copies.
inline __attribute__((always_inline)) int shared(int x)
{
	volatile int sink = x * 3;
	return sink;
}

int one(int x), two(int x);
