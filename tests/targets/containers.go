// SPDX-License-Identifier: MIT
// containers N: N calls of handle() per round, with Go's own types. Speaks the language of target.h.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
)

//go:noinline
func handle(path string, sizes []int, n int, yes bool, ratio float64) int {
	return len(path) + len(sizes) + n
}

func main() {
	n := 2
	if len(os.Args) > 1 {
		n, _ = strconv.Atoi(os.Args[1])
	}
	fmt.Printf("ready\n")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		sum := 0
		for i := 0; i < n; i++ {
			sum += handle("/go", []int{1, -2, 3}, i, i%2 == 0, 1.5)
		}
		fmt.Printf("calls=%d sum=%d\ndone\n", n, sum)
	}
}
