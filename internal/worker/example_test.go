//go:build unix

package worker_test

import (
	"context"
	"fmt"

	"github.com/tenterhook/tenterhook/internal/worker"
)

// A shell that counts stays, and so continues counting.
func Example() {
	pool := worker.NewPool(worker.Options{})
	defer pool.Close()
	const script = `n=0; while read -r event; do n=$((n+1)); echo "{\"systemMessage\": \"event $n\"}"; done`
	plan := func() (worker.Command, error) {
		return worker.Command{Path: "/bin/sh", Argv: []string{"sh", "-c", script}, Dir: "/"}, nil
	}
	for range 2 {
		reply, err := pool.Call(context.Background(), "counter", plan, []byte(`{"tool_name": "Bash"}`))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s\n", reply.Line)
	}
	// Output:
	// {"systemMessage": "event 1"}
	// {"systemMessage": "event 2"}
}
