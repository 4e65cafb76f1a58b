// gotap/tls: what goes through TLS libraries, before it is encrypted and after it is decrypted.
//
//   import { tls } from "gotap/tls";
//   import { printable } from "gotap/hexdump";
//   tls({ limit: 64 }, e => console.log(e.direction, e.size, printable(e.data)));
//
// tls({ libraries, limit }, fn)        calls fn with { direction: "sent" | "received", func, connection, size, data }: data is the first
//                                      limit bytes (256, at most 1024), size what the call moved, connection the library's handle
// handshakes({ libraries }, fn)        calls fn with { func, connection, ns, ret, ok } when a handshake function returns; one that would block
//                                      is called again, and is not ok that time. One that another calls is not reported
//   libraries   any of "libssl" (OpenSSL and its like), "libgnutls", which are also found in a program that was linked with them
//               statically, as node is; "libnspr4" (NSS; its functions carry unencrypted streams too), or a module that has OpenSSL
//               in it; ["libssl", "libgnutls"] when left out
//   both give { probes }
//
// What a program reads and writes through a BIO of OpenSSL that has a connection in it (BIO_f_ssl) is reported too; BIO_read and BIO_write
// are probed from when the program first makes one on.
//
// Plain text is what people want to keep secret: print no more of it than needed. A target without the libraries runs as it
// would, and a line at the end says so. Go's crypto/tls is none of these.

import { inOrder, options, absent, linked } from "gotap/module";

const usual = ["libssl", "libgnutls"];

// A call moves what it returns, when that is positive; those with _ex put it where an argument points.
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

// A function of a library may do its work by another one of the same: that is one call.
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

const bioType = 519; // BIO_TYPE_SSL: of a method, the first word

// Where a BIO has its method depends on the version, and on the width of a pointer.
function hasConnection(bio) {
  return readable(bio, 16) && (isMethod(ptr(bio + 8)) || isMethod(ptr(bio)) || isMethod(ptr(bio + 4)));
}

function isMethod(p) { return readable(p, 4) && i32(p) === bioType; }

// The library does not call its own SSL_read for a BIO, but what that calls, which has no name outside. Every socket is a BIO, too, and
// most programs have no others: so these are disabled at first.
function bios(library, direction, limit, fn) {
  const name = direction === "sent" ? "BIO_write" : "BIO_read";
  const at = name => library === "libssl" ? linked("libcrypto", [name]) : places(library, [name]);
  const which = { when: c => hasConnection(c.arg0), disabled: true };
  return [returned(at(name), limit, fn, which), pointed(at(name + "_ex"), limit, fn, which)];
}

// made enables probes as the first BIO is made that can have a connection in it.
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
    const zero = library in shaking; // these return 0 when it went well, OpenSSL's 1
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
