package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// skipped are folders that hold no sources.
var skipped = map[string]bool{".git": true, "node_modules": true, "__pycache__": true, ".venv": true, "venv": true, "target": true,
	"dist": true, "build": true, ".pytest_cache": true}

// fingerprint is a digest of how the project's files look, cheap: names, sizes
// and times.
func fingerprint(project string) string {
	digest := sha256.New()
	var paths []string
	if listing, ok := git(project, "status", "--porcelain=v1", "-z", "--untracked-files=all"); ok {
		head, _ := git(project, "rev-parse", "HEAD")
		root, _ := git(project, "rev-parse", "--show-toplevel")
		root = strings.TrimRight(root, "\n")
		fmt.Fprintf(digest, "%s%s", head, listing)
		// "XY name" NUL, and for a rename the old name NUL, of which the status is no loss.
		for entry := range strings.SplitSeq(listing, "\x00") {
			if len(entry) > 3 {
				paths = append(paths, filepath.Join(root, entry[3:]))
			}
		}
	} else {
		paths = files(project)
	}
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil {
			fmt.Fprintf(digest, "%s\x00%d\x00%d\x00", path, info.Size(), info.ModTime().UnixNano())
		} else {
			fmt.Fprintf(digest, "%s\x00gone\x00", path)
		}
	}
	return hex.EncodeToString(digest.Sum(nil))
}

// files lists the files of a project, in order.
func files(project string) (paths []string) {
	_ = filepath.WalkDir(project, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read cannot have been changed
		case d.IsDir() && path != project && skipped[d.Name()]:
			return fs.SkipDir
		case !d.IsDir():
			paths = append(paths, path)
		}
		return nil
	})
	return paths
}

// git returns git's output; false = there is no git, or no repository.
func git(project string, arguments ...string) (string, bool) {
	cmd := exec.Command("git", append([]string{"-C", project, "-c", "core.fsmonitor=false"}, arguments...)...)
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	out, err := cmd.Output()
	return string(out), err == nil
}

// state is what is remembered of a project: the last look that passed, and its
// sessions, the latest last.
type state struct {
	Passed   string     `json:"passed"`
	Sessions []*session `json:"sessions"`

	path    string
	session *session
}

type session struct {
	ID     string `json:"id"`
	Start  string `json:"start,omitempty"`
	Failed string `json:"failed,omitempty"`
	Rounds int    `json:"rounds,omitempty"`
}

// load reads the state of a project. What cannot be read begins again.
func load(project, id string) (*state, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	name := sha256.Sum256([]byte(project))
	s := &state{path: filepath.Join(cache, "tenterhook", "tests-before-stop", hex.EncodeToString(name[:12])+".json"), session: &session{ID: id}}
	if data, err := os.ReadFile(s.path); err == nil && json.Unmarshal(data, s) != nil {
		s.Passed, s.Sessions = "", nil
	}
	if id == "" { // one without a name cannot be told from the next
		return s, nil
	}
	others := make([]*session, 0, len(s.Sessions)+1)
	for _, known := range s.Sessions {
		switch {
		case known == nil:
		case known.ID == id:
			s.session = known
		default:
			others = append(others, known)
		}
	}
	s.Sessions = append(others, s.session)
	return s, nil
}

func (s *state) save() error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	const most = 20
	s.Sessions = s.Sessions[max(0, len(s.Sessions)-most):]
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	scratch := fmt.Sprintf("%s.%d", s.path, os.Getpid())
	if err := os.WriteFile(scratch, data, 0o600); err != nil {
		return err
	}
	return os.Rename(scratch, s.path)
}
