// objects: what C++ adds to parameters: this, references, base classes, by-value classes with constructors.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

#define FUNC __attribute__((noipa))

namespace zoo {

struct Named {
	const char *name;
	int id;
};

struct Animal : Named {
	double weight;
	enum class Kind : signed char { Cat = -1, Dog = 2 } kind;
	bool tame : 1;
	unsigned legs : 5;
	Animal(const char *n, int i, double w, Kind k) : Named{n, i}, weight(w), kind(k), tame(true), legs(4) {}
	virtual ~Animal() {}
	FUNC virtual long feed(int amount, const float &rate);
};

struct Pet : Animal {
	std::unique_ptr<int> owner;
	Pet(const char *n) : Animal(n, 7, 3.25, Kind::Dog), owner(new int(99)) {}
	FUNC static long adopt(Pet &who, Pet &&other, std::string label, const Animal *animals[2]);
};

struct Tracked {
	long value;
	Tracked(long v) : value(v) {}
	Tracked(const Tracked &o) : value(o.value + 1) {}
	~Tracked() {}
};

struct Plain {
	long a;
	double b;
};

struct Empty {};

long Animal::feed(int amount, const float &rate) { return (long)(amount * rate) + id; }

long Pet::adopt(Pet &who, Pet &&other, std::string label, const Animal *animals[2])
{
	return who.id + other.id + (long)label.size() + animals[1]->id;
}

FUNC long by_value(Tracked t, int after) { return t.value + after; }
FUNC long plain(Empty, Plain p, int after) { return p.a + (long)p.b + after; }
FUNC Tracked make(long v, int w) { return Tracked(v + w); }
FUNC Plain make_plain(long v, int w) { return Plain{v, double(w)}; }

template <typename T> FUNC T pick(T a, T b, bool first) { return first ? a : b; }

struct Left { virtual ~Left() {} long left = 1; };
struct Right : virtual Left { long right = 2; };
FUNC long diamond(Right *r) { return r->right + r->left; }

FUNC long nothing(std::nullptr_t, char16_t wide, int after) { return wide + after; }
FUNC long member(long Plain::*which, long (Animal::*call)(int, const float &), int after) { return (which != nullptr) + (call != nullptr) + after; }

} // namespace zoo

/* Their bases and members delete or default constructors; only their strings make them differ from plain data. */
extern "C" FUNC long wrapped(std::optional<std::string> text, std::variant<int, std::string, double> either, std::tuple<int, std::string, char> all, int after)
{
	return (long)text->size() + (long)either.index() + std::get<0>(all) + after;
}

int main()
{
	using namespace zoo;
	Pet cat("tom"), dog("rex");
	const Animal *animals[2] = {&cat, &dog};
	long sum = cat.feed(12, 0.5f);
	sum += Pet::adopt(cat, std::move(dog), "label", animals);
	sum += by_value(Tracked(5), -3);
	sum += plain(Empty{}, Plain{11, 2.5}, -4);
	sum += make(6, -7).value + (long)make_plain(8, 9).b;
	sum += pick(3L, 4L, true) + pick<short>(-5, 6, false);
	Right r;
	sum += diamond(&r);
	sum += nothing(nullptr, u'w', -6) + member(&Plain::a, &Animal::feed, -8);
	sum += wrapped("hello", "other", {1, "two", '3'}, -9);
	std::printf("%ld\n", sum);
}
