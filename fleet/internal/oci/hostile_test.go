package oci

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/pack"
)

// crafted is a pack whose parts a test may change before and after they are made.
type crafted struct {
	files  []pack.File
	data   map[string]string
	header func(i int, h *tar.Header) // changes a header of the layer
	extra  []*tar.Header              // more entries of the layer
	config func([]byte) []byte
	layer  func([]byte) []byte
	// whole changes the manifest, which is in accordance with all else.
	whole func(*pack.Manifest)
	raw   func([]byte) []byte // the manifest's bytes
	// stored changes what is there under the digest that it had.
	stored func(blobs map[string][]byte, manifest, config, layer string)
	ask    string // the digest to ask for, in place of the manifest's
}

func (c *crafted) file(name, text string) {
	c.files = append(c.files, pack.File{Name: name, Size: int64(len(text)), SHA256: strings.TrimPrefix(pack.Digest([]byte(text)), "sha256:")})
	c.data[name] = text
}

// write puts the pack into a layout directory, and returns its reference.
func (c *crafted) write(t *testing.T) pack.Reference {
	t.Helper()
	config, _ := json.Marshal(pack.Config{Files: c.files})
	var layer bytes.Buffer
	tw := tar.NewWriter(&layer)
	for i, f := range c.files {
		h := header(f)
		if c.header != nil {
			c.header(i, h)
		}
		_ = tw.WriteHeader(h) // what cannot be written is left out
		if h.Typeflag == tar.TypeReg {
			_, _ = tw.Write([]byte(c.data[f.Name]))
		}
	}
	for _, h := range c.extra {
		_ = tw.WriteHeader(h)
	}
	_ = tw.Close()
	tarred := layer.Bytes()
	if c.config != nil {
		config = c.config(config)
	}
	if c.layer != nil {
		tarred = c.layer(tarred)
	}
	manifest := pack.NewManifest(pack.Describe(pack.ConfigType, config), pack.Describe(pack.LayerType, tarred))
	if c.whole != nil {
		var m pack.Manifest
		_ = json.Unmarshal(manifest, &m)
		c.whole(&m)
		manifest, _ = json.Marshal(m)
	}
	if c.raw != nil {
		manifest = c.raw(manifest)
	}
	blobs := map[string][]byte{pack.Digest(config): config, pack.Digest(tarred): tarred, pack.Digest(manifest): manifest}
	if c.stored != nil {
		c.stored(blobs, pack.Digest(manifest), pack.Digest(config), pack.Digest(tarred))
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "blobs", "sha256"), 0o755); err != nil {
		t.Fatal(err)
	}
	for digest, data := range blobs {
		if err := os.WriteFile(filepath.Join(dir, "blobs", "sha256", strings.TrimPrefix(digest, "sha256:")), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"oci-layout": `{"imageLayoutVersion":"1.0.0"}`, "index.json": `{"schemaVersion":2,"manifests":[]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ref := pack.Reference{Layout: dir, Digest: pack.Digest(manifest)}
	if c.ask != "" {
		ref.Digest = c.ask
	}
	return ref
}

// spelt puts text where the manifest has another.
func spelt(was, text string) func(*crafted) {
	return func(c *crafted) {
		c.raw = func(b []byte) []byte { return bytes.Replace(b, []byte(was), []byte(text), 1) }
	}
}

func first(change func(h *tar.Header)) func(*crafted) {
	return func(c *crafted) {
		c.header = func(i int, h *tar.Header) {
			if i == 0 {
				change(h)
			}
		}
	}
}

func named(names ...string) func(*crafted) {
	return func(c *crafted) {
		for _, name := range names {
			c.file(name, "x")
		}
		slices.SortFunc(c.files, func(a, b pack.File) int { return strings.Compare(a.Name, b.Name) })
	}
}

func whole(change func(m *pack.Manifest)) func(*crafted) {
	return func(c *crafted) { c.whole = change }
}

// hostile are packs that no push makes, by what is wrong.
var hostile = map[string]func(*crafted){
	"a symbolic link": first(func(h *tar.Header) { h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, "/etc/passwd", 0 }),
	"a hard link":     first(func(h *tar.Header) { h.Typeflag, h.Linkname, h.Size = tar.TypeLink, "/etc/passwd", 0 }),
	"a hard link within": first(func(h *tar.Header) {
		h.Typeflag, h.Linkname, h.Size = tar.TypeLink, "guard/run.sh", 0
	}),
	"a character device": first(func(h *tar.Header) { h.Typeflag, h.Size = tar.TypeChar, 0 }),
	"a block device":     first(func(h *tar.Header) { h.Typeflag, h.Size = tar.TypeBlock, 0 }),
	"a pipe":             first(func(h *tar.Header) { h.Typeflag, h.Size = tar.TypeFifo, 0 }),
	"a folder":           first(func(h *tar.Header) { h.Typeflag, h.Size = tar.TypeDir, 0 }),
	"setuid":             first(func(h *tar.Header) { h.Mode = 0o4755 }),
	"another mode":       first(func(h *tar.Header) { h.Mode = 0o777 }),
	"an owner":           first(func(h *tar.Header) { h.Uid = 1000 }),
	"an owner's name":    first(func(h *tar.Header) { h.Uname = "root" }),
	"a time":             first(func(h *tar.Header) { h.ModTime = time.Unix(1, 0) }),
	"an extended attribute": first(func(h *tar.Header) {
		h.PAXRecords = map[string]string{"SCHILY.xattr.security.capability": "x"}
	}),
	"another name in the layer":          first(func(h *tar.Header) { h.Name = "../../evil" }),
	"an absolute name in the layer":      first(func(h *tar.Header) { h.Name = "/etc/cron.d/x" }),
	"a file that the config lacks":       func(c *crafted) { c.extra = []*tar.Header{header(pack.File{Name: "zzz"})} },
	"a link that the config lacks":       func(c *crafted) { c.extra = []*tar.Header{{Typeflag: tar.TypeSymlink, Name: "zzz", Linkname: "/"}} },
	"an absolute name":                   named("/etc/x"),
	"a name with ..":                     named("../x"),
	"a name with .. inside":              named("a/../../x"),
	"a roundabout name":                  named("a/./x"),
	"a doubled slash":                    named("a//x"),
	"a name with NUL":                    named("a\x00b"),
	"a name with a line break":           named("a\nb"),
	"a name that turns text around":      named("a\u202eb"),
	"a name with a backslash":            named(`..\x`),
	"a drive":                            named("c:x"),
	"a stream of Windows":                named("x:$DATA"),
	"names that differ in case":          named("a/README", "a/readme"),
	"names that differ in an old case":   named("a/ſ", "a/s"),
	"folders that differ in case":        named("Lib/a", "lib/b"),
	"a file and a folder":                named("a", "a/b"),
	"a file and a folder in other case":  named("A", "a/b"),
	"the same name twice":                named("a", "a"),
	"an accent of its own":               named("e\u0301"),
	"a device of Windows":                named("a/NUL"),
	"a device of Windows with an ending": named("a/com1.txt"),
	"a port with a superscript":          named("LPT²"),
	"a trailing dot":                     named("a."),
	"a trailing blank":                   named("a /b"),
	"a folder of git":                    named(".Git/config"),
	"a name that is too long":            named(strings.Repeat("a", 241)),
	"a name that is too deep":            named(strings.Repeat("a/", 13) + "x"),
	"an empty name":                      named(""),
	"too many files": func(c *crafted) {
		for i := range pack.MaxFiles {
			c.file(fmt.Sprintf("x/%05d", i), "")
		}
	},
	"a huge file in the config": func(c *crafted) {
		c.files[0].Size = pack.MaxFile + 1
		c.layer = func(b []byte) []byte { return b }
		c.header = sized(1)
	},
	"huge in all": func(c *crafted) {
		for i := range 5 {
			c.file(fmt.Sprintf("x/%d", i), "")
			c.files[len(c.files)-1].Size = pack.MaxFile
		}
		c.header = sized(0)
	},
	"a negative size":                  func(c *crafted) { c.files[0].Size = -1; c.header = sized(0) },
	"a sparse bomb":                    first(func(h *tar.Header) { h.Size = 1 << 40 }),
	"a file that is shorter":           first(func(h *tar.Header) { h.Size-- }),
	"other content than in the config": func(c *crafted) { c.data["guard/HOOK.md"] = strings.ToUpper(c.data["guard/HOOK.md"]) },
	"a digest of a file that is none":  func(c *crafted) { c.files[0].SHA256 = "../../x" },
	"files out of order":               func(c *crafted) { slices.Reverse(c.files) },
	"no files":                         func(c *crafted) { c.files = nil },
	"a plugin": func(c *crafted) {
		c.file("guard2/HOOK.md", "+++\nevent = \"PreToolUse\"\ntype = \"plugin\"\nhook = \"x\"\n+++\n")
	},
	"no hooks": func(c *crafted) { c.files = nil; named("x")(c) },
	"a config with more keys": func(c *crafted) {
		c.config = func(b []byte) []byte { return bytes.Replace(b, []byte("{"), []byte(`{"run":"x",`), 1) }
	},
	"a config with two lists": func(c *crafted) {
		c.config = func(b []byte) []byte { return bytes.Replace(b, []byte("{"), []byte(`{"files":[],`), 1) }
	},
	"a config that is no JSON":        func(c *crafted) { c.config = func([]byte) []byte { return []byte("x") } },
	"a truncated layer":               func(c *crafted) { c.layer = func(b []byte) []byte { return b[:700] } },
	"an empty layer":                  func(c *crafted) { c.layer = func([]byte) []byte { return nil } },
	"a layer that is no tar":          func(c *crafted) { c.layer = func(b []byte) []byte { return bytes.Repeat([]byte("x"), len(b)) } },
	"a compressed layer":              func(c *crafted) { c.layer = func(b []byte) []byte { return append([]byte("\x1f\x8b"), b...) } },
	"a second archive behind the end": func(c *crafted) { c.layer = func(b []byte) []byte { return append(slices.Clone(b), b...) } },
	"two layers":                      whole(func(m *pack.Manifest) { m.Layers = append(m.Layers, m.Layers[0]) }),
	"no layers":                       whole(func(m *pack.Manifest) { m.Layers = nil }),
	"a foreign layer":                 whole(func(m *pack.Manifest) { m.Layers[0].URLs = []string{"http://127.0.0.1/x"} }),
	"a foreign config":                whole(func(m *pack.Manifest) { m.Config.URLs = []string{"http://127.0.0.1/x"} }),
	"another artifact type":           whole(func(m *pack.Manifest) { m.ArtifactType = "application/vnd.x" }),
	"another manifest type":           whole(func(m *pack.Manifest) { m.MediaType = "application/vnd.oci.image.index.v1+json" }),
	"another schema":                  whole(func(m *pack.Manifest) { m.SchemaVersion = 1 }),
	"a container's layer type":        whole(func(m *pack.Manifest) { m.Layers[0].MediaType = "application/vnd.oci.image.layer.v1.tar+gzip" }),
	"another config type":             whole(func(m *pack.Manifest) { m.Config.MediaType = "application/vnd.oci.image.config.v1+json" }),
	"a layer's size that is more":     whole(func(m *pack.Manifest) { m.Layers[0].Size += 512 }),
	"a layer's size that is less":     whole(func(m *pack.Manifest) { m.Layers[0].Size = 1024 }),
	"a layer's size that is huge":     whole(func(m *pack.Manifest) { m.Layers[0].Size = 1 << 50 }),
	"a negative layer":                whole(func(m *pack.Manifest) { m.Layers[0].Size = -1 }),
	"a config's size that is less":    whole(func(m *pack.Manifest) { m.Config.Size = 3 }),
	"a config's size that is more":    whole(func(m *pack.Manifest) { m.Config.Size++ }),
	"a config's size that is huge":    whole(func(m *pack.Manifest) { m.Config.Size = 1 << 50 }),
	"a digest of another kind":        whole(func(m *pack.Manifest) { m.Layers[0].Digest = "sha512:" + strings.Repeat("a", 128) }),
	"a digest that is a path":         whole(func(m *pack.Manifest) { m.Config.Digest = "sha256:../../../../etc/passwd" }),
	"a subject":                       spelt(`"layers"`, `"subject":{},"layers"`),
	"annotations":                     spelt(`"layers"`, `"annotations":{"a":"b"},"layers"`),
	"embedded data":                   spelt(`"size"`, `"data":"e30=","size"`),
	"a key twice":                     spelt("{", `{"artifactType":"x",`),
	"a key in other case":             spelt(`"layers"`, `"Layers"`),
	"blanks":                          spelt(":", ": "),
	"a manifest that is no JSON":      func(c *crafted) { c.raw = func([]byte) []byte { return []byte("x") } },
	"a manifest that is huge": func(c *crafted) {
		c.raw = func(b []byte) []byte { return append(b, bytes.Repeat([]byte(" "), pack.MaxManifest)...) }
	},
	"a manifest that changed": func(c *crafted) {
		c.stored = func(blobs map[string][]byte, manifest, _, _ string) { blobs[manifest] = append(blobs[manifest], ' ') }
	},
	"a config that changed": func(c *crafted) {
		c.stored = func(blobs map[string][]byte, _, config, _ string) { blobs[config] = bytes.ToUpper(blobs[config]) }
	},
	"a layer that changed": func(c *crafted) {
		c.stored = func(blobs map[string][]byte, _, _, layer string) { blobs[layer][600] ^= 1 }
	},
	"a layer that is gone": func(c *crafted) {
		c.stored = func(blobs map[string][]byte, _, _, layer string) { delete(blobs, layer) }
	},
	"a layer that is truncated where it lies": func(c *crafted) {
		c.stored = func(blobs map[string][]byte, _, _, layer string) { blobs[layer] = blobs[layer][:len(blobs[layer])-512] }
	},
	"a layer that goes on where it lies": func(c *crafted) {
		c.stored = func(blobs map[string][]byte, _, _, layer string) { blobs[layer] = append(blobs[layer], 0) }
	},
	"another digest": func(c *crafted) { c.ask = "sha256:" + strings.Repeat("a", 64) },
}

// sized writes headers of another size than the config's.
func sized(size int64) func(int, *tar.Header) {
	return func(_ int, h *tar.Header) { h.Size = size }
}

func begun() *crafted {
	c := &crafted{data: make(map[string]string)}
	c.file("guard/HOOK.md", "+++\nevent = \"PreToolUse\"\ncommand = \"./run.sh\"\n+++\n")
	c.file("guard/run.sh", "#!/bin/sh\nexit 2\n")
	return c
}

func TestHostilePacksAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	ctx := context.Background()
	good := begun().write(t) // the crafted pack is one, but for what is wrong
	if r, err := Look(ctx, good); err != nil {
		t.Fatal(err)
	} else if _, err := r.Pull(ctx, t.TempDir(), nil); err != nil {
		t.Fatal(err)
	}
	if len(hostile) < 30 {
		t.Errorf("%d hostile packs, want 30", len(hostile))
	}
	for name, spoil := range hostile {
		t.Run(name, func(t *testing.T) {
			c := begun()
			spoil(c)
			ref := c.write(t)
			outside := t.TempDir()
			state := filepath.Join(outside, "state")
			r, err := Look(ctx, ref)
			if err == nil {
				err = r.Verify(ctx, nil)
				_, pulled := r.Pull(ctx, state, nil)
				if err == nil || pulled == nil {
					t.Fatalf("it was accepted: verify %v, pull %v", err, pulled)
				}
			}
			t.Log(err)
			var left []string
			_ = filepath.WalkDir(outside, func(path string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() && d.Name() != "packs.lock" {
					left = append(left, path)
				}
				return nil
			})
			if len(left) > 0 {
				t.Errorf("it left %v", left)
			}
		})
	}
}

func FuzzAnyLayerUnpacksItsFilesOrNothing(f *testing.F) {
	c := begun()
	var layer bytes.Buffer
	tw := tar.NewWriter(&layer)
	for _, file := range c.files {
		_ = tw.WriteHeader(header(file))
		_, _ = tw.Write([]byte(c.data[file.Name]))
	}
	_ = tw.Close()
	f.Add(layer.Bytes())
	f.Add(layer.Bytes()[:600])
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		if err := extract(bytes.NewReader(data), &pack.Config{Files: c.files}, root); err != nil {
			return
		}
		for name, text := range c.data {
			if got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || string(got) != text {
				t.Errorf("%s is %q, %v", name, got, err)
			}
		}
	})
}
