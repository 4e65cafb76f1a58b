// ---- values -------------------------------------------------------------------------------------------------------

/** A 64-bit integer. The host gets a number where that is exact, and a BigInt beyond 2^53. */
type Int = number | bigint;

/** An address in the target. */
type Pointer = Int;

/** Bytes of the target. In programs they have a length; the host gets them as an array. */
type Bytes = Uint8Array;

/** A part of a key. */
type Key = string | boolean | Int | Stack;

/**
 * What a program is called with. One parameter is the context. Several stand for the arguments of the probed function:
 * `probe("libc:write", (fd, buf, n) => log(fd, n))`; so the first one is either.
 */
type Program<C extends Context = Context> = (this: Call, c: C & number, ...args: number[]) => void;

/** What `this` keeps for one call, from enter to leave: integers, floats, booleans and text. */
interface Call { [field: string]: any }

/** What an exit callback gets: the record of the program, and what is known of the hit. */
interface Event {
  readonly pid: number;
  readonly tid: number;
  /** name of the thread */
  readonly comm: string;
  /** name of the probe */
  readonly probe: string;
  /** monotonic nanoseconds */
  readonly time: number;
  [field: string]: any;
}

/** What a callback of facility() gets: the log of a hit whose program ended with `exit NUMBER`. */
interface FacilityEvent {
  readonly facility: number;
  readonly pid: number;
  readonly tid: number;
  readonly comm: string;
  readonly probe: string;
  readonly time: number;
  readonly major: number;
  readonly minor: number;
  readonly group: number;
  readonly type: number;
  /** the probed instruction faulted */
  readonly fault: boolean;
  /** what was logged: numbers, text, bytes */
  readonly log: any[];
}

/** A callback's place among those of the same event. */
interface Hook {
  /** is called from now on */
  arm(): void;
  /** is called no more, and keeps its place */
  disarm(): void;
  readonly armed: boolean;
}

/** Return addresses. As text it has a line for each frame. */
interface Stack {
  /** innermost first, calls that were inlined too */
  readonly frames: Frame[];
  readonly length: number;
  toString(): string;
  toJSON(): string[];
}

/** One call of a stack. Text that is not known is empty. */
interface Frame {
  addr: Int;
  func: string;
  /** of the address in the function; 0 for an inlined call */
  offset: Int;
  /** the compiler put the function's code into that of the next frame */
  inlined: boolean;
  module: string;
  file: string;
  line: number;
}

// ---- programs whose types are known -------------------------------------------------------------------------------

/** Functions by name. Files that `gotap init PROG` writes declare them. */
interface Places {}

/** Variables by name, for global(). */
interface Globals {}

/** Types by name, for cast(). */
interface NamedTypes {}

/** An array, or a pointer, in the program: the number is its address. */
type Elements<T> = number & { readonly [index: number]: T };

/** The context at a function whose types are known. */
type At<C extends Context, P extends keyof Places> = Omit<C, "args"> & { readonly args: Arguments<Places[P]> };

/** The context where such a function has returned. */
type AfterCall<P extends keyof Places> = Omit<LeaveContext, "args" | "ret" | "rets"> & {
  readonly args: Arguments<Places[P]>;
  readonly rets: Results<Places[P]>;
  get ret(): Result<Places[P]>;
  set ret(value: any);
};

type Arguments<F> = F extends { args: any } ? F["args"] : any;

type Results<F> = F extends { rets: any } ? F["rets"] : any;

type Result<F> = F extends { ret: any } ? F["ret"] : any;

/** Handlers and options of a probe at such a function. */
type PlaceHandlers<P extends keyof Places> = Omit<Handlers, "enter" | "post" | "leave" | "fault"> & {
  enter?: Program<At<Context, P>>;
  post?: Program<At<Context, P>>;
  leave?: Program<AfterCall<P>>;
  fault?: Program<At<FaultContext, P>>;
};

// ---- objects ------------------------------------------------------------------------------------------------------

