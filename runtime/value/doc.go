// Package value has the values that leave the machine: parts of keys, fields of records, values of maps. It prints
// them, writes them as JSON, and has the words in which they are stored.
//
// # One value
//
// A program pushes a word or a text. It is stored as words: a number as one word (FromWord, ToWord), a text as a header
// word and its bytes (HeaderWord, PackBytes), a stack as its addresses. The host decodes the words to a Value of the
// Kind that the compiler knows, and prints it (Value.Format, Printf) or encodes it (Value.JSON). Kinds of one Class
// have the same words.
//
// # Concurrency
//
// Values are plain data, and no function here has a state. AppendNumber, FloatToInt and the functions of words are in
// the path of a hit, and do not allocate. Wide's functions allocate: a processor's wide numbers are rare.
//
// # Reasons
//
// Floats print as in JavaScript, because callbacks, which are JavaScript, print the same numbers, and both must look
// alike. Integers beyond 2^53 are strings in JSON, because most readers of JSON have only doubles.
package value
