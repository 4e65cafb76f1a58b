// Package key encodes the keys of maps and aggregations as words.
//
// A key has up to MaxParts parts. A Buffer collects them: programs append one after another (AddWord, AddText,
// AddStack), the host appends Values (AddValue). Words are then what a table stores and compares, and Hash is where it
// starts to search. A Shape has the kinds of an object's parts. It says how much room a key needs (NewShape), whether a
// Buffer has a key of this form (Buffer.Fits), and decodes the words for the host (Shape.Decode).
//
// # Concurrency
//
// A Shape is immutable. A Buffer belongs to one thread; it holds the longest key, so that building one does not
// allocate.
//
// # Reasons
//
// The classes of the parts are not in the key: all keys of one object have the same, and an integer is one word, not
// two. So words of one shape are equal exactly if their keys are equal, and no key is the beginning of another.
package key
