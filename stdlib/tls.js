// gotap/tls: data that passes through TLS libraries, before it is encrypted and after it is decrypted.
//
//   import { tls } from "gotap/tls";
//   import { printable } from "gotap/hexdump";
//   tls({ limit: 64 }, e => console.log(e.direction, e.size, printable(e.data)));
//
// tls({ libraries, limit }, fn)        calls fn with { direction: "sent" | "received", func, connection, size, data }: data is the first
//                                      limit bytes (256, at most 1024), size the bytes that the call moved, connection the library's handle
// handshakes({ libraries }, fn)        calls fn with { func, connection, ns, ret, ok } when a handshake function returns. A handshake that would
//                                      block is not ok, and the program calls it again. Nested calls are not reported
//   libraries   any of "libssl" (OpenSSL and the like), "libgnutls", which are also found in a program that was linked with them
//               statically, such as node; "libnspr4" (NSS; its functions carry unencrypted streams too), or a module that contains
//               OpenSSL; the default is ["libssl", "libgnutls"]
//   both return { probes }
//
// What a program reads and writes through a BIO of OpenSSL that contains a connection (BIO_f_ssl) is reported too; BIO_read and BIO_write
// are probed once the program has made the first such BIO.
//
// People encrypt what they want to keep secret: print no more of it than needed. A target without the libraries runs as
// usual, and a line at the end says so. Go's crypto/tls is not supported.

import { inOrder, options, absent, linked } from "gotap/module";

const usual = ["libssl", "libgnutls"];

// A call returns the number of bytes that it moved, if positive; functions with _ex store it where an argument points.
const moving = {
  libgnutls: { sent: ["gnutls_record_send", "gnutls_record_send2"], received: ["gnutls_record_recv"], sentBy: [], receivedBy: [] },
  libnspr4: { sent: ["PR_Write", "PR_Send"], received: ["PR_Read", "PR_Recv"], sentBy: [], receivedBy: [] },
};
const openssl = { sent: ["SSL_write"], received: ["SSL_read"], sentBy: ["SSL_write_ex"], receivedBy: ["SSL_read_ex"] };
const shaking = { libgnutls: ["gnutls_handshake"], libnspr4: ["SSL_ForceHandshake"] };
const opensslShaking = ["SSL_do_handshake", "SSL_connect", "SSL_accept"];

export function tls(given, fn) {
  [given, fn] = inOrder("gotap/tls", "tls", given, fn, true);
  const o = options("gotap/tls", given, { libraries: usual, limit: 256 });
  const limit = Math.min(1024, o.limit);
  const probes = [], late = [];
  for (const library of o.libraries) {
    const names = moving[library] ?? openssl;
    for (const direction of ["sent", "received"]) {
      const tell = e => fn({ ...e, pid: e.pid, tid: e.tid, comm: e.comm, time: e.time, direction });
      probes.push(returned(places(library, names[direction]), limit, tell));
      const by = names[direction + "By"];
      if (by.length > 0) probes.push(pointed(places(library, by), limit, tell));
      if (names === openssl) late.push(...bios(library, direction, limit, tell));
    }
    if (names === openssl) made(library, late);
  }
  probes.push(...late);
  absent("gotap/tls", probes, o.libraries.join(" or "));
  return { probes };
}

const places = (library, names) => usual.includes(library) ? linked(library, names) : names.map(name => `${library}:${name}`);

// A function of a library may call another one of them; only the outer call counts.
function returned(spec, limit, fn, which) {
  const under = perThread(0);
  return probe(spec, {
    ...which,
    enter(c) {
      this.connection = c.arg0;
      this.from = c.arg1;
      under.value++;
    },
    leave(c) {
      under.value--;
      if (under.value > 0) return;
      const size = (c.ret << 32) >> 32;
      if (size > 0) exit({ func: c.func, connection: this.connection, size, data: bytes(this.from, min(size, limit)) });
    },
    exit: fn,
    optional: true,
  });
}

function pointed(spec, limit, fn, which) {
  return probe(spec, {
    ...which,
    enter(c) {
      this.connection = c.arg0;
      this.from = c.arg1;
      this.moved = c.arg3;
    },
    leave(c) {
      if ((c.ret << 32) >> 32 !== 1) return;
      const size = u64(this.moved);
      exit({ func: c.func, connection: this.connection, size, data: bytes(this.from, min(size, limit)) });
    },
    exit: fn,
    optional: true,
  });
}

const bioType = 519; // BIO_TYPE_SSL, the first word of a method

// The offset of the method in a BIO depends on OpenSSL's version and on the size of a pointer.
function hasConnection(bio) {
  return readable(bio, 16) && (isMethod(ptr(bio + 8)) || isMethod(ptr(bio)) || isMethod(ptr(bio + 4)));
}

function isMethod(p) { return readable(p, 4) && i32(p) === bioType; }

// For a BIO the library does not call SSL_read but the internal function below it, which has no symbol. Sockets are BIOs too, and
// most programs have only those, so these probes are disabled at first.
function bios(library, direction, limit, fn) {
  const name = direction === "sent" ? "BIO_write" : "BIO_read";
  const at = name => library === "libssl" ? linked("libcrypto", [name]) : places(library, [name]);
  const which = { when: c => hasConnection(c.arg0), disabled: true };
  return [returned(at(name), limit, fn, which), pointed(at(name + "_ex"), limit, fn, which)];
}

// made enables the probes when the program makes the first BIO that can contain a connection.
function made(library, late) {
  const making = probe(places(library, ["BIO_f_ssl", "BIO_new_ssl", "BIO_new_ssl_connect", "BIO_new_buffer_ssl_connect"]), {
    enter(c) { exit.hold({}); },
    exit() {
      making.disable();
      for (const p of late) p.enable();
    },
    optional: true,
  });
}

export function handshakes(given, fn) {
  [given, fn] = inOrder("gotap/tls", "handshakes", given, fn, true);
  const o = options("gotap/tls", given, { libraries: usual });
  const probes = o.libraries.map(library => {
    const zero = library in shaking; // these return 0 for success, OpenSSL's return 1
    const under = perThread(0);
    return probe(places(library, shaking[library] ?? opensslShaking), {
      enter(c) {
        this.connection = c.arg0;
        under.value++;
      },
      leave(c) {
        under.value--;
        if (under.value > 0) return;
        const ret = (c.ret << 32) >> 32;
        exit({ func: c.func, connection: this.connection, ns: c.elapsed, ret, ok: zero ? ret === 0 : ret === 1 });
      },
      exit: fn,
      optional: true,
    });
  });
  absent("gotap/tls", probes, o.libraries.join(" or "));
  return { probes };
}
