package hooktest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// places are the folders of a case and the names that stand for them: $DIR, $WORK, $HOME.
type places struct {
	values *strings.Replacer // names to folders
	quoted *strings.Replacer // the same within JSON, where a backslash is escaped
	names  *strings.Replacer // folders, with slashes, to names
	below  *regexp.Regexp    // a path below the case's folder
}

// newPlaces takes pairs of a name and a folder below root. A longer name comes before its beginning.
func newPlaces(root string, pairs []string) places {
	quoted, folders := slices.Clone(pairs), slices.Clone(pairs)
	for i := 1; i < len(pairs); i += 2 {
		text, _ := json.Marshal(pairs[i]) // a string encodes
		quoted[i] = strings.Trim(string(text), `"`)
		folders[i] = filepath.ToSlash(pairs[i])
	}
	slices.Reverse(folders)
	separator := `(?:/|\\+)` // within JSON in a text it is doubled
	path := strings.ReplaceAll(regexp.QuoteMeta(filepath.ToSlash(root)), "/", separator)
	return places{
		values: strings.NewReplacer(pairs...),
		quoted: strings.NewReplacer(quoted...),
		names:  longestFirst(folders),
		below:  regexp.MustCompile(path + `[^\s"'<>|:;,]*`),
	}
}

var backslashes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\+`) })

// slashed writes the paths below the case's folder with slashes, as the case itself does.
func (p places) slashed(text string) string {
	if os.PathSeparator == '/' {
		return text
	}
	return p.below.ReplaceAllStringFunc(text, func(path string) string { return backslashes().ReplaceAllString(path, "/") })
}

// named puts $DIR and the like in the place of folders.
func (p places) named(text string) string { return p.names.Replace(p.slashed(text)) }

// placed puts the case's folders in the place of $DIR and the like, with slashes below them.
func (p places) placed(v any) any {
	return eachText(v, func(text string) string { return p.slashed(p.values.Replace(text)) })
}

// eachText returns v with f of each text in it, but of no key.
func eachText(v any, f func(string) string) any {
	switch v := v.(type) {
	case string:
		return f(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = eachText(v[i], f)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for key := range v {
			object[key] = eachText(v[key], f)
		}
		return object
	}
	return v
}

// longestFirst replaces a text before its own beginning.
func longestFirst(pairs []string) *strings.Replacer {
	both := slices.Collect(slices.Chunk(pairs, 2))
	slices.SortStableFunc(both, func(a, b []string) int { return len(b[0]) - len(a[0]) })
	return strings.NewReplacer(slices.Concat(both...)...)
}
