package tomlscan_test

import (
	"fmt"

	"github.com/tenterhook/tenterhook/internal/tomlscan"
)

func Example() {
	const text = `event = "Stop"
note = """
command = "not a key"
"""
[requires]
bins = ["jq",
        "git"]`
	s := tomlscan.New(text, tomlscan.Limits{Depth: 8, Parts: 4, Commas: 100})
	for ; s.More(); s.Next() {
		if parts, kind := s.Key(); kind != tomlscan.Other {
			fmt.Println(s.Line(), parts, kind == tomlscan.Table)
		}
	}
	fmt.Println(s.Excess() == tomlscan.Within)

	// Output:
	// 1 [event] false
	// 2 [note] false
	// 5 [requires] true
	// 6 [bins] false
	// true
}
