package pack

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Media types of a pack and of its parts.
const (
	ManifestType = "application/vnd.oci.image.manifest.v1+json"
	ArtifactType = "application/vnd.tenterhook.pack.v1"
	ConfigType   = "application/vnd.tenterhook.pack.config.v1+json"
	// LayerType is not compressed: what a compressor writes depends on its version,
	// and the digest would too.
	LayerType = "application/vnd.tenterhook.pack.layer.v1.tar"
)

// Bounds of a pack. Files are in bytes.
const (
	MaxFiles    = 4096
	MaxFile     = 16 << 20
	MaxTotal    = 64 << 20
	MaxManifest = 64 << 10
	MaxConfig   = 4 << 20
	// MaxLayer is a tar of MaxFiles files of MaxTotal bytes: a header, an extended
	// header and padding for each.
	MaxLayer = MaxTotal + MaxFiles*4096 + 1024
)

// File is a file of a pack.
type File struct {
	Name   string `json:"name"` // with slashes, relative to the pack
	Size   int64  `json:"size"` // in bytes
	SHA256 string `json:"sha256"`
	Exec   bool   `json:"exec,omitzero"` // it can be executed
}

// Config lists the files of a pack, by name.
type Config struct {
	Files []File `json:"files"`
}

// Descriptor names a part of a pack by its content.
type Descriptor struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int64  `json:"size"`
	// URLs would have clients fetch the content from elsewhere: none may be there.
	URLs []string `json:"urls,omitempty"`
}

// Manifest is the OCI manifest of a pack.
type Manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	ArtifactType  string       `json:"artifactType"`
	Config        Descriptor   `json:"config"`
	Layers        []Descriptor `json:"layers"`
}

// Digest is that of data, as "sha256:" and hex.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Describe returns the descriptor of data.
func Describe(mediaType string, data []byte) Descriptor {
	return Descriptor{MediaType: mediaType, Digest: Digest(data), Size: int64(len(data))}
}

// ValidDigest reports whether a text is a sha256 digest as registries write it.
func ValidDigest(s string) bool {
	hexes, ok := strings.CutPrefix(s, "sha256:")
	return ok && validSum(hexes)
}

func validSum(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// NewManifest returns the manifest of a pack with a config and a layer, as bytes.
// The same parts give the same bytes.
func NewManifest(config, layer Descriptor) []byte {
	m := Manifest{SchemaVersion: 2, MediaType: ManifestType, ArtifactType: ArtifactType, Config: config, Layers: []Descriptor{layer}}
	data, _ := json.Marshal(m) // strings and numbers can always be written
	return data
}

// ParseManifest reads a manifest whose digest was compared already. It refuses
// what [NewManifest] would not have written: another type, more layers, URLs to
// fetch content from, and keys that mean something to other readers alone.
func ParseManifest(data []byte) (*Manifest, error) {
	var m Manifest
	if len(data) > MaxManifest {
		return nil, fmt.Errorf("the manifest has more than %d bytes", MaxManifest)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("the manifest is no JSON: %w", err)
	}
	switch {
	case m.SchemaVersion != 2 || m.MediaType != ManifestType:
		return nil, fmt.Errorf("it is no OCI manifest: its media type is %q", m.MediaType)
	case m.ArtifactType != ArtifactType:
		return nil, fmt.Errorf("it is no pack: its artifact type is %q, not %q", m.ArtifactType, ArtifactType)
	case len(m.Layers) != 1:
		return nil, fmt.Errorf("it has %d layers, and a pack has one", len(m.Layers))
	}
	parts := []struct {
		name, mediaType string
		max             int64
		Descriptor
	}{{"config", ConfigType, MaxConfig, m.Config}, {"layer", LayerType, MaxLayer, m.Layers[0]}}
	for _, p := range parts {
		switch {
		case p.MediaType != p.mediaType:
			return nil, fmt.Errorf("its %s has the media type %q, not %q", p.name, p.MediaType, p.mediaType)
		case len(p.URLs) > 0:
			return nil, fmt.Errorf("its %s is foreign: it lies at %q", p.name, p.URLs[0])
		case !ValidDigest(p.Digest):
			return nil, fmt.Errorf("its %s has the digest %q, which is no sha256 digest", p.name, p.Digest)
		case p.Size < 0 || p.Size > p.max:
			return nil, fmt.Errorf("its %s has %d bytes, and at most %d are allowed", p.name, p.Size, p.max)
		}
	}
	if !bytes.Equal(data, NewManifest(m.Config, m.Layers[0])) {
		return nil, fmt.Errorf("its manifest has keys or spelling that no pack has")
	}
	return &m, nil
}

// NewConfig returns the config of files, as bytes. It sorts them, and fails for
// files that no pack may have.
func NewConfig(files []File) ([]byte, error) {
	slices.SortFunc(files, byName)
	if err := checkFiles(files); err != nil {
		return nil, err
	}
	return json.Marshal(Config{files})
}

// ParseConfig reads a config whose digest was compared already. It refuses what
// [NewConfig] would not have written.
func ParseConfig(data []byte) (*Config, error) {
	var c Config
	if len(data) > MaxConfig {
		return nil, fmt.Errorf("the config has more than %d bytes", MaxConfig)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("the config is no JSON: %w", err)
	}
	if err := checkFiles(c.Files); err != nil {
		return nil, err
	}
	if again, err := NewConfig(slices.Clone(c.Files)); err != nil || !bytes.Equal(data, again) {
		return nil, fmt.Errorf("its config has keys, spelling or an order that no pack has")
	}
	return &c, nil
}

func byName(a, b File) int { return cmp.Compare(a.Name, b.Name) }

// Hooks are the names of the manifests of hooks, HOOK.md, by name.
func (c *Config) Hooks() []string {
	var hooks []string
	within := c.HooksDir()
	for _, f := range c.Files {
		if dir, file := path.Split(f.Name); file == manifestName && dir != "" && path.Dir(path.Clean(dir)) == within {
			hooks = append(hooks, f.Name)
		}
	}
	return hooks
}

const manifestName = "HOOK.md"

// HooksDir is the folder of the hook folders: "hooks" for a pack with folders
// of hooks there, else ".", the pack itself.
func (c *Config) HooksDir() string {
	for _, f := range c.Files {
		if parts := strings.Split(f.Name, "/"); len(parts) == 3 && parts[0] == "hooks" && parts[2] == manifestName {
			return "hooks"
		}
	}
	return "."
}
