package bridge

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// patchedFile is a file that a patch writes.
type patchedFile struct {
	tool string // Write or Edit
	path string
	text []string // the lines that are added
}

func (f patchedFile) input() json.RawMessage {
	fields := map[string]string{"file_path": f.path}
	if f.tool == "Write" {
		fields["content"] = strings.Join(f.text, "\n")
	} else {
		fields["old_string"], fields["new_string"] = "", strings.Join(f.text, "\n")
	}
	raw, _ := json.Marshal(fields) // texts always encode
	return raw
}

// patchedFiles finds the files of a patch in the texts of a tool's input, as
// apply_patch takes it: "*** Add File: path" and the like, each on its line.
func patchedFiles(input json.RawMessage, dir string) []patchedFile {
	var texts []string
	var collect func(v any)
	collect = func(v any) {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case []any:
			for _, e := range v {
				collect(e)
			}
		case map[string]any:
			for _, e := range v {
				collect(e)
			}
		}
	}
	var v any
	if json.Unmarshal(input, &v) != nil {
		return nil
	}
	collect(v)
	var files []patchedFile
	for _, text := range texts {
		if strings.Contains(text, "*** Begin Patch") || strings.Contains(text, "apply_patch") || strings.Contains(text, "applypatch") {
			for _, in := range enteredDirs(text, dir) {
				files = append(files, filesOf(text, in)...)
			}
		}
	}
	return distinct(files)
}

// distinct leaves out what the directories of a line do not tell apart.
func distinct(files []patchedFile) (list []patchedFile) {
	seen := make(map[string]bool)
	for _, f := range files {
		if key := f.tool + "\x00" + string(f.input()); !seen[key] {
			seen[key], list = true, append(list, f)
		}
	}
	return list
}

// filesOf are the files of a patch that is applied in a directory.
func filesOf(patch, dir string) (files []patchedFile) {
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		if tool, path, ok := patchHeader(strings.TrimSpace(line)); ok {
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			files = append(files, patchedFile{tool: tool, path: path})
		} else if added, ok := strings.CutPrefix(line, "+"); ok && len(files) > 0 {
			files[len(files)-1].text = append(files[len(files)-1].text, added)
		}
	}
	return files
}

const shellWord = `('[^']*'|"[^"$\x60\\]*"|[^\s;&|()<>'"$\x60\\]+)`

var (
	entering = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^|[;&|(\n])\s*(?:cd|pushd)\s+(?:--\s+)?` + shellWord)
	})
	patchAlone = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*(?:cd\s+` + shellWord + `\s*&&\s*)?(?:apply_patch|applypatch)\s+<<\s*(?:'(\w+)'|"(\w+)")[ \t]*\n`)
	})
)

// enteredDirs are the directories that a shell line may be in: dir, and where it
// changes to.
func enteredDirs(line, dir string) []string {
	dirs := []string{dir}
	for _, m := range entering().FindAllStringSubmatch(line, -1) {
		dirs = append(dirs, within(dirs[len(dirs)-1], m[1]))
	}
	return dirs
}

func within(dir, word string) string {
	word = strings.Trim(word, `'"`)
	if filepath.IsAbs(word) {
		return word
	}
	return filepath.Join(dir, word)
}

// patchIn returns the files of a shell line that does nothing but apply a patch,
// none if it may do more: an agent applies such a line itself.
func patchIn(line, dir string) []patchedFile {
	m := patchAlone().FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	body, rest, ok := strings.Cut(line[len(m[0]):], "\n"+m[2]+m[3]+"\n")
	if !ok {
		body, ok = strings.CutSuffix(line[len(m[0]):], "\n"+m[2]+m[3])
	}
	if !ok || strings.TrimSpace(rest) != "" || strings.Contains(body, "\n"+m[2]+m[3]+"\n") {
		return nil
	}
	body = strings.TrimSpace(body)
	if !strings.HasPrefix(body, "*** Begin Patch\n") || !strings.HasSuffix(body, "\n*** End Patch") {
		return nil
	}
	if m[1] != "" {
		dir = within(dir, m[1])
	}
	return filesOf(body, dir)
}

func patchHeader(line string) (tool, path string, ok bool) {
	for prefix, tool := range map[string]string{"*** Add File: ": "Write", "*** Update File: ": "Edit", "*** Delete File: ": "Edit", "*** Move to: ": "Write"} {
		if path, ok := strings.CutPrefix(line, prefix); ok && strings.TrimSpace(path) != "" {
			return tool, strings.TrimSpace(path), true
		}
	}
	return "", "", false
}
