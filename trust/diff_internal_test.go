package trust

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestUnifiedDiff(t *testing.T) {
	numbered := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintln(&b, i)
		}
		return b.String()
	}
	tests := []struct{ name, old, now, want string }{
		{"equal", "a\n", "a\n", ""},
		{"both empty", "", "", ""},
		{"from nothing", "", "a\n", "@@ -0,0 +1,1 @@\n+a\n"},
		{"to nothing", "a\n", "", "@@ -1,1 +0,0 @@\n-a\n"},
		{"in the middle", numbered(1, 9), numbered(1, 4) + "x\n" + numbered(6, 9), "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"},
		{"twice, near", numbered(1, 9), "x\n" + numbered(2, 7) + "y\n9\n", "@@ -1,9 +1,9 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n 9\n"},
		{"twice, far", numbered(1, 12), "x\n" + numbered(2, 11), "@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -9,4 +9,3 @@\n 9\n 10\n 11\n-12\n"},
		{"in a long file", numbered(1, 3000), numbered(1, 2) + "x\n" + numbered(4, 3000), "@@ -1,6 +1,6 @@\n 1\n 2\n-3\n+x\n 4\n 5\n 6\n"},
		{"near the end of a long file", numbered(1, 3000), numbered(1, 2997) + "x\n" + numbered(2999, 3000), "@@ -2995,6 +2995,6 @@\n 2995\n 2996\n 2997\n-2998\n+x\n 2999\n 3000\n"},
		{"a newline at the end", "a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := test.want
			if want != "" {
				want = "--- x\n+++ x\n" + want
			}
			if diff := cmp.Diff(want, UnifiedDiff("x", []byte(test.old), []byte(test.now))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDiffLeadsFromOneTextToTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n"}), 0, 12)
		end := rapid.SampledFrom([]string{"", "a"})
		old := strings.Join(text.Draw(t, "old"), "") + end.Draw(t, "end of old")
		now := strings.Join(text.Draw(t, "now"), "") + end.Draw(t, "end of now")
		var from, to strings.Builder
		kept := 0
		for _, e := range diffLines(lines([]byte(old)), lines([]byte(now))) {
			if e.op != '+' {
				from.WriteString(e.line)
			}
			if e.op != '-' {
				to.WriteString(e.line)
			}
			if e.op == ' ' {
				kept++
			}
		}
		if from.String() != old || to.String() != now {
			t.Errorf("%q → %q", from.String(), to.String())
		}
		if want := common(lines([]byte(old)), lines([]byte(now))); kept != want {
			t.Errorf("%d lines kept, %d could be", kept, want)
		}
	})
}

// common is the length of the longest common subsequence, by its definition.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		last := 0
		for j := range b {
			above := row[j+1]
			if a[i] == b[j] {
				row[j+1] = last + 1
			} else {
				row[j+1] = max(row[j], above)
			}
			last = above
		}
	}
	return row[len(b)]
}

// A larger difference is shown as a whole, whatever both texts share.
func TestDiffOfLargeTextsIsBounded(t *testing.T) {
	for n, kept := range map[int]int{2047: 1, 2048: 0} { // (n+1)² cells
		var old, now []string
		for i := range n {
			old, now = append(old, fmt.Sprint("old", i)), append(now, fmt.Sprint("now", i))
		}
		old[n/2], now[n/2] = "same", "same"
		count := map[byte]int{}
		for _, e := range diffLines(old, now) {
			count[e.op]++
		}
		if count[' '] != kept || count['-'] != n-kept || count['+'] != n-kept {
			t.Errorf("%d lines: %v", n, count)
		}
	}
}
