// Command winereport reads the lines of "go test -json" on stdin. It prints what failed, how many tests passed and
// skipped, and which of the packages that are named have not ended. It fails if a test failed, if one skipped without
// saying whether Windows or Wine is the reason, or if more than 5 % skipped. Of a test that ran twice the last end counts.
// With -part not all tests ran: then any share may skip. With -failed it prints the packages that failed, no more.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

const most = 5 // percent of the tests may skip

type event struct{ Action, Package, Test, Output string }

// test is a test, or a package where the name is empty.
type test struct{ pkg, name string }

type result struct{ end, output string }

func main() {
	part := flag.Bool("part", false, "not all tests ran")
	failed := flag.Bool("failed", false, "print the packages that failed")
	flag.Parse()
	results := read()
	if *failed {
		for t, r := range results {
			if t.name == "" && r.end == "fail" {
				fmt.Println(t.pkg)
			}
		}
		return
	}
	good := report(results, *part)
	var left []string
	for _, pkg := range flag.Args() {
		if r := results[test{pkg: pkg}]; r == nil || r.end == "" {
			left = append(left, pkg)
		}
	}
	if len(left) > 0 {
		fmt.Printf("not reached, %d packages: %s\n", len(left), strings.Join(left, " "))
	}
	if !good {
		os.Exit(1)
	}
}

func read() map[test]*result {
	results := map[test]*result{}
	for lines := json.NewDecoder(os.Stdin); ; {
		var e event
		if lines.Decode(&e) != nil { // the end, or where a run was ended
			return results
		}
		t := test{e.Package, e.Test}
		r := results[t]
		if r == nil || e.Action == "start" || e.Action == "run" {
			r = &result{}
			results[t] = r
		}
		switch e.Action {
		case "output", "build-output":
			r.output += e.Output
		case "pass", "fail", "skip":
			r.end = e.Action
		}
	}
}

// report prints what came of the tests, and reports whether that will do.
func report(results map[test]*result, part bool) bool {
	explained := regexp.MustCompile(`Windows|Wine|PATH|set TENTERHOOK_`) // a program that is not on PATH, a measurement
	counts, good := map[string]int{}, true
	for _, t := range sorted(results) {
		r := results[t]
		if pkg := results[test{pkg: t.pkg}]; pkg == nil || pkg.end == "" { // it was ended from outside
			continue
		}
		if t.name != "" && r.end != "" {
			counts[r.end]++
		}
		switch {
		case r.end == "fail":
			good = false
			fmt.Printf("%s %s\n%s", t.pkg, t.name, r.output)
		case r.end == "skip" && t.name != "" && !explained.MatchString(r.output):
			good = false
			fmt.Printf("%s %s skipped, and does not say whether Windows or Wine is the reason:\n%s", t.pkg, t.name, r.output)
		}
	}
	all := counts["pass"] + counts["fail"] + counts["skip"]
	share := 100 * float64(counts["skip"]) / max(1, float64(all))
	fmt.Printf("%d tests of the Windows build: %d passed, %d failed, %d skipped (%.1f %%)\n", all, counts["pass"], counts["fail"], counts["skip"], share)
	if !part && share > most {
		good = false
		fmt.Printf("more than %d %% skipped\n", most)
	}
	return good && (part || all > 0)
}

func sorted(results map[test]*result) []test {
	var all []test
	for t := range results {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b test) int { return strings.Compare(a.pkg+" "+a.name, b.pkg+" "+b.name) })
	return all
}
