// Command manual writes the man pages of tenterhook-fleet into a directory:
// go run ./fleet/internal/manual DIR. Run it after the one of tenterhook, whose
// page of 'tenterhook pack' says less.
package main

import (
	"fmt"
	"os"

	"github.com/tenterhook/tenterhook/fleet/internal/cli"
	"github.com/tenterhook/tenterhook/internal/manual"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manual DIR")
		os.Exit(2)
	}
	for _, command := range cli.Command().Commands() {
		if !command.IsAvailableCommand() {
			continue
		}
		if err := manual.Write(os.Args[1], command); err != nil {
			fmt.Fprintln(os.Stderr, "manual:", err)
			os.Exit(1)
		}
	}
}
