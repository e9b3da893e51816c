package hook

import "strings"

// Nearest returns the candidate that a misspelt word most likely meant, or ""
// if none is near. Case, '-' and '_' do not count; otherwise one edit
// (insertion, deletion, substitution, swap of neighbours) is allowed for every
// three letters, and at least one. Of equally near ones the first wins.
func Nearest(word string, candidates []string) string {
	folded := foldWord(word)
	if folded == "" || len(folded) > 64 {
		return ""
	}
	best, bestDistance := "", max(1, len(folded)/3)+1
	for _, c := range candidates {
		if d := editDistance(folded, foldWord(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// NearestEvent is Nearest over the event table, and "" for a word that is no
// misspelling of an event.
func NearestEvent(word string) Event {
	names := make([]string, 0, len(eventTable))
	for i := range eventTable {
		names = append(names, string(eventTable[i].Event))
	}
	return Event(Nearest(word, names))
}

var wordFolder = strings.NewReplacer("-", "", "_", "", " ", "")

func foldWord(s string) string { return strings.ToLower(wordFolder.Replace(s)) }

// editDistance is the optimal-string-alignment distance.
func editDistance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
