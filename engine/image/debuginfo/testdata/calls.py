# Run by gdb: stops at the first instruction of each of PLACES ("name=address in the file …") and after its return, and records registers and memory there,
# one JSON object a line. EXPRESSIONS ("function=a,b->c;…") are what gdb is asked where it takes the arguments to be in
# their places, which is behind the prologue, and of the result; there "result" stands for the function's. null is where gdb
# says that it is optimised out or unknown. With FINISH=no gdb does not evaluate results.
# MAIN is the function that the program begins with. MOVED=yes: the file is not mapped at its own addresses.
import base64
import json
import os

import gdb

out = open(os.environ["RECORD"], "w")
names = "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split()
asked = {}
for part in filter(None, os.environ.get("EXPRESSIONS", "").split(";")):
    function, _, list_ = part.partition("=")
    asked[function] = list_.split(",")
finish = os.environ.get("FINISH") != "no"


def run(command):
    return gdb.execute(command, to_string=True)


def registers():
    mask = (1 << 64) - 1
    regs = {n: str(int(gdb.parse_and_eval("(unsigned long long)$" + n)) & mask) for n in names}
    for n in range(15):
        for half in range(2):
            regs["xmm%d" % n + "h" * half] = str(int(gdb.parse_and_eval("$xmm%d.v2_int64[%d]" % (n, half))) & mask)
    for n, line in enumerate(run("info registers st0 st1").splitlines()):
        raw = int(line.rpartition("(raw ")[2].rstrip(")"), 16)
        regs["fr%d" % n], regs["fr%dh" % n] = str(raw & mask), str(raw >> 64)
    return regs


def read(addr, size):
    return bytes(gdb.selected_inferior().read_memory(addr, size))


def pages(addresses):
    found = {}
    for addr in set(addresses):
        try:
            found[str(addr)] = base64.b64encode(read(addr, 4096)).decode()
        except gdb.MemoryError:
            pass
    return found


def referred(regs):
    """the pages of the stack, and those that registers and the words on top of the stack point to"""
    sp = int(regs["rsp"])
    words = [int.from_bytes(read(sp + i, 8), "little") for i in range(0, 384, 8)]
    page = sp & ~4095
    return [page - 4096, page, page + 4096, page + 8192] + [v & ~4095 for v in words + [int(regs[n]) for n in names]]


def number(v):
    try:
        t = v.type.strip_typedefs()
        if t.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            v = v.referenced_value()
            t = v.type.strip_typedefs()
        if t.sizeof > 8 and t.code in (gdb.TYPE_CODE_FLT, gdb.TYPE_CODE_INT):
            return v.format_string()  # gdb gives Python no more than 8 bytes
        return repr(float(v)) if t.code == gdb.TYPE_CODE_FLT else str(int(v))
    except (gdb.error, OverflowError):
        return None


def value(expression):
    for part, function in ((".real", "$_creal"), (".imag", "$_cimag")):
        if expression.endswith(part):
            expression = "%s(%s)" % (function, expression[: -len(part)])
    try:
        return number(gdb.parse_and_eval(expression))
    except gdb.error:
        return None


def record(moment, name, values):
    regs = registers()
    print(json.dumps({"moment": moment, "function": name, "regs": regs, "pages": pages(referred(regs)), "values": values}), file=out)


def result_values(name, whole):
    values = {}
    if whole is not None:
        gdb.set_convenience_variable("result", whole)
        for e in asked.get(name, []):
            if e.startswith("result"):
                values[e] = value("$" + e)
    return values


def shares_long_double(t, in_union=False):
    t = t.strip_typedefs()
    if t.code == gdb.TYPE_CODE_ARRAY:
        return shares_long_double(t.target(), in_union)
    if t.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        in_union = in_union or t.code == gdb.TYPE_CODE_UNION
        return any(shares_long_double(f.type, in_union) for f in t.fields() if hasattr(f, "bitpos"))
    return in_union and t.code == gdb.TYPE_CODE_FLT and t.sizeof == 16


def can_finish(function):
    """whether gdb can tell how a function returns: gdb 13 crashes for a union of a long double and something else"""
    return finish and not (function and shares_long_double(function.type.target()))


class Return(gdb.FinishBreakpoint):
    def __init__(self, name):
        super().__init__(gdb.newest_frame(), internal=True)
        self.name = name

    def stop(self):
        record("return", self.name, result_values(self.name, self.return_value))
        return False


# gdb prints where it stops, and has crashed while it printed the arguments there.
for command in ("set pagination off", "set confirm off", "set style enabled off", "set breakpoint pending on", "set print frame-arguments none"):
    run(command)
run("set language " + os.environ.get("LANGUAGE", "auto"))
run("tbreak " + os.environ["MAIN"])
run("run")
program, start = os.path.realpath(gdb.current_progspace().filename), None
for line in run("info proc mappings").splitlines():
    part = line.split()
    if start is None and len(part) >= 5 and part[-1] == program:
        start = int(part[0], 16)
print(json.dumps({"start": start}), file=out)
entries, posts, returns = {}, {}, {}
for place in os.environ["PLACES"].split():
    name, _, offset = place.partition("=")
    at = int(offset) + (start if os.environ["MOVED"] == "yes" else 0)
    gdb.Breakpoint("*%d" % at)
    entries[at] = name
    if asked:
        post = gdb.Breakpoint(name)
        posts[post.locations[0].address] = name
try:
    while True:
        run("continue")
        pc = int(gdb.parse_and_eval("(unsigned long long)$pc"))
        if pc in returns:
            name, breakpoint = returns.pop(pc)
            breakpoint.delete()
            record("return", name, {})
        if pc in entries:
            record("entry", entries[pc], {})
            if can_finish(gdb.newest_frame().function()):
                Return(entries[pc])
            else:
                back = int.from_bytes(read(int(gdb.parse_and_eval("(unsigned long long)$rsp")), 8), "little")
                returns[back] = (entries[pc], gdb.Breakpoint("*%d" % back, internal=True))
        if pc in posts:
            print(json.dumps({"moment": "body", "function": posts[pc], "values": {e: value(e) for e in asked.get(posts[pc], []) if not e.startswith("result")}}), file=out)
except gdb.error:
    pass  # the program has ended
out.close()
