import { dump, printable, hexBytes } from "gotap/hexdump";
import { table, bar, size, ordered } from "gotap/table";
import { duration, milliseconds, rate, clock, since } from "gotap/time";
import { signalName, signalNumber } from "gotap/signals";
import { result, isError } from "gotap/errno";
import { callText, flags } from "gotap/syscalls";
import { baseName, dirName } from "gotap/files";
import { places } from "gotap/module";
import { callOf } from "gotap/prototypes";
import { textAt } from "gotap/python";

is(dump("0123456789abcdefXY", { base: 0x10 }), `00000010  30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  |0123456789abcdef|
00000020  58 59                                            |XY|`);
is(dump(Uint8Array.from([0, 255]), { width: 2, limit: 1 }), "00000000  00     |.|\n… 1 more bytes");
is(printable("a\n\t\\\x01é", 5), "a\\n\\t\\\\\\x01..");
is(hexBytes(Uint8Array.from([0xde, 0xad])), "de ad");

is(table([["read", 12], ["writev", 3]], { head: ["call", "n"] }), "call     n\nread    12\nwritev   3");
is(table([["a".repeat(30), 1]], { width: 20 }), "aaaaaaaaaaaaaaaa…  1");
is(table([["a"], ["b"], ["c"]], { top: 2 }), "a\nb\n… and 1 more");
is(table([["漢字", 1], ["abcde", 2], ["e\u0301", 3]]), "漢字   1\nabcde  2\ne\u0301      3");
is(table([["漢字".repeat(9), 1], ["a", 2]], { width: 20 }), "漢字漢字漢字漢字…  1\na                  2");
// A path loses its beginning. Columns move together before a text is cut short, and numbers and times stay whole: what has no room beside them has a line of its own.
is(table([["/usr/share/doc/blob.gz", 1]], { width: 20 }), "…/doc/blob.gz      1"); is(table([["./" + "b".repeat(30) + ".gz", 1]], { width: 20 }), "…bbbbbbbbbbbbb.gz  1");
is(table([["/* a comment */ select 1", 1]], { width: 20 }), "/* a comment */ …  1"); is(table([[1, "/漢字漢/漢字漢字漢字"]], { width: 18 }), "1 …/漢字漢字漢字"); is(table([["/", 1]], { width: 20 }), "/  1");
is(table([["getdents64", 1, "1.00 ms", "abcdef"]], { width: 25 }), "getdent… 1 1.00 ms abcdef");
is(table([[12, "293.0 KiB", "0 B", "227 us", "/tmp/a/long/way/to/blob.gz"], [3, "0 B", "293.0 KiB", "4 min 5 s", "x"]], { head: ["calls", "read", "written", "time", "file"], width: 40 }),
  ["file", "  calls       read    written  time", "/tmp/a/long/way/to/blob.gz", "     12  293.0 KiB        0 B  227 us", "x", "      3        0 B  293.0 KiB  4 min 5 s"].join("\n"));
is(table([["/tmp/a/long/way/to/blob.gz", "100 us", "100 us"]], { width: 17 }), "…/way/to/blob.gz\n  100 us  100 us"); is(table([["4 min 5 s", 1000]], { width: 8 }), "4 min 5 s 1000");
is(table([]), "");
is(bar(1, 2, 4), "@@"); is(bar(0, 0, 4), "");
is(size(512), "512 B"); is(size(1536), "1.5 KiB"); is(size(3 * 2 ** 30), "3.0 GiB"); is(size(5n * 2n ** 40n), "5.0 TiB");
is(ordered([["a", 1], ["b", 3n], ["c", 2]]).map(e => e[0]), "b,c,a");
is(ordered([["a", { n: 1 }], ["b", { n: 2 }]], v => v.n)[0][0], "b");

is(duration(950), "950 ns"); is(duration(1830000), "1.83 ms"); is(duration(12.3e9), "12.3 s"); is(duration(245e9), "4 min 5 s"); is(duration(-1500), "-1.50 us");
is(duration(123456n), "123 us"); is(milliseconds(1830000), "1.830"); is(rate(25000, 2e9), "12.5 k/s"); is(rate(3, 2e9), "1.5/s"); is(rate(5e6, 1e9), "5.0 M/s");
is(/^\d\d:\d\d:\d\d\.\d{6}$/.test(clock(now())), true);
is(Math.abs(Number(since(now()))) < 60, true);

