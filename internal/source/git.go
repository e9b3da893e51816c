package source

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	gitTimeout = 5 * time.Minute // of one call
	maxListed  = 64 << 20        // bytes of a list that git prints
)

// repository is a bare repository of our own that a commit is fetched into.
// Nothing is ever checked out, so no filter, no attribute and no hook of the
// fetched repository has a say.
type repository struct {
	dir    string
	commit string
}

// gitDir is the directory of a local repository. One is refused whose own
// configuration would have git run programs while objects are read from it.
func gitDir(at string) (string, error) {
	dir := at
	if info, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
		if dir = filepath.Join(at, ".git"); !info.IsDir() {
			return "", fmt.Errorf("%s is a file: name the repository itself, not a worktree or a submodule", dir)
		}
	} else if _, err := os.Stat(filepath.Join(at, "objects")); err != nil {
		return "", fmt.Errorf("%s is no git repository", at)
	}
	return dir, nil
}

// risky are settings by which a repository that is read from fetches further
// objects, by a program that it names.
const risky = `^(extensions\.(partialclone|worktreeconfig)|remote\..*\.(promisor|uploadpack)|include\.|includeif\.)`

func checkLocal(ctx context.Context, dir string) error {
	out, err := git(ctx, "", "config", "--file", filepath.Join(dir, "config"), "--no-includes", "--name-only", "--get-regexp", risky)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil // there are none
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%s has %s in its configuration, which may run programs; fetch from where it was cloned from", dir, bytes.Fields(out)[0])
}

// fetch fetches one commit of a source into dir.
func fetch(ctx context.Context, s Spec, dir string) (*repository, error) {
	r := &repository{dir: dir}
	if s.Local() {
		at, err := gitDir(s.At)
		if err == nil {
			err = checkLocal(ctx, at)
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := git(ctx, "", "init", "--quiet", "--bare", "--template=", dir); err != nil {
		return nil, err
	}
	ref := s.Ref
	if ref == "" {
		ref = "HEAD"
	}
	options := []string{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-commit-graph"}
	_, err := git(ctx, dir, append(options, "--depth=1", "--", remote(s), ref)...)
	found := "FETCH_HEAD"
	if err != nil && commitName().MatchString(ref) { // a commit that is named in short, or that the server does not hand out by itself
		_, err = git(ctx, dir, append(options, "--", remote(s), "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")...)
		found = ref
	}
	if err != nil && strings.Contains(err.Error(), "couldn't find remote ref") {
		return nil, fmt.Errorf("there is no tag or branch %q; 'git ls-remote %s' lists what there is", ref, s.At)
	}
	if err != nil {
		return nil, err
	}
	out, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", found+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("%s has no commit %s", s.At, ref)
	}
	r.commit = strings.TrimSpace(string(out))
	return r, nil
}

var commitName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{7,64}$`) })

// remote is what git gets as a source.
func remote(s Spec) string {
	if s.Local() {
		return "file://" + filepath.ToSlash(s.At)
	}
	return s.At
}

// tree lists the commit's files.
func (r *repository) tree(ctx context.Context) (*tree, error) {
	out, err := git(ctx, r.dir, "ls-tree", "-r", "-z", "-l", "--full-tree", r.commit)
	if err != nil {
		return nil, err
	}
	t := newTree()
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		about, name, ok := strings.Cut(line, "\t")
		f := strings.Fields(about)
		if !ok || len(f) != 4 {
			continue // an empty tree
		}
		e := entry{load: func() ([]byte, error) { return r.blob(ctx, f[2]) }}
		e.size, _ = strconv.ParseInt(f[3], 10, 64) // "-" of a submodule
		switch f[0] {
		case "100755":
			e.kind = kindExec
		case "120000":
			e.kind = kindLink
		case "160000":
			e.kind = kindModule
		}
		t.note(name, e)
	}
	return t, nil
}

// blob reads an object.
func (r *repository) blob(ctx context.Context, id string) ([]byte, error) {
	return git(ctx, r.dir, "cat-file", "blob", id)
}

// remoteRefs lists the tags and branches of a source, and its HEAD, by full name.
func remoteRefs(ctx context.Context, s Spec) (map[string]string, error) {
	if s.Local() {
		at, err := gitDir(s.At)
		if err == nil {
			err = checkLocal(ctx, at)
		}
		if err != nil {
			return nil, err
		}
	}
	out, err := git(ctx, "", "ls-remote", "--quiet", "--", remote(s))
	if err != nil {
		return nil, err
	}
	refs := make(map[string]string)
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		id, name, ok := strings.Cut(lines.Text(), "\t")
		if !ok {
			continue
		}
		if of, peeled := strings.CutSuffix(name, "^{}"); peeled {
			refs[of] = id // an annotated tag is listed before its commit
		} else if refs[name] == "" {
			refs[name] = id
		}
	}
	return refs, lines.Err()
}

// overrides are settings that keep git from running what a repository, or a
// server, brings.
var overrides = []string{
	"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.attributesFile=" + os.DevNull, "core.askPass=true",
	"fetch.recurseSubmodules=false", "submodule.recurse=false", "fetch.writeCommitGraph=false", "gc.auto=0", "maintenance.auto=false",
	"transfer.bundleURI=false", "fetch.bundleURI=",
}

// gitEnv is the environment of git: of the caller's git variables only the ones that
// say how servers are reached.
func gitEnv() []string {
	keep := []string{"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "GIT_") || slices.Contains(keep, name) {
			env = append(env, v)
		}
	}
	return append(env, "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=https:ssh:file", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
}

// git runs git, without a terminal. Its directory is the root, where no other user
// can have put a repository.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, errors.New("there is no program git on PATH; install it, or add a folder or an archive")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, gitTimeout, fmt.Errorf("git took longer than %v", gitTimeout))
	defer cancel()
	var options []string
	for _, o := range overrides {
		options = append(options, "-c", o)
	}
	if dir != "" {
		options = append(options, "--git-dir="+dir)
	}
	cmd := exec.CommandContext(ctx, path, append(options, args...)...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = gitEnv(), filepath.VolumeName(os.TempDir())+string(filepath.Separator), 5*time.Second
	var out, complaint bounded
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err = cmd.Run()
	if out.over {
		return nil, fmt.Errorf("git %s printed more than %d MiB", args[0], maxListed>>20)
	}
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return nil, cause
	}
	if err != nil {
		last := strings.TrimSpace(complaint.String())
		if i := strings.LastIndexByte(last, '\n'); i >= 0 {
			first, _, _ := strings.Cut(last, "\n")
			last = first
		}
		return out.Bytes(), fmt.Errorf("git %s: %s (%w)", args[0], last, err)
	}
	return out.Bytes(), nil
}

// bounded is a buffer that takes what git prints up to a bound.
type bounded struct {
	bytes.Buffer
	over bool
}

// Write takes p, or fails, which ends git.
func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxListed {
		b.over = true
		return 0, io.ErrShortBuffer
	}
	return b.Buffer.Write(p)
}
