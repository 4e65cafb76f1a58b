// tls: what a program sends and receives through OpenSSL or GnuTLS, as plain text; and handshakes that fail.
// topic: network
//
//   gotap run tls --arg plain=1 -- curl -s https://localhost:8443/
//   gotap run tls -p PID
//
// On a connection that does not block, a handshake returns -1 when it has to wait, and the program calls it again.
// Only sizes are shown, because the contents may be private; plain=1 shows them.
//
//   $ gotap run tls --arg plain=1 -- curl -sk https://localhost:8443/
//   curl/8550 handshake SSL_do_handshake returned -1 <783 us>
//   curl/8550 handshake SSL_do_handshake done <2.44 ms>
//   curl/8550 sent 78 bytes: GET / HTTP/1.1\r\nHost: localhost:8443\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n…
//   curl/8550 received 5167 bytes: HTTP/1.0 200 ok\r\nContent-type: text/html\r\n\r\n<HTML><BODY BGCOLOR="#ffffff…

import { places } from "gotap/module";
import { tls, handshakes } from "gotap/tls";
import { printable } from "gotap/hexdump";
import { duration } from "gotap/time";

const plain = option("plain", false, "show the start of what is said");
const limit = option("limit", 120, "bytes to show");
const named = option("libs", "libssl,libgnutls", "libraries, in programs linked with them statically too, or modules that have OpenSSL in them");
const who = e => `${e.comm}/${e.tid}`;

const libraries = places(named);
handshakes({ libraries }, e => report(e, `${who(e)} handshake ${e.func} ${e.ok ? "done" : `returned ${e.ret}`} <${duration(e.ns)}>`));
tls({ libraries, limit: plain ? limit : 1 }, e => {
  const text = plain ? `${printable(e.data)}${e.size > e.data.length ? ".." : ""}` : undefined;
  report({ name: e.direction, event: e, data: { bytes: e.size, text } }, `${who(e)} ${e.direction} ${e.size} bytes${plain ? `: ${text}` : ""}`);
});
