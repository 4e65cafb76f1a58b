# Run by gdb: stops at each of PLACES and records registers and memory there, one JSON object a line. With EXPRESSIONS
# ("function=a,b->c;…") it goes on by STEPS single instructions within the function, and records what gdb makes of
# each expression; null where gdb says that it is optimised out or unknown. With QEMU, an emulator's name, the program runs
# under that, and DATA lists the pages of its data.
import atexit
import base64
import json
import os
import subprocess
import time

import gdb

out = open(os.environ["RECORD"], "w")
word = int(os.environ["WORD"])
names = os.environ["REGS"].split()
steps = int(os.environ.get("STEPS", "0"))
stack = next(n for n in ("rsp", "esp", "sp") if n in names)
expressions = {}
for part in filter(None, os.environ.get("EXPRESSIONS", "").split(";")):
    function, _, list_ = part.partition("=")
    expressions[function] = list_.split(",")


def run(command):
    return gdb.execute(command, to_string=True)


def writable():
    """where the program's own data is mapped, and where its code starts"""
    program, found, start = os.path.realpath(gdb.current_progspace().filename), [], None
    for line in run("info proc mappings").splitlines():
        part = line.split()
        if len(part) >= 5 and part[-1] == program:
            if start is None:
                start = int(part[0], 16)
            found += range(int(part[0], 16), int(part[1], 16), 4096)
    return found, start


def registers():
    mask = (1 << (8 * word)) - 1
    regs = {n: str(int(gdb.parse_and_eval("(unsigned long long)$" + n)) & mask) for n in names}
    form, low = {"rsp": ("xmm%d", "v2_int64[0]"), "esp": ("xmm%d", "v2_int64[0]"), "sp": ("d%d", "u64") if word == 4 else ("v%d", "d.u[0]")}[stack]
    for n in range(8):
        regs[form % n] = str(int(gdb.parse_and_eval("$" + form % n + "." + low)) & (1 << 64) - 1)
    return regs


recorded = {}  # pages as they were recorded last


def pages(addresses):
    """the pages that there are; "" for one that is as it was recorded last"""
    found = {}
    for addr in set(addresses):
        try:
            now = bytes(gdb.selected_inferior().read_memory(addr, 4096))
        except gdb.MemoryError:
            continue
        found[str(addr)] = "" if recorded.get(addr) == now else base64.b64encode(now).decode()
        recorded[addr] = now
    return found


def referred(regs):
    """the pages that registers and the words on top of the stack point to"""
    sp = int(regs[stack])
    top = bytes(gdb.selected_inferior().read_memory(sp, 16 * word))
    words = [int.from_bytes(top[i:i + word], "little") for i in range(0, 16 * word, word)]
    return [v & ~4095 for v in words + [int(regs[n]) for n in names]]


def value(expression):
    try:
        v = gdb.parse_and_eval(expression)
        if v.type.strip_typedefs().code == gdb.TYPE_CODE_FLT:
            return repr(float(v))
        return str(int(v))
    except gdb.error:
        return None


def record():
    regs = registers()
    sp = int(regs[stack]) & ~4095
    name = gdb.newest_frame().name().split("::")[-1]
    print(json.dumps({"function": name, "regs": regs, "pages": pages([sp - 4096, sp, sp + 4096, sp + 8192] + data + referred(regs)),
                      "values": {e: value(e) for e in expressions.get(name, [])}}), file=out)
    return name


def emulate(emulator, socket):
    """has the emulator run the program, with us as its debugger"""
    process = subprocess.Popen([emulator, "-g", socket, gdb.current_progspace().filename])
    # Our streams are its streams too: who reads them waits for its end, whatever becomes of us.
    atexit.register(process.kill)
    while True:
        try:  # its socket has a name for a moment before anybody listens there
            return run("target remote " + socket)
        except gdb.error:
            if process.poll() is not None:
                raise SystemExit("the emulator has ended")
        time.sleep(0.01)


for command in ("set pagination off", "set confirm off", "set style enabled off"):
    run(command)
run("set language " + os.environ.get("LANGUAGE", "auto"))
run("break main")
if "QEMU" in os.environ:
    emulate(os.environ["QEMU"], os.environ["RECORD"] + ".gdb")
    run("continue")
    data, start = [int(a) for a in os.environ["DATA"].split()], None
else:
    run("run")
    data, start = writable()
print(json.dumps({"start": start}), file=out)
for place in os.environ["PLACES"].split():
    run("break *&" + place)
run("delete 1")
try:
    while True:
        run("continue")
        first = record()
        for _ in range(steps):
            run("stepi")
            if gdb.newest_frame().name().split("::")[-1] != first:
                run("finish")
            if record() != first:
                break
except gdb.error:
    pass  # the program has ended
out.close()
