// Package state holds what the handlers of one unit share while they are compiled.
//
// That is the layout of the call's storage (`this`), how each map and aggregation is used (its keys and values), and
// facts: types that become known only after text that needs them. One fact from start to end: a handler reads m.get(k),
// and an integer is assumed; a later one stores text. Learn records the fact and sets Learned; the compiler throws the
// round away and begins again with the fact. Refine tells the arena how objects are used, once nothing is wrong.
//
// A State belongs to one round of one unit, on one goroutine. Only Refine changes anything outside of it.
package state
