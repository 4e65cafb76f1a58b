// farm: C++ without headers, with what its debug information has of its own: namespaces, classes, templates, inlined calls in
// blocks, and variables of each kind.

#define FUNC __attribute__((noipa))

namespace farm {

enum class Crop : short { Wheat = -3, Rye = 700 };

struct Place {
	int x, y;
};

template<typename T> struct Pair {
	T first;
	const Pair *second;
	T both() const { return second ? first + second->first : first; }
};

struct Field : Place {
	Crop crop;
	unsigned wet : 3;
	union {
		long area;
		float part[2];
	};
	Pair<long> rows;
	static int count;
	FUNC long plough(const int &depth, Field *next);
};

int Field::count = 3;
static volatile int sink;
thread_local int season = 4;

static inline __attribute__((always_inline)) int turned(int clod, long by)
{
	int lump = clod * 3 + by;
	sink += lump;
	return lump - 1;
}

FUNC long Field::plough(const int &depth, Field *next)
{
	long sum = rows.both();
	for (int i = 0; i < depth; i++) {
		int at = turned(i, area);
		if (at & 1) {
			long inner = at + wet;
			sum += turned(inner, x);
			sink = inner;
		}
	}
	return next ? sum + next->plough(depth, nullptr) : sum;
}

FUNC static double sown(Crop crop, double seeds, float each, char mark)
{
	double all = seeds * each;
	sink += mark;
	if (crop == Crop::Rye)
		all += turned(mark, 2);
	return all + season;
}

}

extern "C" int values_main(void);
extern "C" int inlined_main(int, char **);

int main(int argc, char **argv)
{
	farm::Field one{{1, 2}, farm::Crop::Rye, 5, {77}, {4, nullptr}}, other = one;
	other.rows.second = &one.rows;
	long sum = one.plough(farm::Field::count + argc, &other);
	double s = farm::sown(other.crop, sum, 0.5f, 'x');
	return s > 1e30 ? values_main() + inlined_main(argc, argv) : 0;
}
