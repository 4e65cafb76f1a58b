// members: classes with members of one name in several base classes.
struct A { int x = 1, a = 2; };
struct B { int x = 3, b = 4; };
struct V { int v = 7, h = 8; };
struct V1 : virtual V { int p = 9; };
struct V2 : virtual V { int q = 10; };
struct N1 : V { int p = 12; };
struct N2 : V { int q = 13; };
struct VH : virtual V { int h = 16; };
struct U1 { union { int u = 30; float f; }; };
struct U2 { union { int u = 33; }; int : 3, k : 5; U2() : k(7) {} };
struct S { static int x; int k = 17; };
struct P1 : A { int z = 40; };
struct P2 : A { int z = 41; };
template <class T> struct Hold { T val = 50; };

struct Two : A, B { int c = 5; };
struct Hides : A, B { int x = 6; };
struct Once : V1, V2 { int r = 11; };
struct Twice : N1, N2 { int r = 14; };
struct Hidden : A { int x = 15; };
struct Near : Hidden, B {};
struct Below : Hidden {};
struct Deep : P1, B {};
struct Dominated : VH, V2 {};
struct Unions : U1, B {};
struct InUnion : A { union { int x = 31; float g; }; };
struct BothUnions : U1, U2 {};
struct StaticHides : A { static int x; int k = 18; };
struct StaticToo : S, A {};
struct Method : A { int x() { return 1; } };
struct Same : P1, P2 {};
struct Holds : Hold<int>, Hold<char> {};
struct Third : Two { int d = 60; };
struct Bits : U2, S {};
int S::x = 99, StaticHides::x = 98;

extern "C" __attribute__((noipa)) int f(Two *two, Hides *hides, Once *once, Twice *twice, Near *near_, Below *below, Deep *deep, Dominated *dominated,
	Unions *unions, InUnion *inUnion, BothUnions *bothUnions, StaticHides *staticHides, StaticToo *staticToo, Method *method, Same *same, Holds *holds,
	Third *third, Bits *bits)
{
	return two->c;
}

int main()
{
	static Two two; static Hides hides; static Once once; static Twice twice; static Near near_; static Below below; static Deep deep;
	static Dominated dominated; static Unions unions; static InUnion inUnion; static BothUnions bothUnions; static StaticHides staticHides;
	static StaticToo staticToo; static Method method; static Same same; static Holds holds; static Third third; static Bits bits;
	return f(&two, &hides, &once, &twice, &near_, &below, &deep, &dominated, &unions, &inUnion, &bothUnions, &staticHides, &staticToo, &method,
		&same, &holds, &third, &bits) + method.x() + S::x + StaticHides::x;
}
