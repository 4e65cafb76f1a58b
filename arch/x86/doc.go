package x86