is(signalName(11), "SIGSEGV"); is(signalName(34), "SIGRTMIN"); is(signalName(37), "SIGRTMIN+3"); is(signalName(99), "99");
is(signalNumber("SIGINT"), 2); is(signalNumber("term"), 15); is(signalNumber("x"), undefined);
is(result(-2), "-1 ENOENT"); is(result(5), "5"); is(isError(-5000), false);
is(flags(5, { A: 1, B: 2 }), "A|0x4"); is(flags(0, {}), "0");
is(callText("openat", [-100, 4096, 0o2000000, 0, 0, 0], { 1: "/etc/hosts" }), 'openat(AT_FDCWD, "/etc/hosts", O_RDONLY|O_CLOEXEC)');
is(callText("openat", [3, 4096, 0o101, 0o644, 0, 0], { 1: "x" }), 'openat(3, "x", O_WRONLY|O_CREAT, 0644)');
is(callText("mmap", [0, 4096, 3, 0x22, -1, 0]), "mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)");
// Flags that share bits with open's have no access mode: 0 is no O_RDONLY, and no type of socket.
is(callText("pipe2", [4096, 0]), "pipe2(0x1000, 0)"); is(callText("pipe2", [4096, 0o2004000]), "pipe2(0x1000, O_NONBLOCK|O_CLOEXEC)");
is(callText("dup3", [3, 4, 0]), "dup3(3, 4, 0)"); is(callText("dup3", [3, 4, 0o2000000]), "dup3(3, 4, O_CLOEXEC)");
is(callText("accept4", [3, 0, 0, 0]), "accept4(3, NULL, NULL, 0)");
is(callText("accept4", [3, 0, 0, 0o2004000]), "accept4(3, NULL, NULL, SOCK_CLOEXEC|SOCK_NONBLOCK)");
is(callText("mmap", [0, 4096, 0, 0, 3, 0]), "mmap(NULL, 4096, PROT_NONE, 0, 3, 0)");
is(callText("socket", [2, 1, 0]), "socket(AF_INET, SOCK_STREAM, IPPROTO_IP)"); is(callText("access", [4096, 0]), "access(0x1000, F_OK)");
is(callText("unheard_of", [1, -1]), "unheard_of(0x1, 0xffffffffffffffff)");
is(baseName("/a/b"), "b"); is(dirName("/a/b"), "/a"); is(dirName("/a"), "/"); is(dirName("a"), ".");
is(textAt("3.11"), 48); is(textAt("3.12.1"), 40); is(textAt(3.9), 48);
is(places("libc:read").join("|"), "libc:read"); is(places(" a, b ,,c,").join("|"), "a|b|c"); is(places("").length, 0);
is(places("geo::area(int, std::pair<int, long>),map<int, long>::at,libc:mem[a,b]*,x").join("|"),
  "geo::area(int, std::pair<int, long>)|map<int, long>::at|libc:mem[a,b]*|x");
is(places("keep<*,use<*,map<int, *>::at,f(int, a]*,g<a, b>").join("|"), "keep<*|use<*|map<int, *>::at|f(int|a]*|g<a, b>");
is(places("A::operator<,A::operator()(int, int),A::operator->,A::operator[],A::operator ,,f").join("|"),
  "A::operator<|A::operator()(int, int)|A::operator->|A::operator[]|A::operator ,|f");
// open has a mode only where it may create a file: the register of another call holds what happens to be there.
is(callOf("open", [1, 0o2000000, 0o644], ["a"]), 'open("a", O_RDONLY|O_CLOEXEC)'); is(callOf("open", [1, 0o101, 0o644], ["a"]), 'open("a", O_WRONLY|O_CREAT, 0644)');
is(callOf("openat", [-100, 1, 0, 0o644], [undefined, "a"]), 'openat(-100, "a", O_RDONLY)'); is(callOf("mkdir", [1, 0o755], ["a"]), 'mkdir("a", 0755)');
is(callOf("open", [1, 0], ["a"]), 'open("a", O_RDONLY)'); is(callOf("open64", [1, 0o20200002, 0o600], ["."]), 'open64(".", O_RDWR|O_TMPFILE, 0600)'); is(callOf("open", [1, 0o200000, 0o600], ["."]), 'open(".", O_RDONLY|O_DIRECTORY)');
console.log("done");
