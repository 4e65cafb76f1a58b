import { sockaddr, decode, lookupError } from "gotap/sockets";
const bytes = (...all) => Uint8Array.from(all);
const unix = text => Uint8Array.from([1, 0, ...Array.from(text, c => c.charCodeAt(0))]);
is(sockaddr(bytes(2, 0, 0x1f, 0x90, 127, 0, 0, 1)), "127.0.0.1:8080");
is(sockaddr(bytes(10, 0, 0, 80, 0, 0, 0, 0, ...Array(15).fill(0), 1, 0, 0, 0, 0)), "[::1]:80");
is(sockaddr(unix("/run/x\0junk")), "unix:/run/x");
is(sockaddr(unix("\0name")), "unix:@name");
is(sockaddr(unix("")), "unix:");
is(sockaddr(bytes(16, 0, 0, 0, 5, 1, 0, 0, 0, 0, 0, 0)), "netlink:261");
is(sockaddr(bytes(9, 0)), "AF_X25");
is(sockaddr(bytes()), "AF_UNSPEC");
is(sockaddr(bytes(2, 0, 0)), "AF_INET"); // cut short
is(decode(bytes(2, 0, 0, 22, 1, 2, 3, 4)).port, 22);
is(lookupError(-2), "EAI_NONAME"); is(lookupError(0), "0"); is(lookupError(-77), "-77");
console.log("done");
