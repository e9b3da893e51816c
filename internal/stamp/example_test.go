package stamp_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenterhook/tenterhook/internal/stamp"
)

// What was made of a file is kept with the stamp that the file had before it
// was read, unless that is too young to tell a later write.
func Example() {
	dir, err := os.MkdirTemp("", "stamp")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "HOOK.md")
	check := func(err error) {
		if err != nil {
			fmt.Println(err)
		}
	}
	check(os.WriteFile(path, []byte("one"), 0o600))
	first, err := stamp.Of(path, false)
	check(err)
	again, err := stamp.Of(path, false)
	check(err)
	fmt.Println("untouched, it is the same:", again == first)
	check(os.WriteFile(path, []byte("another"), 0o600))
	written, err := stamp.Of(path, false)
	check(err)
	fmt.Println("written, it is the same:", written == first)

	// Output:
	// untouched, it is the same: true
	// written, it is the same: false
}
