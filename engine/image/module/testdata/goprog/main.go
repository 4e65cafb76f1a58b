package main

import "fmt"

type Stack struct{ items []int }

//go:noinline
func (s *Stack) Len() int { return len(s.items) }

//go:noinline
func work(s string, n int, f float64, _ int, xs []byte, e error) (int, string) {
	fmt.Println(s, n, f, xs, e)
	return n + len(xs), s
}

//go:noinline
func Map[T any](x T, k int) string { return fmt.Sprint(x, k) }

type big struct{ a, b, c, d, e, f, g, h, i, j int }

//go:noinline
func huge(x int, b big, y int32, arr [2]int, one [1]int) int {
	fmt.Println(b, arr, one)
	return int(y) + x + b.j
}

func asmadd(a, b int) int

func main() {
	s := &Stack{}
	fmt.Println(s.Len())
	fmt.Println(work("hi", 3, 2.5, 1, []byte("xyz"), nil))
	fmt.Println(Map(3, 4), Map("s", 5))
	fmt.Println(huge(1, big{j: 3}, 4, [2]int{5, 6}, [1]int{7}), asmadd(1, 2))
}
