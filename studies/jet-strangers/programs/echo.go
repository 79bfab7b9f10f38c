// Go: a goroutine for each connection. A request is a length of four bytes, its answer that many bytes.
//
// serve HOST PORT, or ask HOST PORT CONNECTIONS SIZE SECONDS: each connection asks again when it has its answer.
// The output is a latency in microseconds per line, then the seconds that it all took.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strconv"
	"sync"
	"time"
)

func payload(size int) []byte {
	data := make([]byte, size)
	for index := range data {
		data[index] = byte(index % 251)
	}
	return data
}

func answer(connection net.Conn) {
	defer connection.Close()
	var request [4]byte
	var data []byte
	for {
		if _, err := io.ReadFull(connection, request[:]); err != nil {
			return
		}
		if size := int(binary.BigEndian.Uint32(request[:])); size != len(data) {
			data = payload(size)
		}
		if _, err := connection.Write(data); err != nil {
			return
		}
	}
}

func serve(address string) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go answer(connection)
	}
}

func ask(address string, size int, until time.Time) (latencies []time.Duration) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	expected, got := payload(size), make([]byte, size)
	request := binary.BigEndian.AppendUint32(nil, uint32(size))
	for time.Now().Before(until) {
		start := time.Now()
		if _, err := connection.Write(request); err != nil {
			log.Fatal(err)
		}
		if _, err := io.ReadFull(connection, got); err != nil {
			log.Fatal(err)
		}
		latencies = append(latencies, time.Since(start))
		if !bytes.Equal(got, expected) {
			log.Fatal("an answer differs")
		}
	}
	return latencies
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	address := net.JoinHostPort(os.Args[2], os.Args[3])
	if os.Args[1] == "serve" {
		serve(address)
	}
	connections, size, seconds := number(os.Args[4]), number(os.Args[5]), number(os.Args[6])
	start := time.Now()
	until := start.Add(time.Duration(seconds) * time.Second)
	measured := make([][]time.Duration, connections)
	var group sync.WaitGroup
	for index := range measured {
		group.Add(1)
		go func(index int) {
			defer group.Done()
			measured[index] = ask(address, size, until)
		}(index)
	}
	group.Wait()
	took := time.Since(start)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, latencies := range measured {
		for _, latency := range latencies {
			fmt.Fprintln(out, latency.Microseconds())
		}
	}
	fmt.Fprintln(out, "seconds", took.Seconds())
}
