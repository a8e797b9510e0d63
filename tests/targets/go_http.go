// SPDX-License-Identifier: MIT
// go_http N: an HTTP server on the loopback, asked N times per round by clients in the same process.
package main

import (
	"bufio"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
)

//go:noinline
func handle(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	fmt.Fprintf(w, "%s %d %x", r.Method, n, n*n)
}

func ask(url string, n, step int, out chan uint32) {
	sum := uint32(0)
	for i := 0; i < n; i += step {
		reply, err := http.Get(fmt.Sprintf("%s/?n=%d", url, i))
		if err != nil {
			panic(err)
		}
		body, _ := io.ReadAll(reply.Body)
		reply.Body.Close()
		sum += crc32.ChecksumIEEE(body)
	}
	out <- sum
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	http.HandleFunc("/", handle)
	go http.Serve(listener, nil)
	fmt.Printf("info pid=%d\nready\n", os.Getpid())
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		out, sum := make(chan uint32), uint32(0)
		for id := 0; id < 2; id++ {
			go ask("http://"+listener.Addr().String(), n, 2, out)
		}
		for id := 0; id < 2; id++ {
			sum += <-out
		}
		fmt.Printf("calls=%d checksum=%x\ndone\n", (n+1)/2*2, sum)
	}
}
