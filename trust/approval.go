package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Approval is what the operator approved.
type Approval struct {
	Root       string          `json:"root,omitempty"` // the canonical path of the workspace or package; "" = wherever the content is found
	ID         string          `json:"id"`
	Path       string          `json:"path"`     // the file that declares it, relative to the root
	Approved   time.Time       `json:"approved"` // when
	Definition json.RawMessage `json:"definition"`
	Unbound    bool            `json:"unbound,omitzero"` // whatever its command runs: Files are not bound
	Folder     []File          `json:"folder,omitempty"` // every file of the hook's folder
	Files      []File          `json:"files,omitempty"`  // files outside of it
}

// Key is what the approval is kept by, for [Store.Revoke].
func (a *Approval) Key() Key { return Key{a.Root, a.ID, a.Path} }

// Export writes approvals to w, for [OpenFile] to read on another machine. They
// are bound to content alone: each holds in whatever workspace the same content
// is found under the same ID and path. Hand the file to the machine in a way
// that the authors of its workspaces cannot influence.
func Export(w io.Writer, approvals []Approval) error {
	list := slices.Clone(approvals)
	for i := range list {
		list[i].Root = ""
	}
	slices.SortFunc(list, compareApprovals)
	list = slices.CompactFunc(list, func(a, b Approval) bool {
		return a.Key() == b.Key() && a.Unbound == b.Unbound && string(a.Definition) == string(b.Definition) &&
			slices.Equal(a.Folder, b.Folder) && slices.Equal(a.Files, b.Files)
	})
	data, err := encode(list)
	if err != nil {
		return fmt.Errorf("export approvals: %w", err)
	}
	_, err = w.Write(data)
	return err
}

// storeVersion is that of the approvals file.
const storeVersion = 1

// document is an approvals file.
type document struct {
	Version   int        `json:"version"`
	Approvals []Approval `json:"approvals"`
}

// encode writes an approval a line, which a version control shows as what it is.
func encode(list []Approval) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"version":%d,"approvals":[`, storeVersion)
	for i := range list {
		line, err := marshal(&list[i])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(line)
	}
	b.WriteString("\n]}\n")
	return b.Bytes(), nil
}

// decode reads what encode wrote, and nothing else: a file that would not be
// written the same again has unknown, doubled or differently spelt keys, which
// say one thing to a person and another to a parser.
func decode(path string, data []byte) ([]Approval, *Problem) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return nil, damaged(path, err.Error())
	}
	var d document
	if err := json.Unmarshal(compact.Bytes(), &d); err != nil {
		return nil, damaged(path, err.Error())
	}
	if d.Version > storeVersion {
		return nil, &Problem{CodeNewer, path, fmt.Sprintf("was written by a later version (its version is %d, not %d)", d.Version, storeVersion), "update tenterhook"}
	}
	again, err := marshal(document{storeVersion, d.Approvals})
	if err != nil || !bytes.Equal(compact.Bytes(), again) {
		return nil, damaged(path, "it is not as it was written")
	}
	seen := make(map[Key]bool, len(d.Approvals))
	for i := range d.Approvals {
		a := &d.Approvals[i]
		if why := a.invalid(); why != "" {
			return nil, damaged(path, fmt.Sprintf("approval %d %s", i+1, why))
		}
		if k := a.Key(); k.Root != "" && seen[k] {
			return nil, damaged(path, fmt.Sprintf("approval %d is there twice", i+1))
		}
		seen[a.Key()] = true
	}
	return d.Approvals, nil
}

// invalid says what keeps an approval from being one.
func (a *Approval) invalid() string {
	switch {
	case a.ID == "":
		return "has no id"
	case a.Root != "" && !filepath.IsAbs(a.Root):
		return "has a root that is no absolute path"
	case len(a.Definition) == 0 || string(a.Definition) == "null":
		return "has no definition"
	case !slices.IsSortedFunc(a.Folder, byName) || !slices.IsSortedFunc(a.Files, byName):
		return "has files that are not sorted"
	}
	for _, f := range slices.Concat(a.Folder, a.Files) {
		if f.SHA256 != "" && !isDigest(f.SHA256) {
			return "has a file whose sha256 is none: " + show(f.Name)
		}
	}
	return ""
}

func isDigest(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

func damaged(path, why string) *Problem {
	return &Problem{CodeDamaged, path, "is damaged: " + why, "restore it, or remove it and approve again"}
}
