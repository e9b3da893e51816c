// It ends before its processors change: the runtime starts no goroutine that looks.
//go:debug updatemaxprocs=0

// Command tenterhook-bridge hands an agent's hook call to the tenterhook daemon,
// prints the answer and exits as it says.
package main

import (
	"os"

	"github.com/tenterhook/tenterhook/internal/daemon/client"
	"github.com/tenterhook/tenterhook/internal/version/linked"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		version, commit := linked.Version()
		_, _ = os.Stdout.WriteString(linked.Line("tenterhook-bridge", version, commit) + "\n")
		return
	}
	client.Main(os.Args[1:])
}
