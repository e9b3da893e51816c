package source_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/source"
)

// repo is a git repository with files, made of nothing but what a test gives.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git; Wine has none")
	}
	r := &repo{t, t.TempDir()}
	// A file of the test's own: git replaces what it writes settings to.
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(t.TempDir(), "gitconfig"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	r.git("init", "-q", "-b", "main")
	r.git("config", "user.name", "n")
	r.git("config", "user.email", "n@example.com")
	return r
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repo) write(name, text string, mode os.FileMode) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) commit(text string) string {
	r.t.Helper()
	r.write("hooks/guard/HOOK.md", manifest, 0o644)
	r.write("hooks/guard/run.sh", text, 0o755)
	r.git("add", "-A")
	r.git("commit", "-q", "-m", text)
	return r.git("rev-parse", "HEAD")
}

func TestRepositoryIsReadAtACommitATagOrABranch(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := newRepo(t)
	first := r.commit("one")
	r.git("tag", "v1.0.0")
	second := r.commit("two")
	r.git("tag", "-a", "v1.1.0", "-m", "x")
	r.git("branch", "team/next")
	third := r.commit("three")
	for ref, want := range map[string]struct{ commit, text string }{
		"@v1.0.0": {first, "one"}, "@v1.1.0": {second, "two"}, "@team/next": {second, "two"}, "@main": {third, "three"},
		"@" + first: {first, "one"}, "@" + second[:9]: {second, "two"},
	} {
		for _, at := range []string{r.dir, "file://" + filepath.ToSlash(r.dir)} {
			f, err := get(t, at+ref)
			if err != nil {
				t.Errorf("%s: %v", ref, err)
				continue
			}
			if h := f.Hooks[0]; f.Commit != want.commit || string(h.Files["run.sh"].Data) != want.text || !h.Files["run.sh"].Exec || h.Folder != "hooks/guard" {
				t.Errorf("%s: %+v", ref, f)
			}
		}
	}
	if f, err := get(t, "file://"+filepath.ToSlash(r.dir)); err != nil || f.Commit != third {
		t.Errorf("without a ref: %+v, %v", f, err)
	}
	for _, ref := range []string{"@v9.9.9", "@0123456789abcdef0123456789abcdef01234567"} {
		if f, err := get(t, r.dir+ref); err == nil {
			t.Errorf("%s: %+v", ref, f)
		} else if ref == "@v9.9.9" && !strings.Contains(err.Error(), `there is no tag or branch "v9.9.9"; 'git ls-remote `) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	r.git("tag", "v1.10.0")
	r.git("tag", "v2.0.0-rc.1")
	r.git("tag", "other/v3.0.0")
	for ref, want := range map[string]string{"v1.0.0": "v1.10.0", "main": "main", first: first, "": ""} {
		spec := source.Spec{Kind: source.KindGit, At: r.dir, Ref: ref}
		if got, _, err := source.Newest(t.Context(), spec); err != nil || got != want {
			t.Errorf("the newest of %q: %q, %v", ref, got, err)
		}
	}
}

// hostile makes all that git could run of a repository write a file.
func (r *repo) hostile(marker string) {
	run := "#!/bin/sh\ntouch '" + marker + "'\ncat\n"
	for _, hook := range []string{"post-checkout", "post-update", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman", "post-index-change", "post-merge", "pre-receive"} {
		r.write(".git/hooks/"+hook, run, 0o755)
	}
	r.write("evil.sh", run, 0o755)
	evil := filepath.Join(r.dir, "evil.sh")
	r.write(".gitattributes", "* filter=evil diff=evil merge=evil export-subst\n*.md working-tree-encoding=UTF-16\n", 0o644)
	r.write(".lfsconfig", "[lfs]\nurl = ext::"+evil+"\n", 0o644)
	r.write(".gitmodules", "[submodule \"x\"]\npath = x\nurl = ext::"+evil+"\nupdate = !"+evil+"\n", 0o644)
	for key, value := range map[string]string{
		"core.fsmonitor": evil, "core.hooksPath": filepath.Join(r.dir, ".git/hooks"), "core.sshCommand": evil, "core.pager": evil, "core.editor": evil,
		"filter.evil.smudge": evil, "filter.evil.clean": evil, "filter.evil.process": evil, "filter.evil.required": "true", "diff.evil.textconv": evil, "diff.evil.command": evil,
		"uploadpack.packObjectsHook": evil, "credential.helper": "!" + evil, "core.askPass": evil, "core.alternateRefsCommand": evil, "core.gitProxy": evil,
		"gpg.program": evil, "alias.fetch": "!" + evil, "alias.upload-pack": "!" + evil, "receive.procReceiveRefs": "refs",
	} {
		r.git("config", key, value)
	}
}

func TestNothingOfARepositoryRuns(t *testing.T) {
	r := newRepo(t)
	r.commit("#!/bin/sh\n")
	r.git("tag", "v1.0.0")
	marker := filepath.Join(t.TempDir(), "ran")
	r.hostile(marker)
	other := newRepo(t)
	other.write(".gitattributes", "* filter=evil export-subst\n", 0o644)
	other.commit("$Format:%H$")
	other.write("../global", "[filter \"evil\"]\nsmudge = touch '"+marker+"'\n", 0o644)
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(other.dir, "../global"))
	t.Setenv("GIT_DIR", filepath.Join(r.dir, ".git"))
	t.Setenv("GIT_WORK_TREE", r.dir)
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
	t.Setenv("GIT_CONFIG_VALUE_0", filepath.Join(r.dir, "evil.sh"))
	t.Setenv("GIT_EXTERNAL_DIFF", filepath.Join(r.dir, "evil.sh"))
	for _, at := range []string{r.dir + "@v1.0.0", other.dir + "@main"} {
		f, err := get(t, at)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(f.Hooks[0].Files["run.sh"].Data); text != "#!/bin/sh\n" && text != "$Format:%H$" {
			t.Errorf("%s: a filter changed %q", at, text)
		}
		if _, _, err := source.Newest(t.Context(), f.Spec); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("something of the repository ran")
	}
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_CONFIG_COUNT"} {
		_ = os.Unsetenv(name)
	}
	other.git("clone", "-q", other.dir, filepath.Join(t.TempDir(), "clone"))
	if _, err := os.Stat(marker); err != nil {
		t.Error("a plain clone runs nothing either, so this test shows nothing")
	}
}

