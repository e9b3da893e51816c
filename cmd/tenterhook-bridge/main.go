// Command tenterhook-bridge hands an agent's hook call to the tenterhook daemon,
// prints the answer and exits as it says.
package main

import (
	"os"

	"github.com/tenterhook/tenterhook/internal/daemon/client"
)

func main() { client.Main(os.Args[1:]) }
