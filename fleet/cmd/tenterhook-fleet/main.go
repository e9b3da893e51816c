// Command tenterhook-fleet has the commands of tenterhook that reach beyond this
// machine: "tenterhook pack" and "tenterhook fleet" run it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/tenterhook/tenterhook/fleet/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
