package daemon

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

var variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// appendEnv writes the variables of hooks to the file that an agent reads for
// its session's later commands. Variables that a shell cannot hold are left out
// and named in the error.
func appendEnv(path string, vars map[string]string) (err error) {
	if len(vars) == 0 {
		return nil
	}
	if !filepath.IsAbs(path) {
		return fmt.Errorf("the entry has no CLAUDE_ENV_FILE for them (%q)", path)
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if !variableName().MatchString(name) || strings.Contains(vars[name], "\x00") {
			err = errors.Join(err, fmt.Errorf("a shell cannot hold the variable %q", name))
			continue
		}
		fmt.Fprintf(&text, "export %s='%s'\n", name, strings.ReplaceAll(vars[name], "'", `'\''`))
	}
	f, openErr := safefile.Regular(os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|safefile.NonBlock, 0o600))
	if openErr != nil {
		return errors.Join(err, openErr)
	}
	_, writeErr := f.WriteString(text.String()) // whole, so that entries that end at once do not mix
	return errors.Join(err, writeErr, f.Close())
}
