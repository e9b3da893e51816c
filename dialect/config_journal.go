package dialect

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

var (
	journalKeys  = []string{"record", "keep", "max_size", "redact"}
	recordLevels = []string{"full", "results", "off"}
)

// journal reads what is kept of what hooks did.
func (e *entry) journal() JournalSettings {
	table := e.sub("journal")
	if table == nil {
		return JournalSettings{}
	}
	table.onlyKeys(journalKeys)
	s := JournalSettings{Record: table.word("record", recordLevels), Keep: table.age("keep"), MaxSize: table.size("max_size")}
	for _, pattern := range table.strings("redact") {
		if _, err := regexp.Compile(pattern); err != nil {
			table.fail("unknown_value", table.line("redact"), "redact", quote(pattern)+" is not a regular expression: "+err.Error(), "use the syntax of RE2")
			continue
		}
		s.Redact = append(s.Redact, pattern)
	}
	return s
}

// age reads a time in days, such as "14d", or a duration such as "36h".
func (e *entry) age(key string) time.Duration {
	n := e.get(key)
	if n == nil {
		return 0
	}
	text := n.text()
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if f, err := strconv.ParseFloat(days, 64); err == nil && f > 0 && f < 36500 {
			return time.Duration(f * 24 * float64(time.Hour))
		}
	} else if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d
	}
	e.fail("unknown_value", e.line(key), e.keys[key].key, `want days or a duration, such as "14d" or "36h", got `+n.what(), "")
	return 0
}

// size reads a size such as "256MiB", in bytes.
func (e *entry) size(key string) int64 {
	n := e.get(key)
	if n == nil {
		return 0
	}
	bytes, ok := hook.ParseSize(n.text())
	if !ok {
		e.fail("unknown_value", e.line(key), e.keys[key].key, `want a size such as "256MiB", got `+n.what(), "")
	}
	return bytes
}
