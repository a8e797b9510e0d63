// SPDX-License-Identifier: MIT
// gc_load ROUNDS: garbage of all sizes beside objects that live long, in a thousand goroutines whose stacks grow and move; panics are
// recovered, null pointers among them. The output is the same in every run.
package main

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
)

type node struct {
	seed        int32
	left, right *node
}

func tree(depth int, seed int32) *node {
	if depth == 0 {
		return &node{seed: seed}
	}
	return &node{seed, tree(depth-1, seed*31+1), tree(depth-1, seed*37+2)}
}

func sum(n *node) int32 {
	if n == nil {
		return 0
	}
	return n.seed + 3*sum(n.left) + 5*sum(n.right)
}

// A stack that grows, and a fault at its end that becomes a panic.
func deep(n int, nothing *node) (result int32) {
	if n == 0 {
		defer func() {
			if recover() != nil {
				result = 1
			}
		}()
		return nothing.seed
	}
	var frame [32]int32
	frame[n%32] = int32(n)
	return deep(n-1, nothing) + frame[n%32] - int32(n)
}

func packed(seed int) int32 {
	text := bytes.Repeat([]byte(strconv.Itoa(seed)+","), 200)
	var small bytes.Buffer
	writer, _ := flate.NewWriter(&small, 1)
	writer.Write(text)
	writer.Close()
	back, err := io.ReadAll(flate.NewReader(&small))
	if err != nil || !bytes.Equal(back, text) {
		panic("what was packed is not what was unpacked")
	}
	return int32(sha256.Sum256(back)[0])
}

func load(rounds, seed int) int32 {
	kept := map[int]*node{}
	check := int32(seed)
	for round := 0; round < rounds; round++ {
		kept[round%5] = tree(6, int32(round))
		check = check*33 + sum(tree(8, int32(round))) + deep(200, nil)
		if round%16 == 0 {
			check += packed(round)
		}
		for _, entry := range kept {
			if sum(entry) != sum(tree(6, entry.seed)) {
				panic("an entry has changed")
			}
		}
	}
	return check
}

func main() {
	rounds, _ := strconv.Atoi(os.Args[1])
	debug.SetGCPercent(20)
	const count = 1000
	sums := make(chan int32, count)
	for seed := 0; seed < count; seed++ {
		go func(seed int) { sums <- load(rounds, seed) }(seed)
	}
	total := int32(0)
	for i := 0; i < count; i++ {
		total += <-sums
	}
	fmt.Printf("sum %d\n", total)
}
