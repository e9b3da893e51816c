// Command generate writes the man pages and completions of tenterhook into a
// directory: go run ./internal/manual/generate DIR.
package main

import (
	"fmt"
	"os"

	"github.com/tenterhook/tenterhook/internal/cli"
	"github.com/tenterhook/tenterhook/internal/manual"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate DIR")
		os.Exit(2)
	}
	root := cli.Command()
	err := manual.Write(os.Args[1], root)
	if err == nil {
		err = manual.WriteCompletions(os.Args[1], root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
