package place

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Spec{
		"malloc":                         {Name: "malloc"},
		"mem*":                           {Name: "mem*"},
		"libc:malloc":                    {Module: "libc", Name: "malloc"},
		"/usr/lib/libc.so.6:malloc+0x10": {Module: "/usr/lib/libc.so.6", Name: "malloc", Offset: 16, HasOff: true},
		"malloc+16":                      {Name: "malloc", Offset: 16, HasOff: true},
		"malloc+0":                       {Name: "malloc", HasOff: true},
		"malloc+*":                       {Name: "malloc", Every: true},
		"0x1136":                         {Kind: Address, Addr: 0x1136},
		"./prog:0x1136":                  {Kind: Address, Module: "./prog", Addr: 0x1136},
		"@main.c:42":                     {Kind: Line, File: "main.c", Line: 42},
		"prog:@dir/main.c:42":            {Kind: Line, Module: "prog", File: "dir/main.c", Line: 42},
		"@main.c:42-50":                  {Kind: Line, File: "main.c", Line: 42, Last: 50},
		"@main.c:*":                      {Kind: Line, File: "main.c", Line: 1, Last: AllLines},
		"@main.c:42:7":                   {Kind: Line, File: "main.c", Line: 42, Column: 7},
		"prog:@a:b.c:42:7":               {Kind: Line, Module: "prog", File: "a:b.c", Line: 42, Column: 7},
		"f@main.c":                       {Name: "f", File: "main.c"},
		"libx:f*@dir/main.cc":            {Module: "libx", Name: "f*", File: "dir/main.cc"},
		"f@main.c:+2":                    {Name: "f", File: "main.c", Line: 2, Relative: true},
		"prog:A::f:+12":                  {Module: "prog", Name: "A::f", Line: 12, Relative: true},
		`callees("main")`:                {Name: "main", Of: Callees},
		`libc:exported("mem*")`:          {Module: "libc", Name: "mem*", Of: Exported},
		`./a:b/c:exported("A::f")`:       {Module: "./a:b/c", Name: "A::f", Of: Exported},
		"callees(int)":                   {Name: "callees(int)"},
		"a::callees(\"x\")":              {Name: "a::callees(\"x\")"},
		"memcpy@GLIBC_2.14":              {Name: "memcpy@GLIBC_2.14"},
		"memcpy@@GLIBC_2.14":             {Name: "memcpy@@GLIBC_2.14"},
		"Foo::bar":                       {Name: "Foo::bar"},
		"prog:Foo::bar":                  {Module: "prog", Name: "Foo::bar"},
		"::bar":                          {Name: "::bar"},
		"geo::twice*":                    {Name: "geo::twice*"},
		"geo::twice<a::b>":               {Name: "geo::twice<a::b>"},
		"prog:geo::grow(int, a::b<c>&)":  {Module: "prog", Name: "geo::grow(int, a::b<c>&)"},
		"A::operator+":                   {Name: "A::operator+"},
		"A::operator++":                  {Name: "A::operator++"},
		"A::operator+=":                  {Name: "A::operator+="},
		"A::operator+(A const&)":         {Name: "A::operator+(A const&)"},
		"A::operator++(int)":             {Name: "A::operator++(int)"},
		"A::operator++0x10":              {Name: "A::operator+", Offset: 16, HasOff: true},
		"A::operator++*":                 {Name: "A::operator+", Every: true},
		"A::operator[]+4":                {Name: "A::operator[]", Offset: 4, HasOff: true},
		"A::operator-+4":                 {Name: "A::operator-", Offset: 4, HasOff: true},
		"main.(*T).Method":               {Name: "main.(*T).Method"},
		"main.(*T).Method+*":             {Name: "main.(*T).Method", Every: true},
		"prog:type:.eq.main.T":           {Module: "prog", Name: "type:.eq.main.T"},
		"<T as A<dyn B + C>>::f":         {Name: "<T as A<dyn B + C>>::f"},
		"lib*:*":                         {Module: "lib*", Name: "*"},
		"*+*":                            {Name: "*", Every: true},
		"usdt:acc:hello":                 {Kind: Mark, Provider: "acc", Name: "hello"},
		"usdt:libx:acc:*":                {Kind: Mark, Module: "libx", Provider: "acc", Name: "*"},
		"usdt:/usr/bin/x:acc:hello":      {Kind: Mark, Module: "/usr/bin/x", Provider: "acc", Name: "hello"},
		"/usr/bin/x:usdt:acc:hello":      {Kind: Mark, Module: "/usr/bin/x", Provider: "acc", Name: "hello"},
		"libx:watch:cell+4/4/rw":         {Kind: Watch, Module: "libx", Name: "cell", Offset: 4, HasOff: true, Len: 4, Access: OnReadWrite},
		"/usr/a:b.so:usdt:acc:hello":     {Kind: Mark, Module: "/usr/a:b.so", Provider: "acc", Name: "hello"},
		"usdt:/usr/a:b.so:acc:hello":     {Kind: Mark, Module: "/usr/a:b.so", Provider: "acc", Name: "hello"},
		"/usr/a:b.so:watch:cell/8/w":     {Kind: Watch, Module: "/usr/a:b.so", Name: "cell", Len: 8, Access: OnWrite},
		"a::usdt::f":                     {Name: "a::usdt::f"},
		"watch:cell/8/w":                 {Kind: Watch, Name: "cell", Len: 8, Access: OnWrite},
		"watch:cell+4/4/rw":              {Kind: Watch, Name: "cell", Offset: 4, HasOff: true, Len: 4, Access: OnReadWrite},
		"watch:/usr/lib/x.so:cell/1/x":   {Kind: Watch, Module: "/usr/lib/x.so", Name: "cell", Len: 1, Access: OnExecute},
		"watch:0x7fff0000/2/w":           {Kind: Watch, Addr: 0x7fff0000, Len: 2},
		"watch:geo::count/8/w":           {Kind: Watch, Name: "geo::count", Len: 8},
		"syscall:openat":                 {Kind: Syscall, Name: "openat"},
		"syscall:*at*":                   {Kind: Syscall, Name: "*at*"},
		"@/a b/c:d.c:7":                  {Kind: Line, File: "/a b/c:d.c", Line: 7},
		"crate::{closure#0}":             {Name: "crate::{closure#0}"},
		"größe":                          {Name: "größe"},
		"f.cold+0x0":                     {Name: "f.cold", HasOff: true},
	} {
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", text, got, err, want)
		}
		if again, err := Parse(got.String()); err != nil || again != got {
			t.Errorf("%q written as %q is %+v, %v", text, got.String(), again, err)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, c := range []struct {
		text     string
		col, len int
		msg      string
	}{
		{"", 1, 1, "empty"},
		{" malloc", 1, 1, "blank"},
		{"malloc ", 7, 1, "blank"},
		{"mal\nloc", 4, 1, "control"},
		{"\xff", 1, 1, "UTF-8"},
		{":malloc", 1, 1, "module"},
		{"libc:", 6, 1, "a place is missing"},
		{"malloc+", 8, 1, "is not an offset"},
		{"malloc+0xg", 8, 3, `"0xg" is not an offset`},
		{"malloc+12x", 8, 3, "is not an offset"},
		{"malloc+010", 8, 3, "is not an offset"},
		{"malloc+1_0", 8, 3, "is not an offset"},
		{"libc:malloc+99999999999999999999", 13, 20, "is not an offset"},
		{"+16", 1, 3, "name is missing"},
		{"0xzz", 1, 4, "hexadecimal"},
		{"0x", 1, 2, "hexadecimal"},
		{"0x1136+4", 1, 8, "hexadecimal"},
		{"libc:12", 6, 2, "digit"},
		{"main.c:12", 8, 2, "digit"},
		{"@main.c", 1, 7, "line number"},
		{"@main.c:x", 9, 1, `"x" is not a line number`},
		{"@main.c:0", 9, 1, "is not a line number"},
		{"@main.c:-3", 9, 2, "is not a line number"},
		{"@:3", 1, 1, "file name"},
		{"a:b:c", 4, 1, "colon"},
		{"uprobe:/bin/ls:main", 15, 1, "colon"},
		{"usdt:", 6, 1, "provider"},
		{"usdt:x", 6, 1, "provider"},
		{"usdt:x:", 8, 1, "empty"},
		{"usdt:a:b:c:d", 7, 1, "colon too many"},
		{":q:usdt:q:b", 1, 1, "module before the colon is missing"},
		{"a:b:usdt:c:d", 2, 1, "colon too many"},
		{"a:b:watch:c/8/w", 2, 1, "colon too many"},
		{"x:usdt:acc", 8, 3, "provider"},
		{"x:usdt:y:acc:hello", 8, 1, "two modules"},
		{"x:watch:y:cell/8/w", 9, 1, "two modules"},
		{"x:watch:cell/3/w", 14, 1, `"3" is not 1, 2, 4 or 8`},
		{"watch:cell", 7, 4, "missing"},
		{"watch:cell/8", 11, 2, "missing"},
		{"watch:/8/w", 7, 1, "nothing"},
		{"watch:cell/3/w", 12, 1, `"3" is not 1, 2, 4 or 8`},
		{"watch:cell//w", 12, 1, "is not 1, 2, 4 or 8"},
		{"watch:cell/16/w", 12, 2, "is not 1, 2, 4 or 8"},
		{"watch:cell/8/z", 14, 1, `"z" is not a kind`},
		{"watch:cell/8/", 14, 1, "is not a kind"},
		{"watch:c*/8/w", 7, 2, "pattern"},
		{"watch:f+*/8/w", 7, 3, "one place"},
		{"watch:@a.c:3/8/w", 7, 6, "line"},
		{"syscall:", 9, 1, "missing"},
		{"syscall:open at", 13, 1, "is not the name"},
		{"größe+x", 7, 1, "is not an offset"},
		{`libc:callees("f`, 15, 1, "quote and a bracket"},
		{`callees('f")`, 10, 3, "quote and a bracket"},
		{`callees("")`, 10, 1, "missing"},
		{`callees("x:f")`, 10, 3, "takes the name of a function"},
		{`exported("f+*")`, 11, 3, "takes the name of a function"},
		{`exported("f"):+2`, 14, 3, "only lines of a function"},
		{`watch:exported("x")/8/w`, 7, 13, "one place"},
		{"libc:x" + strings.Repeat("{a,b}", 60), 7, 1, "more than 256 patterns"},
		{strings.Repeat("{a,", 3000) + strings.Repeat("}", 3000), 1, 1, "more than 256 patterns"},
		{strings.Repeat("{a,b}", 9) + ":f", 1, 1, "more than 256 patterns"},
	} {
		_, err := Parse(c.text)
		var se *SyntaxError
		if !errors.As(err, &se) {
			t.Errorf("Parse(%q): %v", c.text, err)
			continue
		}
		if se.Col != c.col || se.Len != c.len || !strings.Contains(se.Msg, c.msg) {
			t.Errorf("Parse(%q): column %d, length %d, %q; want %d, %d, %q", c.text, se.Col, se.Len, se.Msg, c.col, c.len, c.msg)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"libc:malloc+0x10", "@a.c:3", "usdt:a:b", "watch:c/8/w", "syscall:o*", "A::operator++(int)", "x:y::z<+>+*", "main.(*T).M", ":::", "watch:///", "+", "@", `a:callees("f")`, "exported('g*')",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			var se *SyntaxError
			if !errors.As(err, &se) {
				t.Fatalf("%T", err)
			}
			if n := utf8.RuneCountInString(se.Spec); se.Col < 1 || se.Len < 1 || se.Col > n+1 {
				t.Errorf("Parse(%q): column %d, length %d of %d", text, se.Col, se.Len, n)
			}
			return
		}
		if again, err := Parse(s.String()); err != nil || again != s {
			t.Errorf("%q written as %q is %+v, %v; was %+v", text, s.String(), again, err, s)
		}
	})
}

func TestMatchModuleFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "libreal.so"), filepath.Join(dir, "link.so")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, pattern := range []string{link, "./link.so", "./libreal.so", dir + "/*real*"} {
		if !MatchModule(pattern, file) {
			t.Errorf("%s does not match %s", pattern, file)
		}
	}
	if MatchModule("./other", file) {
		t.Error("another path matches")
	}
}

func TestMatchModule(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"libc", "/usr/lib/x86_64-linux-gnu/libc.so.6", true},
		{"libc.so", "/usr/lib/libc.so.6", true},
		{"libc.so.6", "/usr/lib/libc.so.6", true},
		{"libc", "/usr/lib/libc-2.31.so", true},
		{"libc", "/usr/lib/libcrypt.so.1", false},
		{"libc", "/usr/lib/libc++.so.1", false},
		{"libc", "/usr/lib/libc.soup", false},
		{"libstdc++", "/usr/lib/libstdc++.so.6.0.30", true},
		{"liblate", "/x/liblate.so", true},
		{"libstdc++.so.6", "/usr/lib/libstdc++.so.6.0.30", true},
		{"libstdc++.so.6.0", "/usr/lib/libstdc++.so.6.0.30", true},
		{"libstdc++.so.5", "/usr/lib/libstdc++.so.6.0.30", false},
		{"libc.so.6", "/usr/lib/libc.so.60", false},
		{"libc.so.6x", "/usr/lib/libc.so.6x.1", false},
		{"lib*", "/usr/lib/libc.so.6", true},
		{"lib*", "/usr/bin/ls", false},
		{"lib?", "/usr/lib/libc.so.6", true},
		{"lib[cm]", "/usr/lib/libm-2.31.so", true},
		{"lib?", "/usr/lib/libc++.so.1", false},
		{"lib?", "/usr/lib/libc.soup", false},
		{"ld-linux-x86-??", "/lib64/ld-linux-x86-64.so.2", true},
		{"ls?", "/usr/bin/lsx", true},
		{"*/lib/*", "/usr/lib/libc.so.6", true},
		{"/usr/lib/libc.so.6", "/usr/lib/libc.so.6", true},
		{"/usr/lib/../lib/libc.so.6", "/usr/lib/libc.so.6", true},
		{"/usr/lib/libc.so", "/usr/lib/libc.so.6", false},
		{"counter", "/tmp/x/counter", true},
		{"counter", "/tmp/x/counter_bare", false},
		{"", "/anything", true},
		{"ld-linux-x86-64", "/lib64/ld-linux-x86-64.so.2", true},
	} {
		if got := MatchModule(c.pattern, c.path); got != c.want {
			t.Errorf("MatchModule(%q, %q) = %v", c.pattern, c.path, got)
		}
	}
}
