package source

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// An archive is fetched by https, within bounds, and read as one of this machine.
func TestArchivesAreFetchedByURL(t *testing.T) {
	const manifest = "+++\nevent = \"PreToolUse\"\ncommand = \"true\"\n+++\n"
	archive := func(name string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		_ = w.WriteHeader(&tar.Header{Name: name, Size: int64(len(manifest)), Mode: 0o644, Typeflag: tar.TypeReg})
		_, _ = w.Write([]byte(manifest))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		_ = z.Close()
		return b.Bytes()
	}
	mux := http.NewServeMux()
	serve := func(path string, data []byte) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) })
	}
	plain := httptest.NewServer(mux)
	defer plain.Close()
	server := httptest.NewTLSServer(mux)
	defer server.Close()
	serve("/hooks.tar.gz", archive("guard/HOOK.md"))
	serve("/single.tgz", archive("HOOK.md"))
	serve("/evil.tar.gz", archive("../guard/HOOK.md"))
	serve("/page.zip", []byte("<html>not found</html>"))
	mux.HandleFunc("/moved.tar.gz", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/hooks.tar.gz", http.StatusFound) })
	mux.HandleFunc("/plain.tar.gz", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.URL+"/hooks.tar.gz", http.StatusFound)
	})
	mux.HandleFunc("/round.tar.gz", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/round.tar.gz", http.StatusFound) })
	mux.HandleFunc("/endless.tar.gz", func(w http.ResponseWriter, _ *http.Request) {
		for zeros := make([]byte, 1<<20); ; {
			if _, err := w.Write(zeros); err != nil {
				return
			}
		}
	})
	client.Transport = server.Client().Transport
	defer func() { client.Transport = nil }()
	for path, want := range map[string]string{
		"/hooks.tar.gz": "guard", "/single.tgz?version=2": "single", "/moved.tar.gz": "guard",
		"/evil.tar.gz": "no name of a file below it", "/page.zip": "it is no archive", "/none.zip": `the server answers "404 Not Found"`,
		"/plain.tar.gz": "fetched by https alone", "/round.tar.gz": "more than 5 redirects", "/endless.tar.gz": "larger than 64 MiB",
	} {
		temp := t.TempDir()
		spec, err := Parse(server.URL+path, "")
		if err != nil || spec.Kind != KindArchive || spec.Local() || spec.Check() != nil {
			t.Fatalf("%s: %+v, %v, %v", path, spec, err, spec.Check())
		}
		f, err := Get(t.Context(), spec, nil, temp)
		switch {
		case err != nil && !strings.Contains(err.Error(), want):
			t.Errorf("%s: %v", path, err)
		case err == nil && (len(f.Hooks) != 1 || f.Hooks[0].Name != want):
			t.Errorf("%s: %+v, want %s", path, f, want)
		}
		if left, _ := os.ReadDir(temp); len(left) > 0 {
			t.Errorf("%s leaves %v", path, left)
		}
	}
	for _, text := range []string{plain.URL + "/hooks.tar.gz", "https://me:secret@example.com/hooks.tar.gz"} {
		if spec, err := Parse(text, ""); err == nil {
			t.Errorf("%s: %+v", text, spec)
		}
	}
	if spec, err := Parse("https://example.com/hooks.tar.gz@v1", ""); err != nil || spec.Kind != KindGit {
		t.Errorf("%+v, %v", spec, err)
	}
}
