// Package asm assembles x86-64 instructions: those that package amd64 makes its code of.
//
// An Assembler appends instructions for a fixed address, with a method for each form. Labels name places before they
// are known; Finish fills them in. What cannot be encoded, a far address or a label without a place, is an error of
// Finish, so that code that emits needs no errors of its own.
//
// An Assembler belongs to one goroutine.
package asm