/** A probe that was placed. */
interface Probe {
  /** arms it, when it was disabled */
  enable(): void;
  /** takes its breakpoints out until enable(); what its programs keep stays */
  disable(): void;
  /** takes it out for good */
  remove(): void;
  /** hits that its programs looked at */
  readonly hits: number;
  /** hits that were not looked at */
  readonly missed: number;
  /** places where it is armed now */
  readonly places: number;
  /** its option name, or its first place: what gotap ctl knows it by */
  readonly name: string;
}

/** A function that is called at an interval, or once. */
interface Timer {
  /** ends it: the function is not called any more */
  stop(): void;
}

interface AggregationOptions {
  /** parts of a key, up to 16; found out from the first use when left out */
  keys?: number;
  /** keys there is room for */
  max?: number;
  /** what becomes of a new key when there is no room: "drop" */
  full?: "drop" | "evict" | "error";
}

interface KeyedOptions extends AggregationOptions { keys: number }

interface HistogramOptions extends AggregationOptions {
  /** every power of two is parted into 2 to this many buckets, 0 (not parted) to 5: 2 tells values apart that differ by a quarter */
  bits?: number;
}

interface KeyedHistogramOptions extends HistogramOptions { keys: number }

interface SeriesOptions {
  /** how long an interval is, "100ms", "1s", or milliseconds: "1s" */
  interval?: string | number;
  /** how many are kept: 60 */
  intervals?: number;
  /** what an interval holds of the values added in it: "sum" */
  of?: "sum" | "min" | "max" | "avg";
  /** parts of a key, up to 15; found out from the first use when left out */
  keys?: number;
  /** keys there is room for: 64 */
  max?: number;
}

interface KeyedSeriesOptions extends SeriesOptions { keys: number }

interface PrintOptions {
  /** so many entries, the largest */
  top?: number;
  /** divides values */
  div?: number;
}

/** What a program, or the host, adds to. */
interface Cell {
  /** adds a value: to the sum, the buckets, the average */
  add(value: Int): void;
  /** adds 1 */
  inc(): void;
}

/** What aggregations and maps have on the host. */
interface Printable {
  /** forgets all that was added */
  clear(): void;
  /** prints it now; what a script never printed prints at the end */
  print(options?: PrintOptions): void;
  /** the text that print() prints */
  toString(): string;
}

/** An aggregation without keys, or with keys that its options do not tell. */
interface Aggregation<T> extends Cell, Printable {
  /** under a key */
  at(...key: Key[]): Cell;
  /** host only: the value now */
  get(...key: Key[]): T;
  /** host only: pairs of key and value; a key of several parts is an array */
  entries(): [key: any, value: NonNullable<T>][];
  /** host only: the value, which starts anew */
  take(): T;
  /** what a record of -f json holds of it */
  toJSON(): any;
}

/** An aggregation declared with keys. */
interface KeyedAggregation<T> extends Printable {
  /** under a key */
  at(...key: Key[]): Cell;
  /** host only: the value of a key, if it has one */
  get(...key: Key[]): T | undefined;
  /** host only: pairs of key and value; a key of several parts is an array */
  entries(): [key: any, value: T][];
  /** host only: the entries, and it starts anew */
  take(): [key: any, value: T][];
  /** what a record of -f json holds of it */
  toJSON(): any;
}

/** Keys with a value each, an integer or text. A key may have several parts. */
interface TraceMap extends Printable {
  /** the parts of a key, then the value */
  set(key: Key, ...partsAndValue: [Key, ...Key[]]): this;
  /** the value of a key; without one 0 in programs, undefined on the host */
  get(...key: Key[]): any;
  /** whether there is such a key */
  has(...key: Key[]): boolean;
  /** removes a key; on the host it tells whether there was one */
  delete(...key: Key[]): boolean;
  /** adds 1 or, behind a key of as many parts as the map has, that many; the new value */
  inc(...keyAndBy: [Key, ...Key[]]): number;
  /** host only: pairs of key and value; a key of several parts is an array */
  entries(): [key: any, value: any][];
  /** host only: the entries, and it starts anew */
  take(): [key: any, value: any][];
  /** what a record of -f json holds of it */
  toJSON(): any;
}

