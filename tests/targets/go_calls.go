// SPDX-License-Identifier: MIT
// go_calls N: N calls of main.work per round, by four goroutines whose stacks grow and which make garbage; each
// work() makes one call of leaf(), a function without a stack check. Speaks the language of target.h.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
)

var garbage [4][]byte

//go:noinline
func leaf(i uint64, s string) uint64 {
	sum := i*0x9e3779b97f4a7c15 + uint64(len(s))
	return sum ^ sum>>7
}

//go:noinline
func work(i uint64, s string) uint64 { return leaf(i, s)*3 + 1 }

// A frame too large for the short form of the stack check.
//
//go:noinline
func wide(i uint64) uint64 {
	var a [64]uint64
	for k := range a {
		a[k] = i * uint64(k)
	}
	return a[i%64] + work(i, "wide")
}

// Grows the goroutine's stack: its entry runs twice each time.
//
//go:noinline
func deep(n, i uint64) uint64 {
	if n == 0 {
		return wide(i)
	}
	return deep(n-1, i) + 1
}

type box struct{ sum uint64 }

//go:noinline
func (b *box) add(n uint64) { b.sum += deep(n%40, n) }

func worker(id int, n uint64, out chan uint64) {
	b := box{}
	for i := uint64(0); i < n; i++ {
		b.add(i)
		if i%16 == 0 {
			garbage[id] = make([]byte, 4096)
		}
	}
	out <- b.sum
}

func main() {
	n := uint64(1000)
	if len(os.Args) > 1 {
		n, _ = strconv.ParseUint(os.Args[1], 0, 64)
	}
	fmt.Printf("info pid=%d version=%s\nready\n", os.Getpid(), runtime.Version())
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		out, sum := make(chan uint64), uint64(0)
		for id := 0; id < 4; id++ {
			go worker(id, n/4, out)
		}
		for id := 0; id < 4; id++ {
			sum += <-out
		}
		fmt.Printf("calls=%d checksum=%x\ndone\n", n/4*4, sum)
	}
}
