package plugins

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"
)

// testBinary writes a copy of the test binary, with the mode behind its end.
func (b *bench) testBinary(name, self, mode string) string {
	b.t.Helper()
	program, err := os.ReadFile(self)
	if err != nil {
		b.t.Fatal(err)
	}
	path := filepath.Join(b.dir, binaryName(name))
	if _, err := os.Stat(path); err == nil { // one that runs can be renamed, and not be written
		if err := os.Rename(path, fmt.Sprintf("%s.%d", path, time.Now().UnixNano())); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, append(program, faultVariable+"="+mode...), 0o755); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func faultMode() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	program, err := os.ReadFile(self)
	if err != nil {
		return ""
	}
	program = program[max(0, len(program)-100):] // the name stands in the program too
	if at := bytes.LastIndex(program, []byte(faultVariable+"=")); at >= 0 {
		return string(program[at+len(faultVariable)+1:])
	}
	return ""
}

func (b *bench) script(string, string) string {
	b.t.Helper()
	built.NotOnWindows(b.t, "a script is no plugin")
	return ""
}
