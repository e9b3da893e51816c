package plugins_test

import (
	"fmt"
	"os"

	"github.com/tenterhook/tenterhook/plugins"
)

func Example() {
	state, err := os.MkdirTemp("", "state")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(state)
	host := plugins.New(plugins.Options{StateDir: state})
	defer host.Close()
	packages, notes := host.Packages("testdata/no-such-folder")
	fmt.Println(len(packages), len(notes))

	// Output: 0 0
}
