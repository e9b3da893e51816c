package cli

import (
	"os"
	"testing"

	"github.com/tenterhook/tenterhook/internal/account"
	"github.com/tenterhook/tenterhook/internal/built"
)

// What the operator of this machine keeps at home is no test's to ask.
func TestMain(m *testing.M) {
	account.Home = func() string { return built.Nowhere }
	os.Exit(m.Run())
}
