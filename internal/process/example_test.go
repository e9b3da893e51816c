//go:build linux || darwin

package process_test

import (
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
