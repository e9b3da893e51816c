package mcptool_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/dialect"
)

// A server that others wrote, in another language: run it with TENTERHOOK_NPM
// naming the folder whose node_modules has it.
func TestServerEverythingOfNPM(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node; Wine has none")
	}
	server := filepath.Join(os.Getenv("TENTERHOOK_NPM"), "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
	if _, err := os.Stat(server); err != nil {
		t.Skip("needs npm's @modelcontextprotocol/server-everything, and TENTERHOOK_NPM to name the folder it is installed in")
	}
	h := with(t, dialect.MCPServer{Command: node, Args: []string{server, "stdio"}})
	if got := text(t, h, "echo", `{"message": "${prompt}"}`); got != "Echo: hi" {
		t.Errorf("it says %q", got)
	}
	_, err = h.Handle(within(t, 60*time.Second), asContext("eco", "{}"))
	wantFailure(t, err, "start", "echo")
}
