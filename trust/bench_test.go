package trust_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/trust"
)

// BenchmarkIntact is the check of a folder with two files; its floor is a stat
// of the three.
func BenchmarkIntact(b *testing.B) {
	w := newWorkspace(b)
	sealed := w.settled()
	b.ReportAllocs()
	for b.Loop() {
		if ok, why := sealed.Intact(); !ok {
			b.Fatal(why)
		}
	}
}

func BenchmarkIntactFloor(b *testing.B) {
	w := newWorkspace(b)
	paths := []string{w.dir, w.path("HOOK.md"), w.path("run.sh")}
	b.ReportAllocs()
	for b.Loop() {
		for _, path := range paths {
			if _, err := os.Lstat(path); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkGuardFiles is the check of a command that names a file of the
// workspace, which is read and hashed each time, and the finding of that file.
func BenchmarkGuardFiles(b *testing.B) {
	w, store := newWorkspace(b), trust.Memory()
	w.write("/check.sh", "exit 2\n", 0o644)
	h := &hook.Hook{Scope: hook.ScopeProject, Command: &hook.Command{Line: `jq -r .tool_input.command | grep -qE 'rm -rf' && exit 2; sh check.sh`}}
	s := trust.Subject{ID: "x", Root: w.root, Path: w.root, Definition: []byte("[]")}
	program := comesTo(w, h)
	approve(b, store, seal(b, s.With(program())))
	g := trust.NewGuard(s, store)
	b.ReportAllocs()
	for b.Loop() {
		if v := g.Check(program); !v.Approved {
			b.Fatal(v.Why)
		}
	}
}

// BenchmarkGuard is what a dispatch pays for a hook that was approved, without
// and with the folder that it runs in.
func BenchmarkGuard(b *testing.B) {
	w, store := newWorkspace(b), open(b, stateDir(b))
	approve(b, store, w.settled())
	g := trust.NewGuard(w.subject(), store)
	s, _ := snapshots(b)
	dir, err := s.Dir(g.Check(nil).Seal)
	must(b, err)
	settled(b, trust.Subject{ID: "x", Root: dir, Path: dir, Definition: []byte("[]"), Dir: dir})
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if v := g.Check(nil); !v.Approved {
				b.Fatal(v.Why)
			}
		}
	})
	b.Run("check and snapshot", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Dir(g.Check(nil).Seal); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkSeal reads and hashes a folder of two small files; its floor reads
// and hashes them by their names.
func BenchmarkSeal(b *testing.B) {
	w := newWorkspace(b)
	s := w.subject()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Seal(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSealFloor(b *testing.B) {
	w := newWorkspace(b)
	paths := []string{w.path("HOOK.md"), w.path("run.sh")}
	b.ReportAllocs()
	for b.Loop() {
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			sha256.Sum256(data)
		}
	}
}

// BenchmarkHash is a file of 16 MiB.
func BenchmarkHash(b *testing.B) {
	w := newWorkspace(b)
	w.write("big", string(make([]byte, 16<<20)), 0o644)
	s := w.subject()
	b.SetBytes(16 << 20)
	for b.Loop() {
		if _, err := s.Seal(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen reads a store of a thousand approvals.
func BenchmarkOpen(b *testing.B) {
	w, dir := newWorkspace(b), stateDir(b)
	s := w.subject()
	var seals []*trust.Seal
	for i := range 1000 {
		s.ID = fmt.Sprint("project/guard", i)
		seals = append(seals, seal(b, s))
	}
	approve(b, open(b, dir), seals...)
	info, err := os.Stat(filepath.Join(dir, "approvals.json"))
	must(b, err)
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		open(b, dir)
	}
}

func BenchmarkDefine(b *testing.B) {
	h := guardHook()
	b.ReportAllocs()
	for b.Loop() {
		define(b, h)
	}
}
