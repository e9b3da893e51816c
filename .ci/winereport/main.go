// Command winereport reads the lines of "go test -json" on stdin. It prints what failed, how many tests passed and
// skipped, and fails if too many skipped, or if one skipped without saying whether Windows or Wine is the reason.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

type event struct{ Action, Package, Test, Output string }

type test struct{ pkg, name string }

func main() {
	most := flag.Float64("most", 5, "the percentage of tests that may skip")
	flag.Parse()
	output, counts, unexplained := map[test]string{}, map[string]int{}, 0
	for lines := json.NewDecoder(os.Stdin); ; {
		var e event
		if err := lines.Decode(&e); err == io.EOF {
			break
		} else if err != nil {
			fmt.Println("winereport:", err)
			os.Exit(1)
		}
		t := test{e.Package, e.Test}
		switch e.Action {
		case "output", "build-output":
			output[t] += e.Output
			continue
		case "fail":
			fmt.Printf("%s %s\n%s", e.Package, e.Test, output[t])
		case "skip":
			if reason := output[t]; e.Test != "" && !strings.Contains(reason, "Windows") && !strings.Contains(reason, "Wine") {
				unexplained++
				fmt.Printf("%s %s skipped, and does not say whether Windows or Wine is the reason:\n%s", e.Package, e.Test, reason)
			}
		case "pass":
		default:
			continue
		}
		if e.Test != "" {
			counts[e.Action]++
		}
		delete(output, t)
	}
	all := counts["pass"] + counts["fail"] + counts["skip"]
	share := 100 * float64(counts["skip"]) / max(1, float64(all))
	fmt.Printf("%d tests of the Windows build: %d passed, %d failed, %d skipped (%.1f %%)\n", all, counts["pass"], counts["fail"], counts["skip"], share)
	if counts["fail"] > 0 || unexplained > 0 || share > *most || all == 0 {
		os.Exit(1)
	}
}
