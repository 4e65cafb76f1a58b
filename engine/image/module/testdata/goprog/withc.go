//go:build withc

package main

import "goprog/cc"

func init() { println(cc.Twice(4)) }