func TestRepositoryThatFetchesByItselfIsRefused(t *testing.T) {
	for key, value := range map[string]string{
		"extensions.partialClone": "origin", "remote.origin.promisor": "true", "remote.origin.uploadpack": "id", "include.path": "/tmp/x", "includeIf.gitdir:/.path": "x",
		"extensions.worktreeConfig": "true",
	} {
		r := newRepo(t)
		r.commit("one")
		r.git("config", key, value)
		if _, err := get(t, r.dir+"@main"); err == nil || !strings.Contains(err.Error(), "may run programs") {
			t.Errorf("%s: %v", key, err)
		}
	}
	r := newRepo(t)
	r.write(".git/x", "", 0o644)
	if err := os.RemoveAll(filepath.Join(r.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	r.write(".git", "gitdir: /tmp/elsewhere\n", 0o644)
	if _, err := get(t, r.dir+"@main"); err == nil || !strings.Contains(err.Error(), "is a file") {
		t.Error(err)
	}
}

func TestFilesThatARepositoryDoesNotHoldAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := newRepo(t)
	first := r.commit("one")
	r.git("update-index", "--add", "--cacheinfo", "160000,"+first+",hooks/guard/module")
	r.git("commit", "-q", "-m", "module")
	if _, err := get(t, r.dir+"@main"); err == nil || !strings.Contains(err.Error(), "is a submodule") {
		t.Error(err)
	}
	r.git("mv", "-k", "hooks/guard/module", "module")
	r.git("rm", "-q", "--cached", "hooks/guard/module")
	r.git("update-index", "--add", "--cacheinfo", "160000,"+first+",module") // beside the hooks it does no harm
	if err := os.Symlink("/etc/passwd", filepath.Join(r.dir, "hooks/guard/out")); err != nil {
		t.Skip(err)
	}
	r.git("add", "hooks")
	r.git("commit", "-q", "-m", "link")
	if _, err := get(t, r.dir+"@main"); err == nil || !strings.Contains(err.Error(), "must lead to files of its own folder") {
		t.Error(err)
	}
	r.git("rm", "-q", "-f", "hooks/guard/out")
	r.git("commit", "-q", "-m", "none")
	if f, err := get(t, r.dir+"@main"); err != nil || len(f.Hooks) != 1 {
		t.Error(f, err)
	}
}
