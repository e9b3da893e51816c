//go:build !windows

package plugins

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenterhook/tenterhook/plugins/proto"
)

// testBinary writes a plugin that is the test binary in a mode.
func (b *bench) testBinary(name, self, mode string) string {
	b.t.Helper()
	return b.script(name, fmt.Sprintf("%s='%s' exec '%s'\n", faultVariable, mode, self))
}

func faultMode() string { return os.Getenv(faultVariable) }

// script writes a plugin that is a shell script.
func (b *bench) script(name, text string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, proto.BinaryPrefix+name)
	temp := path + ".tmp"
	if err := os.WriteFile(temp, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Rename(temp, path); err != nil {
		b.t.Fatal(err)
	}
	return path
}
