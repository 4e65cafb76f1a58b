import { brief, distinct } from "gotap/names";

const same = name => is(brief(name), name);
same("main"); same("a::b::c"); same("main.(*T[go.shape.int]).Get"); same("github.com/a/b.F[int]"); same("(anonymous namespace)::f"); same("");

// Short arguments stay, long ones do not; those that the library fills in are left out first.
is(brief("biggest<double>"), "biggest<double>");
is(brief("std::vector<double, std::allocator<double> >::_M_assign_aux<double const*>"), "std::vector<double>::_M_assign_aux<double const*>");
is(brief("std::map<int, long, std::less<int>, std::allocator<std::pair<int const, long> > >::at"), "std::map<int, long>::at");
is(brief("std::unordered_map<int, int, std::hash<int>, std::equal_to<int>, std::allocator<std::pair<int const, int> > >::find"), "std::unordered_map<int, int>::find");
is(brief("std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_construct<char const*>"), "std::string::_M_construct<char const*>");
is(brief("std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > >::push_back"),
  "std::vector<std::string>::push_back");
is(brief("std::__1::vector<int, std::__1::allocator<int> >::push_back"), "std::__1::vector<int>::push_back");
is(brief("std::_Rb_tree<int, std::pair<int const, std::shared_ptr<Order> >, std::_Select1st<std::pair<int const, std::shared_ptr<Order> > >, std::less<int>, std::allocator<std::pair<int const, std::shared_ptr<Order> > > >::_M_erase"),
  "std::_Rb_tree<..>::_M_erase");
is(brief("alloc::collections::btree::map::BTreeMap<alloc::string::String, alloc::vec::Vec<u8>>::insert"), "alloc::collections::btree::map::BTreeMap<..>::insert");
same("std::allocator<int>::allocate"); // it is the first argument, and no argument at all
is(brief("std::deque<std::allocator<int>, std::allocator<std::allocator<int> > >::front"), "std::deque<std::allocator<int>>::front");

// Operators, lambdas and what Rust has at the beginning of a name.
for (const op of ["<", ">", "<=", ">=", "<<", ">>", "<<=", ">>=", "->", "->*", "<=>", "()", "[]", "="]) {
  const gap = op.endsWith("<") ? " " : ""; // as compilers write it
  same(`operator${op}`); is(brief(`a::operator${op}${gap}<a::b, ${"c".repeat(30)}>`), `a::operator${op}${gap}<..>`); is(brief(`T<${"c".repeat(30)}>::operator${op}`), `T<..>::operator${op}`);
}
same("run()::{lambda(int)#1}::operator()(int) const");
is(brief("std::_Function_handler<void (int), run()::{lambda(int)#1}>::_M_invoke"), "std::_Function_handler<..>::_M_invoke");
is(brief("<alloc::vec::Vec<alloc::collections::btree::map::BTreeMap<u8, u8>> as core::ops::Drop>::drop"), "<alloc::vec::Vec<..> as core::ops::Drop>::drop");
is(brief("f<(a>b), " + "c".repeat(30) + ">"), "f<..>");

// A name that the record has cut.
is(brief("std::_Rb_tree<int, std::pair<int const, long>, std::less<int> >::_M_emplace_hint_unique<std::piecewise_const.."), "std::_Rb_tree<..>::_M_emplace_hint_unique<std::piecewise_const..");
is(brief("f<a.."), "f<a.."); same("f<a, std::allocator<..");
same("a>b"); same("a<"); same("<"); same("operator");

// Names that would be equal have longer arguments, and in the end all of them.
const long = "c".repeat(30), longer = "d".repeat(60), most = "e".repeat(100);
const all = ["main", "f<int>", `g<${long}>`, `g<${long}2>`, `h<${longer}>`, `h<${longer}2>`, `k<${most}>`, `k<${most}2>`, `l<${long}>`, "std::list<int, std::allocator<int> >::at", "main"];
is(all.map(distinct(all)).join("|"), ["main", "f<int>", `g<${long}>`, `g<${long}2>`, `h<${longer}>`, `h<${longer}2>`, `k<${most}>`, `k<${most}2>`, "l<..>", "std::list<int>::at", "main"].join("|"));
is(distinct([])("x<int, std::allocator<int>>"), "x<int, std::allocator<int>>");
console.log("done");
