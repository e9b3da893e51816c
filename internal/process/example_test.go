//go:build linux || darwin

package process_test

import (
	"bufio"
	"context"
	"fmt"
	"time"

	"github.com/tenterhook/tenterhook/internal/process"
)

func ExampleRun() {
	spec := process.Spec{
		Path:    "/bin/sh",
		Argv:    []string{"sh", "-c", "cat; no-such-program"},
		Stdin:   []byte("hello\n"),
		Env:     []string{"PATH=/usr/bin:/bin"},
		Timeout: 30 * time.Second,
	}
	res, err := process.Run(context.Background(), spec)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s%s\n", res.Stdout, res.Describe())
	if why, ok := process.Explain(spec, res); ok {
		fmt.Println(why)
	}
	// Output:
	// hello
	// exit code 127
	// no program no-such-program is on the PATH it is run with: install it, or add its folder to PATH
}

func ExampleStart() {
	server, err := process.Start(process.ServiceSpec{
		Path: "/bin/sh",
		Argv: []string{"sh", "-c", `while read -r name; do echo "hello, $name"; done; echo bye >&2; exit 3`},
		Env:  []string{"PATH=/usr/bin:/bin"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	answers := bufio.NewScanner(server.Stdout())
	for _, name := range []string{"world", "again"} {
		fmt.Fprintln(server.Stdin(), name)
		answers.Scan()
		fmt.Println(answers.Text())
	}
	server.Stdin().Close()
	<-server.Done()
	result := server.Result()
	fmt.Printf("%s%s\n", server.StderrTail(), result.Describe())
	// Output:
	// hello, world
	// hello, again
	// bye
	// exit code 3
}