/** A variable that each thread has its own of. It has a value in programs only. */
interface PerThread<T = number> { value: T }

/** What stats() holds. */
interface Stats {
  count: number;
  average: number;
  total: number;
  /** as of a sample: the sum of the squared differences, divided by count - 1 */
  variance: number;
  stddev: number;
  min: number;
  /** quantiles, at most 1/32 from the value */
  p50: number;
  p90: number;
  p99: number;
  max: number;
  /** the value that a part of all values, from 0 to 1, does not exceed: quantile(0.95) */
  quantile(part: number): number;
}

/** What hist() and lhist() hold. */
interface Histogram { buckets: Bucket[] }

/** What tseries() holds for one interval. */
interface Point {
  /** when it began, in monotonic nanoseconds */
  start: Int;
  /** left out where nothing was added, but a sum is 0 there */
  value?: Int;
}

/** Values from min to max; an open end is left out. */
interface Bucket {
  min?: number;
  max?: number;
  count: number;
}

// ---- modules ------------------------------------------------------------------------------------------------------

/** The standard library. */
declare module "gotap/*";

/** Loads a module, "gotap/NAME" or "./file.js", as CommonJS does. */
declare function require(name: string): any;

interface TrailOptions {
  /** bytes a thread's trail holds: 16384 */
  bytes?: number;
  /** threads that have a trail at a time: 1024 */
  threads?: number;
}

/** What a thread logs on the way to something that may never come. In programs only. */
interface Trail {
  /** a line that waits */
  log(...values: any[]): void;
  /** the same as log */
  print(...values: any[]): void;
  /** the same, as C's printf formats it */
  printf(format: string, ...values: any[]): void;
  /** an event that waits; the program continues */
  emit(record?: Record<string, any>): void;
  /** ends the program; its event waits */
  exit(record?: Record<string, any>): never;
  /** tells the host what waits in this thread's trail, with the times of its own hits */
  commit(): void;
  /** forgets what waits in this thread's trail */
  discard(): void;
}

interface RecorderOptions {
  /** how many are kept: 1024 */
  events?: number;
  /** of the largest one: 512 */
  bytes?: number;
  /** when it is dumped by itself: any signal, the end of a process by a signal, the end of the run, or a signal's name */
  on?: RecorderTrigger | RecorderTrigger[];
}

type RecorderTrigger = "signal" | "crash" | "end" | `SIG${string}`;

/** The last events of all threads. In programs it has log, print, printf, emit and exit; callbacks dump it. */
interface Recorder {
  /** a line that is kept */
  log(...values: any[]): void;
  /** the same as log */
  print(...values: any[]): void;
  /** the same, as C's printf formats it */
  printf(format: string, ...values: any[]): void;
  /** an event that is kept; the program continues */
  emit(record?: Record<string, any>): void;
  /** ends the program; its event is kept */
  exit(record?: Record<string, any>): never;
  /** host only: delivers what is kept, oldest first, as if it came now; each is delivered once */
  dump(): RecorderDump;
}

interface RecorderDump {
  /** how many were delivered */
  records: number;
  /** how many others there were since the last dump */
  overwritten: number;
}

/** What a value is compared with. Integers are the same as numbers and as BigInts. */
interface Matchers {
  toBe(value: any): void;
  /** compares objects and lists by what they hold */
  toEqual(value: any): void;
  /** a text in a text, an element in a list */
  toContain(value: any): void;
  toMatch(pattern: RegExp | string): void;
  toBeGreaterThan(value: Int): void;
  toBeLessThan(value: Int): void;
  toBeTruthy(): void;
  toBeUndefined(): void;
}

interface Expectation extends Matchers {
  readonly not: Matchers;
}

/** A table, for report: rows of values under columns. */
interface TableRecord { name: string; columns: string[]; rows: any[][] }

/** When and where something happened. */
interface Occasion { time?: Int; pid?: Int; tid?: Int; comm?: string }

/** What happened in a thread, for report. The record takes time and thread of event, such as one that a callback got. */
interface EventRecord extends Occasion { name: string; data: Record<string, any>; event?: Occasion }
