import { layout } from "gotap/structs";
const l = layout({ a: "u8", b: "i32", c: "u16", d: "u64", e: "char[5]", f: "u8[2]", g: "f32" });
is(l.size, 40); // as gcc lays out { uint8_t; int32_t; uint16_t; uint64_t; char[5]; uint8_t[2]; float }
const raw = new Uint8Array(42);
raw[2] = 200; raw[6] = 0xfe; raw[7] = 0xff; raw[8] = 0xff; raw[9] = 0xff; raw[10] = 1; raw[11] = 2;
raw.fill(0xff, 18, 26); raw.set([104, 105, 0, 1, 1, 7, 8], 26); raw.set([0, 0, 0x80, 0x3f], 34);
const v = l.read(raw, 2);
is(v.a, 200); is(v.b, -2); is(v.c, 513); is(v.d, 18446744073709551615n); is(v.e, "hi"); is(v.f, [7, 8]); is(v.g, 1);
is(typeof layout({ a: "u64" }).read(new Uint8Array(8)).a, "number");
fails(() => l.read(new Uint8Array(10)), "10 bytes are too few for 40");
fails(() => layout({ a: "u9" }), "unknown type u9");
console.log("done");
