//go:build unix

package discovery_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/testdata/asowner"
)

// soon fails the test if do does not return. The bound is far above the 50 ms
// that it should take, for machines that are busy.
func soon(t *testing.T, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("hangs")
	}
}

func fifo(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Skip("no pipes here:", err)
	}
}

func TestF1WhatIsNoFileIsToldAtOnce(t *testing.T) {
	tests := []struct {
		name, code string
		make       func(t *testing.T, path string)
	}{
		{"pipe", "not_a_file", fifo},
		{"folder", "not_a_file", func(t *testing.T, path string) { write(t, filepath.Join(path, "x"), "") }},
		{"socket", "not_a_file", func(t *testing.T, path string) {
			t.Chdir(filepath.Dir(path)) // the path may be too long for a socket
			l, err := net.Listen("unix", "HOOK.md")
			if err != nil {
				t.Skip("no sockets here:", err)
			}
			t.Cleanup(func() { l.Close() })
		}},
		{"device", "not_a_file", func(t *testing.T, path string) {
			if err := syscall.Mknod(path, syscall.S_IFCHR|0o666, 1<<8|5); err != nil { // /dev/zero
				t.Skip("no devices here:", err)
			}
		}},
		{"too large", "too_large", func(t *testing.T, path string) { write(t, path, strings.Repeat("x", discovery.MaxManifest+1)) }},
		{"sparse and huge", "too_large", func(t *testing.T, path string) {
			write(t, path, "")
			if err := os.Truncate(path, 1<<40); err != nil {
				t.Skip("no sparse files here:", err)
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := tempDir(t)
			for _, name := range []string{"a", "c"} {
				write(t, filepath.Join(dir, name, "HOOK.md"), text)
			}
			if err := os.Mkdir(filepath.Join(dir, "b"), 0o755); err != nil {
				t.Fatal(err)
			}
			test.make(t, filepath.Join(dir, "b", "HOOK.md"))
			for what, fsys := range map[string]afero.Fs{"os": nil, "other": afero.NewReadOnlyFs(afero.NewOsFs())} {
				soon(t, func() {
					names, codes := find(t, fsys, dirScope(dir))
					if diff := cmp.Diff([]string{"a", "!b", "c"}, names); diff != "" {
						t.Error(what, diff)
					}
					if diff := cmp.Diff([]string{test.code}, codes); diff != "" {
						t.Error(what, diff)
					}
				})
			}
			soon(t, func() {
				if f := discovery.File(nil, filepath.Join(dir, "b", "HOOK.md")); f.Problem == nil || f.Problem.Code != test.code {
					t.Errorf("File: %v, want %s", f.Problem, test.code)
				}
			})
		})
	}
}

func TestF1PipeInTheWayOfAFolderIsToldAtOnce(t *testing.T) {
	for _, at := range []string{"ws", "ws/.tenterhook", "ws/.tenterhook/hooks", "plugins", "plugins/p/hooks", "user", "user/hooks", "dir", "dir/hooks/HOOK.md", "managed"} {
		t.Run(at, func(t *testing.T) {
			root := tempDir(t)
			in := func(path string) string { return filepath.Join(root, path) }
			fifo(t, in(at))
			soon(t, func() {
				scopes, notes := discovery.Scopes(discovery.Options{Workspace: in("ws"), ManagedDir: in("managed"), UserDir: in("user"), PluginsDir: in("plugins"), Dirs: []string{in("dir")}})
				_, codes := find(t, nil, scopes)
				for _, d := range notes {
					codes = append(codes, d.Code)
				}
				codes = strings.Fields(strings.ReplaceAll(strings.Join(codes, " "), "dir_missing", ""))
				if len(codes) == 0 {
					t.Error("nothing was said")
				}
				for _, code := range codes {
					if code != "not_a_folder" && code != "not_a_file" {
						t.Errorf("code %s", code)
					}
				}
			})
		})
	}
}

func TestF1PipeSwappedInNeverHangs(t *testing.T) {
	dir := tempDir(t)
	path := filepath.Join(dir, "a", "HOOK.md")
	write(t, path, text)
	fifo(t, filepath.Join(dir, "pipe"))
	write(t, filepath.Join(dir, "file"), text)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, from := range []string{"pipe", "file"} {
				_ = os.Remove(path + ".next")
				_ = os.Link(filepath.Join(dir, from), path+".next")
				_ = os.Rename(path+".next", path)
			}
		}
	}()
	soon(t, func() {
		for range 300 {
			find(t, nil, dirScope(dir))
		}
	})
	close(stop)
	<-done
}

