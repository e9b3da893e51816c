package plugins

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/internal/wire"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// binary is an executable that calls itself a plugin.
type binary struct{ name, path string }

// binaries lists those of a package's folder, in order. Whether they are fit to
// run is asked later.
func binaries(dir string) ([]binary, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var found []binary
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), proto.BinaryPrefix)
		if ok && runtime.GOOS == "windows" {
			name, ok = strings.CutSuffix(name, ".exe")
		}
		if ok && name != "" && !e.IsDir() {
			found = append(found, binary{name, filepath.Join(dir, e.Name())})
		}
	}
	return found, nil
}

// approved finds the plugin that a hook names, and what of it may run: by its
// package's folder, and where that has several by the key "plugin".
func (h *Host) approved(hk *hook.Hook, project string) (*unit, approval, *Problem) {
	path, known, p := h.find(hk)
	if p != nil {
		return nil, approval{}, p
	}
	want, p := h.approval(path)
	if known && p != nil && p.Code == CodeMissing { // it was renamed, perhaps
		h.mu.Lock()
		delete(h.single, hk.Source.Root)
		h.mu.Unlock()
		return h.approved(hk, project)
	}
	if p != nil {
		return nil, approval{}, p
	}
	u, p := h.unit(path)
	return u, want.confine(hk, project), p
}

// find is the path of a hook's plugin. A known one was found earlier, and may
// be there no more: the look at its bytes tells.
func (h *Host) find(hk *hook.Hook) (path string, known bool, _ *Problem) {
	dir := hk.Source.Root
	if !filepath.IsAbs(dir) {
		return "", false, &Problem{Code: CodeMissing, Path: hk.Source.Path, Reason: "it belongs to no plugin package", Hint: "put it into plugins/PACKAGE/, beside the plugin"}
	}
	if name := text(hk.Params, wire.ParamPlugin); name != "" {
		if strings.ContainsAny(name, `/\`) {
			return "", false, &Problem{Code: CodeMissing, Path: dir, Reason: fmt.Sprintf("%q is no name of a plugin", name), Hint: "name it without its folder"}
		}
		return filepath.Join(dir, binaryName(name)), false, nil
	}
	h.mu.Lock()
	path = h.single[dir]
	h.mu.Unlock()
	if path != "" {
		return path, true, nil
	}
	path, p := single(dir)
	if p == nil {
		h.mu.Lock()
		h.single[dir] = path
		h.mu.Unlock()
	}
	return path, false, p
}

// single is the one plugin of a package.
func single(dir string) (string, *Problem) {
	found, err := binaries(dir)
	switch {
	case err != nil:
		return "", about(CodeMissing, dir, err, "install the package again, or take its hooks out")
	case len(found) == 0:
		return "", noPlugin(dir)
	case len(found) > 1:
		var names []string
		for _, one := range found[:min(len(found), 8)] {
			names = append(names, wire.FirstLine(one.name))
		}
		list := strings.Join(names, ", ")
		if more := len(found) - len(names); more > 0 {
			list += fmt.Sprintf(" and %d more", more)
		}
		return "", &Problem{Code: CodeMissing, Path: dir, Reason: "it has several plugins: " + list,
			Hint: `name one with the hook's key "plugin"`}
	}
	return found[0].path, nil
}

func noPlugin(dir string) *Problem {
	return &Problem{Code: CodeMissing, Path: dir, Reason: "it has no plugin: no file whose name is like " + binaryName("NAME"),
		Hint: "install the package again, or take its hooks out"}
}

func binaryName(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return proto.BinaryPrefix + name
}

// nameIn is the name of the plugin at a path.
func nameIn(path string) string {
	name := strings.TrimPrefix(filepath.Base(path), proto.BinaryPrefix)
	if runtime.GOOS == "windows" {
		name = strings.TrimSuffix(name, ".exe")
	}
	return name
}

// nameOf is what the hook is called in its plugin: its key "hook", or its name.
func nameOf(hk *hook.Hook) string {
	if name := text(hk.Params, wire.ParamHook); name != "" {
		return name
	}
	return hk.Name
}

func text(params hook.Params, key string) string {
	var s string
	if raw, ok := params[key]; ok && json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
