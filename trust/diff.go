package trust

import (
	"fmt"
	"strings"
)

const (
	diffContext = 3
	maxDiff     = 1 << 22 // cells of the table; a larger difference is shown as a whole
)

// edit is a line of a diff: kept (' '), removed ('-') or added ('+').
type edit struct {
	op   byte
	line string
}

// UnifiedDiff is the unified diff of two texts under one name, with control
// characters of the name escaped; "" if they are equal.
func UnifiedDiff(name string, old, now []byte) string {
	edits := diffLines(lines(old), lines(now))
	var b strings.Builder
	a, z := 1, 1 // the numbers of the next old and new line
	for i := 0; i < len(edits); {
		if edits[i].op == ' ' && !changesWithin(edits[i:]) {
			a, z, i = a+1, z+1, i+1
			continue
		}
		end := hunkEnd(edits, i)
		if b.Len() == 0 {
			fmt.Fprintf(&b, "--- %s\n+++ %s\n", show(name), show(name))
		}
		before, after := count(edits[i:end])
		fmt.Fprintf(&b, "@@ -%s +%s @@\n", span(a, before), span(z, after))
		for _, e := range edits[i:end] {
			b.WriteByte(e.op)
			b.WriteString(e.line)
			if !strings.HasSuffix(e.line, "\n") {
				b.WriteString("\n\\ No newline at end of file\n")
			}
		}
		a, z, i = a+before, z+after, end
	}
	return b.String()
}

// lines splits after each newline.
func lines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	split := strings.SplitAfter(string(text), "\n")
	if split[len(split)-1] == "" {
		split = split[:len(split)-1]
	}
	return split
}

// changesWithin reports whether a change is so near that its context begins
// with the first of edits.
func changesWithin(edits []edit) bool {
	for _, e := range edits[:min(diffContext+1, len(edits))] {
		if e.op != ' ' {
			return true
		}
	}
	return false
}

// hunkEnd is where the hunk that starts at i ends: behind the context of its
// last change, if no other is near enough to share it.
func hunkEnd(edits []edit, i int) int {
	end := i
	for j := i; j < len(edits) && j-end <= 2*diffContext; j++ {
		if edits[j].op != ' ' {
			end = j + 1
		}
	}
	return min(end+diffContext, len(edits))
}

func count(edits []edit) (before, after int) {
	for _, e := range edits {
		if e.op != '+' {
			before++
		}
		if e.op != '-' {
			after++
		}
	}
	return before, after
}

// span is a range of lines as a hunk's head has it.
func span(first, n int) string {
	if n == 0 {
		first-- // an empty range comes after the line before it
	}
	return fmt.Sprintf("%d,%d", first, n)
}

// diffLines finds the fewest lines to remove and add, by way of the longest
// common subsequence of what lies between equal beginnings and ends.
func diffLines(old, now []string) []edit {
	var edits []edit
	for len(old) > 0 && len(now) > 0 && old[0] == now[0] {
		edits = append(edits, edit{' ', old[0]})
		old, now = old[1:], now[1:]
	}
	tail := 0
	for tail < min(len(old), len(now)) && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	kept := old[len(old)-tail:]
	edits = append(edits, diffMiddle(old[:len(old)-tail], now[:len(now)-tail])...)
	for _, line := range kept {
		edits = append(edits, edit{' ', line})
	}
	return edits
}

func diffMiddle(old, now []string) []edit {
	var edits []edit
	width := len(now) + 1
	var longest []int32 // of old[i:] and now[j:] at i*width+j
	if (len(old)+1)*width <= maxDiff {
		longest = make([]int32, (len(old)+1)*width)
		for i := len(old) - 1; i >= 0; i-- {
			for j := len(now) - 1; j >= 0; j-- {
				if old[i] == now[j] {
					longest[i*width+j] = longest[(i+1)*width+j+1] + 1
				} else {
					longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
				}
			}
		}
	}
	i, j := 0, 0
	for i < len(old) || j < len(now) {
		switch {
		case i < len(old) && j < len(now) && old[i] == now[j]:
			edits = append(edits, edit{' ', old[i]})
			i, j = i+1, j+1
		case i < len(old) && (longest == nil || j == len(now) || longest[(i+1)*width+j] >= longest[i*width+j+1]):
			edits = append(edits, edit{'-', old[i]})
			i++
		default:
			edits = append(edits, edit{'+', now[j]})
			j++
		}
	}
	return edits
}
