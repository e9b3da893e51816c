package tenterhook_test

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/tenterhook/tenterhook"

// toAll are packages that import nothing of this module, and that each other one
// may import.
var toAll = []string{"internal/phrase", "internal/safefile"}

// mayImport is the import column of docs/architecture.md: which packages of
// this module a package may import. A trailing slash stands for a subtree.
var mayImport = map[string][]string{
	"hook":               {},
	"breaker":            {},
	"discovery":          {"hook"},
	"internal/dialect":   {"hook", "internal/decl"},
	"trust":              {"hook", "internal/stamp"},
	"eligibility":        {"hook"},
	"manifest":           {"hook", "internal/dialect", "internal/decl"},
	"handler/rule":       {"hook", "internal/environ", "internal/match"},
	"handler/rule/expr":  {"hook", "handler/rule"},
	"handler/":           {"hook", "internal/dialect", "internal/environ", "internal/process", "internal/resolve", "internal/sandbox", "internal/schema", "internal/spill", "internal/supervise", "internal/worker"},
	"plugins":            {"hook", "internal/dialect", "trust", "internal/environ", "internal/process", "internal/resolve", "internal/sandbox", "internal/supervise", "plugins/"},
	"plugins/":           {"hook", "internal/dialect", "internal/process", "plugins/"},
	"internal/load":      {"hook", "discovery", "manifest", "internal/dialect", "trust", "internal/fleetpolicy", "internal/pack", "internal/resolve", "internal/stamp"},
	"internal/selection": {"hook", "breaker", "eligibility", "trust", "handler/rule", "internal/contain", "internal/dialect", "internal/environ", "internal/load", "internal/match", "internal/pause", "internal/resolve"},
	"internal/dispatch":  {"hook", "breaker", "handler/command", "handler/rule", "internal/contain", "internal/dialect", "internal/jobs", "internal/pack", "internal/schema", "internal/selection"},
	"registry": {"hook", "breaker", "discovery", "eligibility", "trust", "handler/command", "handler/rule", "handler/webhook",
		"internal/contain", "internal/dialect", "internal/dispatch", "internal/environ", "internal/fleetpolicy", "internal/load", "internal/pause", "internal/selection", "internal/stamp"},
	"bridge":             {"hook", "internal/dialect", "bridge/closed", "internal/environ"},
	"bridge/closed":      {},
	"journal":            {"hook", "internal/sqlitefile"},
	"internal/pause":     {"hook", "trust"},
	"internal/recording": {"hook", "internal/dialect", "journal"},
	"internal/importer":  {"hook", "internal/dialect", "discovery", "internal/match", "manifest", "trust"},
	"internal/source":    {"internal/pack"},
	"internal/built":     {},
	"internal/top":       {"hook", "journal"},
	"internal/contain":   {},
	"internal/match":     {"hook"},
	"internal/pack":      {},
	"internal/pack/":     {"internal/pack"},
	"fleet/internal/oci": {"fleet/internal/problem", "internal/pack", "hook", "manifest"},
	"fleet/internal/cli": {"fleet/internal/agent", "fleet/internal/archive", "internal/fleetstate", "fleet/internal/hub", "fleet/internal/oci", "fleet/internal/policy", "fleet/internal/problem", "fleet/internal/telemetry", "fleet/internal/work", "internal/fleetpolicy", "internal/jobs", "internal/output", "internal/pack", "internal/recording", "internal/version", "hook", "discovery", "journal", "registry"},
	"fleet/cmd/":         {"fleet/internal/cli"},
	"internal/process":   {"internal/environ", "internal/sandbox"},
	"internal/resolve":   {"hook", "internal/account", "internal/environ", "internal/sandbox"},
	"internal/sandbox":   {},
	"internal/schema":    {},
	"internal/spill":     {},
	"internal/stamp":     {},
	"internal/decl":      {"hook"},
	"internal/output":    {},
	"internal/phrase":    {},
	"internal/safefile":  {},
	"internal/worker":    {"internal/process", "internal/sandbox", "internal/supervise"},
	"internal/supervise": {},
	"internal/agents":    {"bridge", "bridge/closed", "hook", "internal/agents/", "internal/daemon/door"},
	"internal/agents/":   {},
	"internal/cli":       {"internal/fleetstate", "internal/jobs", "internal/pause", "breaker", "examples/hooks", "bridge", "internal/daemon", "internal/daemon/client", "internal/environ", "internal/protect", "internal/agents", "", "hook", "registry", "discovery", "trust", "plugins", "internal/dialect", "manifest", "journal", "internal/recording", "internal/match", "hooktest", "internal/importer", "internal/output", "internal/resolve", "internal/source", "internal/pack", "internal/sandbox", "internal/top", "internal/version"},
	"internal/daemon":    {"breaker", "trust", "internal/recording", "", "hook", "registry", "bridge", "bridge/closed", "discovery", "internal/account", "internal/contain", "internal/environ", "internal/protect", "internal/version", "internal/daemon/"},
	"internal/protect":   {"hook", "discovery", "internal/match"},
	"internal/account":   {},
	"internal/environ":   {},
	"internal/daemon/":   {"bridge/closed"},
	"cmd/":               {"internal/cli", "internal/daemon/client", "internal/version/linked"},
	"examples/hooks":     {"hook", "manifest"},
	"examples/":          {"", "hook", "registry", "plugins/"},
	"hooktest":           {"hook", "registry", "testdata/"},
	"testdata/":          {"testdata/"},
	"":                   {"registry", "hook", "handler/", "plugins"},

	// what a program says of itself, and what a release generates of it
	"internal/version":         {"internal/version/linked"},
	"internal/version/linked":  {},
	"internal/manual":          {},
	"internal/manual/":         {"internal/manual", "internal/cli"},
	"fleet/internal/problem":   {},
	"fleet/internal/hub":       {"fleet/internal/problem"},
	"fleet/internal/ship":      {"internal/fleetstate", "journal"},
	"internal/sqlitefile":      {},
	"fleet/internal/archive":   {"fleet/internal/hub", "fleet/internal/problem", "fleet/internal/ship", "internal/sqlitefile", "hook", "journal"},
	"fleet/internal/agent":     {"fleet/internal/hub", "fleet/internal/problem", "fleet/internal/ship", "internal/fleetstate", "journal"},
	"internal/fleetstate":      {},
	"fleet/internal/telemetry": {"hook", "journal"},
	"fleet/internal/work":      {"fleet/internal/hub", "hook", "internal/jobs", "registry"},
	"internal/jobs":            {"hook"},
	"fleet/internal/manual":    {"internal/manual", "fleet/internal/cli"},

	// the signed documents of a fleet
	"internal/fleetpolicy":  {"hook", "internal/dialect", "trust", "internal/account"},
	"internal/fleetpolicy/": {"internal/fleetpolicy", "internal/dialect"},
	"fleet/internal/policy": {"fleet/internal/hub", "fleet/internal/problem", "internal/fleetpolicy", "internal/pack", "internal/recording", "internal/dialect", "hook", "registry"},
}

