// Command tenterhook lists, checks, explains and runs the hooks of AI agents.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/tenterhook/tenterhook/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := cli.Main(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}
