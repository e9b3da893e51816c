package trust_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/trust"
)

// approverEnv makes the test binary approve, in the store that it names, its arguments.
const approverEnv = "TRUST_TEST_APPROVE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(approverEnv); dir != "" {
		if err := approveAll(dir, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// approveAll approves a hook for each of roots, one by one, with the files of its
// folder "hook" if there is one.
func approveAll(dir string, roots []string) error {
	store, err := trust.Open(dir)
	if err != nil {
		return err
	}
	for _, root := range roots {
		definition, err := trust.Define(&hook.Hook{Event: hook.EventStop, Kind: hook.KindHTTP})
		if err != nil {
			return err
		}
		s := trust.Subject{ID: "project/x", Root: root, Path: root + "/settings.json", Definition: definition}
		if dir := filepath.Join(root, "hook"); exists(dir) {
			s.Dir = dir
		}
		seal, err := s.Seal()
		if err != nil {
			return err
		}
		if err := store.Approve(seal); err != nil {
			return err
		}
	}
	return nil
}