func TestF2Links(t *testing.T) {
	tests := []struct {
		name         string
		links        map[string]string // path in the user scope's directory → target; $ = that directory
		names, codes []string
	}{
		{"manifest to the outside", map[string]string{"hooks/a/HOOK.md": "../../../outside/HOOK.md"}, []string{"!a"}, []string{"link_escapes"}},
		{"manifest to an absolute path outside", map[string]string{"hooks/a/HOOK.md": "/etc/hostname"}, []string{"!a"}, []string{"link_escapes"}},
		{"manifest to a device", map[string]string{"hooks/a/HOOK.md": "/dev/zero"}, []string{"!a"}, []string{"link_escapes"}},
		{"manifest beside it", map[string]string{"hooks/a/HOOK.md": "real.md"}, []string{"a"}, nil},
		{"manifest elsewhere in the scope", map[string]string{"hooks/a/HOOK.md": "../../common/HOOK.md"}, []string{"a"}, nil},
		{"manifest to an absolute path inside", map[string]string{"hooks/a/HOOK.md": "$/common/HOOK.md"}, []string{"a"}, nil},
		{"manifest out and in again", map[string]string{"hooks/a/HOOK.md": "../../../scope/common/HOOK.md"}, []string{"a"}, nil},
		{"manifest to a pipe inside", map[string]string{"hooks/a/HOOK.md": "$/common/pipe"}, []string{"!a"}, []string{"not_a_file"}},
		{"manifest to nowhere", map[string]string{"hooks/a/HOOK.md": "gone"}, []string{"!a"}, []string{"link_broken"}},
		{"manifest to nowhere, absolute", map[string]string{"hooks/a/HOOK.md": "/gone/for/good"}, []string{"!a"}, []string{"link_broken"}},
		{"manifest in a loop", map[string]string{"hooks/a/HOOK.md": "b", "hooks/a/b": "HOOK.md"}, []string{"!a"}, []string{"unreadable"}},
		{"folder to the outside", map[string]string{"hooks/b": "../../outside"}, []string{"!b"}, []string{"link_escapes"}},
		{"folder to an absolute path outside", map[string]string{"hooks/b": "$/../outside"}, []string{"!b"}, []string{"link_escapes"}},
		{"folder elsewhere in the scope", map[string]string{"hooks/b": "../common"}, []string{"b"}, nil},
		{"folder to an absolute path inside", map[string]string{"hooks/b": "$/common"}, []string{"b"}, nil},
		{"folder to nowhere", map[string]string{"hooks/b": "gone"}, []string{"!b"}, []string{"link_broken"}},
		{"link to a file", map[string]string{"hooks/b": "../common/HOOK.md"}, nil, nil},
		{"hooks folder to the outside", map[string]string{"hooks": "../outside-hooks"}, nil, []string{"link_escapes"}},
		{"hooks folder elsewhere in the scope", map[string]string{"hooks": "more"}, []string{"m"}, nil},
		{"hooks folder to an absolute path inside", map[string]string{"hooks": "$/more"}, []string{"m"}, nil},
		{"hooks folder to nowhere", map[string]string{"hooks": "gone"}, nil, []string{"link_broken"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := tempDir(t)
			scope := filepath.Join(root, "scope")
			write(t, filepath.Join(root, "outside", "HOOK.md"), text)
			write(t, filepath.Join(root, "outside-hooks", "x", "HOOK.md"), text)
			write(t, filepath.Join(scope, "common", "HOOK.md"), text)
			write(t, filepath.Join(scope, "more", "m", "HOOK.md"), text)
			fifo(t, filepath.Join(scope, "common", "pipe"))
			for path, target := range test.links {
				if strings.HasPrefix(path, "hooks/a/") {
					write(t, filepath.Join(scope, "hooks", "a", "real.md"), text)
				}
				link(t, strings.ReplaceAll(target, "$", scope), filepath.Join(scope, path))
			}
			soon(t, func() {
				names, codes := find(t, nil, userScope(scope))
				if diff := cmp.Diff(test.names, names); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff(test.codes, codes); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestF2ScopeDirectoriesThatAreLinks(t *testing.T) {
	root := tempDir(t)
	in := func(path string) string { return filepath.Join(root, path) }
	write(t, in("elsewhere/hooks/a/HOOK.md"), text)
	write(t, in("elsewhere/local/hooks/l/HOOK.md"), text)
	write(t, in("inside/config/hooks/b/HOOK.md"), text)
	link(t, in("elsewhere"), in("user"))
	link(t, in("elsewhere"), in("plugins/p"))
	link(t, in("elsewhere/hooks"), in("dir"))
	link(t, "../elsewhere", in("outside/.tenterhook"))
	link(t, "config", in("inside/.tenterhook"))
	link(t, in("inside"), in("linked"))
	scopes := func(workspace string) []discovery.Scope {
		scopes, _ := discovery.Scopes(discovery.Options{Workspace: in(workspace), ManagedDir: in("none"), UserDir: in("user"), PluginsDir: in("plugins"), Dirs: []string{in("dir")}})
		return scopes
	}
	tests := []struct {
		workspace    string
		names, codes []string
	}{
		{"outside", []string{"a", "a", "a"}, []string{"link_escapes", "link_escapes"}},
		{"inside", []string{"a", "b", "a", "a"}, nil},
		{"linked", []string{"a", "b", "a", "a"}, nil},
	}
	for _, test := range tests {
		names, codes := find(t, nil, scopes(test.workspace))
		if diff := cmp.Diff(test.names, names); diff != "" {
			t.Error(test.workspace, diff)
		}
		if diff := cmp.Diff(test.codes, codes); diff != "" {
			t.Error(test.workspace, diff)
		}
	}
}

func TestF2FolderSwappedForALinkNeverLeadsOut(t *testing.T) {
	root := tempDir(t)
	dir, outside := filepath.Join(root, "dir"), filepath.Join(root, "outside")
	write(t, filepath.Join(outside, "HOOK.md"), "secret")
	write(t, filepath.Join(dir, "a", "HOOK.md"), text)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		folder, aside := filepath.Join(dir, "a"), filepath.Join(root, "aside")
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(folder, aside)
			_ = os.Symlink(outside, folder)
			_ = os.Remove(folder)
			_ = os.Rename(aside, folder)
		}
	}()
	for range 300 {
		find(t, nil, dirScope(dir)) // fails if anything but text was read
	}
	close(stop)
	<-done
}

func TestF2LinksAreRefusedWhereTheyCannotBeFollowedSafely(t *testing.T) {
	root := tempDir(t)
	write(t, filepath.Join(root, "outside", "HOOK.md"), text)
	write(t, filepath.Join(root, "dir", "a", "HOOK.md"), text)
	link(t, "../outside", filepath.Join(root, "dir", "b"))
	link(t, "../../outside/HOOK.md", filepath.Join(root, "dir", "c", "HOOK.md"))
	link(t, "../outside", filepath.Join(root, "user", "hooks"))
	fsys := afero.NewBasePathFs(afero.NewOsFs(), root)
	scopes := []discovery.Scope{{Scope: hook.ScopeUser, Dir: "/user", HooksDir: "/user/hooks"}, {Scope: hook.ScopeDir, Dir: "/dir", HooksDir: "/dir"}}
	names, codes := find(t, fsys, scopes)
	if diff := cmp.Diff([]string{"a", "!b", "!c"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"link_refused", "link_refused", "link_refused"}, codes); diff != "" {
		t.Error(diff)
	}
}

func TestF9FolderWithoutPermissionIsTold(t *testing.T) {
	dir := tempDir(t)
	write(t, filepath.Join(dir, "a", "HOOK.md"), text)
	write(t, filepath.Join(dir, "b", "HOOK.md"), text)
	if err := os.Chmod(filepath.Join(dir, "a"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "a"), 0o755) })
	var names, codes []string
	asowner.Do(t, func() { names, codes = find(t, nil, dirScope(dir)) })
	if diff := cmp.Diff([]string{"!a", "b"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"unreadable"}, codes); diff != "" {
		t.Error(diff)
	}
}
