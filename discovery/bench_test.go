package discovery_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenterhook/tenterhook/discovery"
)

// BenchmarkFind reads a thousand hook folders; BenchmarkFloor reads the same
// files one after the other, knowing their names.
func BenchmarkFind(b *testing.B) {
	dir, _ := thousandFolders(b)
	scopes := dirScope(dir)
	b.ReportAllocs()
	for b.Loop() {
		found, _, err := discovery.Find(context.Background(), nil, scopes)
		if err != nil || len(found) != 1000 {
			b.Fatal(len(found), err)
		}
	}
}

func BenchmarkFloor(b *testing.B) {
	_, paths := thousandFolders(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, path := range paths {
			if _, err := os.ReadFile(path); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func thousandFolders(b *testing.B) (dir string, paths []string) {
	dir = tempDir(b)
	for i := range 1000 {
		path := filepath.Join(dir, fmt.Sprintf("hook%04d", i), "HOOK.md")
		write(b, path, text)
		paths = append(paths, path)
	}
	return dir, paths
}
