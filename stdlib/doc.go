// Package stdlib is the library of script modules, embedded into the binary: import … from "gotap/NAME" finds NAME.js here.
//
// A module is plain JavaScript with its documentation in front: its exports are functions that programs can call (they are
// inlined) or callbacks use. There is no registration: a file in this folder is a module.
package stdlib