type listedPackage struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

func goList(t *testing.T, args ...string) []listedPackage {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil && runtime.GOOS == "windows" {
		t.Skip("Wine has no Go; what imports what does not depend on the system")
	}
	out, err := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Standard"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	var list []listedPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

func TestPackagesImportOnlyWhatTheirRoomAllows(t *testing.T) {
	for _, p := range goList(t, "./...", "./fleet/...") {
		room := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		allowed, ok := roomOf(room)
		if !ok {
			t.Errorf("package %q has no row in the import table", room)
			continue
		}
		for _, imported := range p.Imports {
			if imported != module && !strings.HasPrefix(imported, module+"/") {
				continue
			}
			name := strings.TrimPrefix(strings.TrimPrefix(imported, module), "/")
			if !slices.Contains(toAll, name) && !slices.ContainsFunc(allowed, func(a string) bool { return a == name || strings.HasSuffix(a, "/") && strings.HasPrefix(name, a) }) {
				t.Errorf("%s imports %s, which its room does not allow", room, name)
			}
		}
	}
}

func roomOf(name string) ([]string, bool) {
	if allowed, ok := mayImport[name]; ok {
		return allowed, true
	}
	for room, allowed := range mayImport {
		if room != "" && strings.HasSuffix(room, "/") && strings.HasPrefix(name, room) {
			return allowed, true
		}
	}
	return nil, false
}

// opensItself has the files that open others by themselves, and why they may.
var opensItself = map[string]string{
	"discovery/find.go":                    "a folder, perhaps of an archive, which knows no other way to open",
	"discovery/tree_other.go":              "a folder, perhaps of an archive, which knows no other way to open",
	"discovery/tree_os.go":                 "a folder",
	"fleet/internal/cli/enroll.go":         "its operator names it, perhaps a pipe",
	"fleet/internal/cli/policy.go":         "its operator names it, perhaps a pipe",
	"fleet/internal/cli/sign.go":           "its operator names it, perhaps a pipe",
	"fleet/internal/oci/move.go":           "it does not wait, and creates nothing",
	"hooktest/case.go":                     "in a file system of the program",
	"internal/agents/owner_windows.go":     "no pipes lie in folders there",
	"internal/built/built.go":              "for tests",
	"internal/cli/catalog.go":              "in the program",
	"internal/cli/input.go":                "its operator names it, perhaps a pipe",
	"internal/daemon/client/peer_linux.go": "in /proc",
	"internal/daemon/commands_unix.go":     "in /proc",
	"internal/daemon/door/door.go":         "the standard library alone; it looks before",
	"internal/daemon/steady_linux.go":      "in /proc",
	"internal/daemon/tidy_linux.go":        "in /proc",
	"internal/process/sweep_linux.go":      "in /proc",
	"internal/source/fetch.go":             "in the program",
	"internal/safefile/safefile_unix.go":   "a folder",
}

// What another program could have put in the place of a file, such as a pipe, is not
// waited for, and read to a bound.
func TestFilesAreOpenedByTheOnePackageForIt(t *testing.T) {
	for text, want := range map[string]string{
		`os.Open(p)`: "os.Open", `os.ReadFile(p)`: "os.ReadFile", `os.OpenFile(p, os.O_RDONLY, 0)`: "os.OpenFile", `os.OpenFile(p, os.O_WRONLY|os.O_CREATE, 0o600)`: "os.OpenFile",
		`root.Open(p)`: "root.Open", `t.root.ReadFile(p)`: "t.root.ReadFile", `at().FS().Open(p)`: "at().FS().Open", `fs.ReadFile(fsys, p)`: "fs.ReadFile", `root.OpenFile(p, flags, 0)`: "root.OpenFile", `flock.New(p)`: "flock.New",
		`os.OpenFile(p, os.O_RDONLY|safefile.NonBlock, 0)`: "", `os.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0)`: "", `os.OpenFile(p, os.O_RDWR, 0)`: "", `safefile.Open(p)`: "", `safefile.OpenIn(root, p)`: "", `z.Open()`: "",
	} {
		source := "package p\nimport (\n\"os\"\n\"io/fs\"\n\"github.com/gofrs/flock\"\n\"" + module + "/internal/safefile\"\n)\nvar _, _ = " + text + "\n"
		if got := opensIn(t, "p.go", source); strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	seen := make(map[string]bool)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || path == "examples" || path != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || path == "internal/safefile/lock.go" || path == "internal/safefile/safefile.go":
			return nil
		}
		opens := opensIn(t, path, nil)
		if seen[path] = len(opens) > 0; seen[path] && opensItself[path] == "" {
			t.Errorf("%s: %v: use internal/safefile", path, opens)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range opensItself {
		if !seen[path] {
			t.Errorf("%s opens nothing by itself", path)
		}
	}
}

// opensIn are the calls of a Go file that open a file by its name and may wait for a
// pipe. An open to read and write does not wait, and one that creates finds no pipe.
func opensIn(t *testing.T, path string, source any) (found []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	packages := make(map[string]string) // by the last part of their path
	for _, i := range file.Imports {
		full := strings.Trim(i.Path.Value, `"`)
		packages[full[strings.LastIndexByte(full, '/')+1:]] = full
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		name, of := types.ExprString(call.Fun), ""
		if on, ok := call.Fun.(*ast.SelectorExpr); ok {
			if base, ok := on.X.(*ast.Ident); ok {
				of = packages[base.Name]
			}
		}
		opens := regexp.MustCompile(`\.(Open|OpenFile|ReadFile)$`).MatchString(name) && slices.Contains([]string{"", "os", "io/fs", "github.com/spf13/afero"}, of)
		waits := !regexp.MustCompile(`\b(safefile\.NonBlock|os\.O_EXCL|os\.O_RDWR)\b`).MatchString(types.ExprString(call)) && types.ExprString(call.Args[0]) != "ctx" // a database
		if opens && waits || name == "flock.New" {
			found = append(found, name)
		}
		return true
	})
	return found
}

func TestNounsImportTheStandardLibraryAlone(t *testing.T) {
	for _, p := range goList(t, "-deps", "./hook", "./breaker") {
		if !p.Standard && p.ImportPath != module+"/hook" && p.ImportPath != module+"/breaker" {
			t.Errorf("hook or breaker depends on %s", p.ImportPath)
		}
	}
}

// The stand-alone client links it: an encoder would double its size.
func TestClosedAnswersNeedNoEncoder(t *testing.T) {
	for _, p := range goList(t, "-deps", "./bridge/closed") {
		if p.ImportPath == "encoding/json" || p.ImportPath == "fmt" || !p.Standard && p.ImportPath != module+"/bridge/closed" {
			t.Errorf("bridge/closed depends on %s", p.ImportPath)
		}
	}
}

func TestRegistryStaysLean(t *testing.T) {
	for _, p := range goList(t, "-deps", "./registry") {
		for _, heavy := range []string{"google.golang.org/grpc", "google.golang.org/protobuf", "github.com/hashicorp/go-",
			"github.com/modelcontextprotocol/", "github.com/anthropics/", "github.com/openai/", "github.com/spf13/cobra", "cel.dev/", "github.com/antlr4-go/"} {
			if strings.HasPrefix(p.ImportPath, heavy) {
				t.Errorf("registry links %s", p.ImportPath)
			}
		}
	}
}

// The fleet's engines are of a module and a program of their own.
func TestNothingOfTheFleetIsLinkedOutsideOfIt(t *testing.T) {
	engines := []string{module + "/fleet", "oras.land/", "github.com/opencontainers/", "github.com/google/go-containerregistry", "github.com/nats-io/", "go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/exporters"}
	ofFleet := func(path string) bool {
		return slices.ContainsFunc(engines, func(e string) bool { return strings.HasPrefix(path, e) })
	}
	for _, p := range goList(t, "-deps", ".", "./registry", "./cmd/tenterhook", "./cmd/tenterhook-bridge") {
		if ofFleet(p.ImportPath) {
			t.Errorf("%s is linked outside of the fleet", p.ImportPath)
		}
	}
	linked := goList(t, "-deps", "./fleet/cmd/tenterhook-fleet")
	for _, engine := range []string{"oras.land/", "github.com/nats-io/", "go.opentelemetry.io/otel/exporters"} {
		if !slices.ContainsFunc(linked, func(p listedPackage) bool { return strings.HasPrefix(p.ImportPath, engine) }) {
			t.Errorf("tenterhook-fleet does not link %s: this test looks for the wrong names", engine)
		}
	}
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range engines[1:] {
		if bytes.Contains(text, []byte(engine)) {
			t.Errorf("go.mod requires %s", engine)
		}
	}
}

// An agent waits for the bridge at each of its tool calls.
func TestTheBridgeIsSmallAndOfTheStandardLibrary(t *testing.T) {
	for _, p := range goList(t, "-deps", "./cmd/tenterhook-bridge") {
		if p.ImportPath == "net" || p.ImportPath == "fmt" || !p.Standard && !strings.HasPrefix(p.ImportPath, module+"/") {
			t.Errorf("tenterhook-bridge depends on %s", p.ImportPath)
		}
	}
	program := filepath.Join(t.TempDir(), "tenterhook-bridge")
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w -X "+module+"/internal/version/linked.version=v1.2.3", "-o", program, "./cmd/tenterhook-bridge").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 3<<20 {
		t.Errorf("tenterhook-bridge has %d bytes, want at most 3 MiB", info.Size())
	}
	if built, err := buildinfo.ReadFile(program); err != nil || !slices.ContainsFunc(built.Settings, func(s debug.BuildSetting) bool {
		return s.Key == "DefaultGODEBUG" && strings.Contains(s.Value, "updatemaxprocs=0")
	}) {
		t.Errorf("it starts a goroutine that looks for other processors: %v", err)
	}
	if out, err := exec.Command(program, "--version").CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "tenterhook-bridge v1.2.3 (commit unknown, go1.") {
		t.Errorf("--version: %v: %s", err, out)
	}
}

// Each command waits for what its packages do at the start: they compile nothing,
// and the SDKs of model providers, which do much, are not linked.
func TestTheCommandStartsSoon(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	compiled := regexp.MustCompile(`(?m)^(?:var )?\t?\w+ += regexp2?\.MustCompile\(`)
	for _, p := range goList(t, "-deps", "./cmd/tenterhook") {
		for _, heavy := range []string{"github.com/anthropics/", "github.com/openai/", "github.com/santhosh-tekuri/"} {
			if strings.HasPrefix(p.ImportPath, heavy) {
				t.Errorf("tenterhook links %s", p.ImportPath)
			}
		}
		dir, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours {
			continue
		}
		files, _ := filepath.Glob(filepath.Join(".", filepath.FromSlash(dir), "*.go"))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if at := compiled.FindIndex(text); at != nil && !strings.HasSuffix(file, "_test.go") {
				t.Errorf("%s:%d: compiled at each start: use sync.OnceValue", file, 1+bytes.Count(text[:at[0]], []byte("\n")))
			}
		}
	}
}
