# Run by gdb: stops at `mark` (or what STOP names), then records the registers, the stack and gdb's own backtrace of
# each of the next STEPS instructions, as one JSON object a line. The first line holds what is mapped.
import base64
import json
import os

import gdb

out = open(os.environ["RECORD"], "w")
steps = int(os.environ.get("STEPS", "40"))
names = os.environ["REGS"].split()
word = int(os.environ.get("WORD", "8"))


def run(command):
    return gdb.execute(command, to_string=True)


def mappings():
    found = []
    for line in run("info proc mappings").splitlines():
        part = line.split()
        if len(part) >= 4 and part[0].startswith("0x"):
            lo, hi, path, data = int(part[0], 16), int(part[1], 16), part[-1], ""
            if path == "[vdso]":
                data = base64.b64encode(bytes(gdb.selected_inferior().read_memory(lo, hi - lo))).decode()
            elif not path.startswith("/"):
                path = ""
            found.append({"lo": lo, "hi": hi, "off": int(part[3], 16), "path": path, "data": data})
    return found


def register(name):
    mask = (1 << (8 * word)) - 1
    return int(gdb.parse_and_eval("(unsigned long long)$" + name)) & mask


recorded = {}  # pages as they were recorded last


def page(addr):
    """a page, None if there is none, "" if it is as it was recorded last"""
    try:
        now = bytes(gdb.selected_inferior().read_memory(addr, 4096))
    except (gdb.error, OverflowError, TypeError):
        return None
    if recorded.get(addr) == now:
        return ""
    recorded[addr] = now
    return base64.b64encode(now).decode()


def chain():
    """the frames there are on the stack, without those that gdb infers of inlined functions and of tail calls, and the
    pages they lie in"""
    pcs, pages, frame = [], set(), gdb.newest_frame()
    while frame is not None and len(pcs) < 60:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            pcs.append(frame.pc())
            sp = int(frame.read_register("sp")) & ((1 << (8 * word)) - 1) & ~4095
            pages |= {sp + 4096 * n for n in range(-1, 5)}  # a vector state saved by the loader takes 11 KB
        frame = frame.older()
    return pcs, {str(p): page(p) for p in pages}


def record():
    regs = {n: register(n) for n in names}
    pcs, pages = chain()
    print(json.dumps({"regs": regs, "pages": {p: b for p, b in pages.items() if b is not None}, "chain": pcs}), file=out)


for command in ("set pagination off", "set confirm off", "set backtrace past-main on", "set backtrace past-entry on",
                "handle SIGUSR1 nostop noprint pass", "handle SIGUSR2 nostop noprint pass", "set disable-randomization off"):
    run(command)
run("break main")
run("run")
print(json.dumps(mappings()), file=out)
for place in os.environ.get("STOP", "mark").split():
    run("break *" + place if place[0] == "&" else "break *&" + place)
run("delete 1")
try:
    while True:
        run("continue")
        for _ in range(steps):
            record()
            run("stepi")
except gdb.error:
    pass  # the program has ended; gdb kills it if it has not
out.close()
