// gotap/names: names of functions for people.
//
//   import { brief } from "gotap/names";
//   probe("std::*", { enter(c) { exit({ func: c.func }); }, exit(e) { console.log(brief(e.func)); } });
//
// brief(name)       the name with short template arguments: those that the C++ library fills in (allocators, comparisons, hashes) are left
//                   out, std::basic_string is std::string, and what is still longer than 24 characters is "<..>". Rust's generic
//                   arguments are shortened in the same way. Different functions can have the same brief name.
// distinct(names)   a function that returns the brief name of each; of those that would have the same one, arguments are longer
//
// Host only.

const lengths = [24, 48, 96, Infinity]; // of arguments
const filledIn = /^std::(?:__\w+::)?(?:allocator|char_traits|less|hash|equal_to|default_delete)</;
const operator = /\boperator(?:<=>|<<=|>>=|->\*|<<|>>|<=|>=|->|<|>)/y;

export function brief(name) { return within(name, lengths[0]); }

export function distinct(names) {
  const shown = new Map();
  let left = [...new Set(names)];
  for (const longest of lengths) {
    const uses = new Map(), text = name => longest < Infinity ? within(name, longest) : name;
    for (const name of left) uses.set(text(name), (uses.get(text(name)) ?? 0) + 1);
    for (const name of left) if (uses.get(text(name)) === 1) shown.set(name, text(name));
    left = left.filter(name => !shown.has(name));
  }
  return name => shown.get(name) ?? name;
}

function within(name, longest) { return name.includes("<") ? shortened(name, 0, "", longest).text : name; }

// shortened reads from a position of a name up to a character that closes a bracket, or to the end. It returns the text, shortened, and
// where it ends; parts are the texts between commas.
function shortened(name, at, close, longest) {
  const parts = [];
  let text = "";
  while (at < name.length && name[at] !== close) {
    operator.lastIndex = at;
    const c = name[at], symbol = operator.exec(name)?.[0];
    if (symbol) {
      text += symbol;
      at += symbol.length;
      if (name.startsWith(" <", at)) text += name[at++];
    } else if (c === "," && close === ">") {
      parts.push(text);
      text = "";
      at += name[at + 1] === " " ? 2 : 1;
    } else if (c === "<" && /\w$|operator\S+ ?$/.test(text)) {
      const inside = shortened(name, at + 1, ">", longest);
      text = withArguments(text, inside, longest);
      at = inside.end;
    } else if (c in brackets) {
      const inside = shortened(name, at + 1, brackets[c], longest);
      text += c + inside.text + inside.closed;
      at = inside.end;
    } else {
      text += c;
      at++;
    }
  }
  const closed = at < name.length ? close : "";
  return { text, parts: [...parts, text], closed, end: at + closed.length };
}

const brackets = { "<": ">", "(": ")", "{": "}", "[": "]" };

// withArguments puts template arguments behind a name.
function withArguments(name, { parts, closed }, longest) {
  const told = parts.filter((part, k) => k === 0 || !closed || !filledIn.test(part)).map(part => part.trimEnd());
  if (/^std::(?:__\w+::)?basic_string$/.test(name) && told.length === 1 && told[0] === "char" && closed) return "std::string";
  const args = told.join(", ");
  if (args.length <= longest) return `${name}<${args}${closed}`;
  return `${name}<..${closed}`;
}
