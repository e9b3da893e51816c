package agents

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// corpus reads the files of an agent's archive in testdata/configs, and which of
// them are refused, with what words. A name's ending says what an archive cannot
// hold: .crlf has line breaks of Windows, .bom a byte order mark.
func corpus(t *testing.T, name string) (files map[string][]byte, refused map[string]string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata/configs", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files, refused = make(map[string][]byte), make(map[string]string)
	for line := range strings.Lines(string(archive.Comment)) {
		if rest, ok := strings.CutPrefix(line, "refused: "); ok {
			file, why, _ := strings.Cut(strings.TrimSpace(rest), ": ")
			refused[file] = why
		}
	}
	for _, f := range archive.Files {
		data := bytes.Clone(f.Data)
		if strings.Contains(f.Name, ".crlf") {
			data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
		}
		if strings.Contains(f.Name, ".bom") {
			data = append(bytes.Clone(utf8BOM), data...)
		}
		if strings.Contains(f.Name, "no-break") || strings.HasPrefix(f.Name, "projects") {
			data = bytes.TrimRight(data, "\n")
		}
		files[f.Name] = data
	}
	for name := range refused {
		if files[name] == nil {
			t.Fatalf("there is no file %s to be refused", name)
		}
	}
	return files, refused
}

func TestFilesOfPeopleKeepTheirBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	total := 0
	for name, shared := range sharedFiles() {
		files, refused := corpus(t, name)
		for file, before := range files {
			total++
			t.Run(name+"/"+file, func(t *testing.T) {
				e, a := testEnv(t), agent(t, name)
				path := shared.in(e)
				write(t, path, before)
				plan, err := e.PlanInstall(a, shared.scope)
				if want, ok := refused[file]; ok {
					if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
						t.Errorf("want a refusal with %q, got %v", want, err)
					}
					if !bytes.Equal(read(t, path), before) {
						t.Error("the file that was refused has changed")
					}
					return
				}
				if err == nil {
					err = e.Apply(plan)
				}
				if err != nil {
					t.Fatal(err)
				}
				if after := read(t, path); !subsequence(before, after) || bytes.Equal(before, after) {
					t.Errorf("not only added to:\n%s", after)
				}
				if found := e.Verify(e.State(a), shared.scope); a.Version() != "" && name != "codex" && len(found) > 0 {
					t.Errorf("verify finds %v", found)
				}
				again, err := e.PlanInstall(a, shared.scope)
				if err != nil || !again.Same() {
					t.Errorf("installing again would change it, %v", err)
				}
				uninstall(t, e, a, shared.scope)
				if got := read(t, path); !bytes.Equal(got, before) {
					t.Errorf("it was\n%q\nand is\n%q", before, got)
				}
				// A person who only adds a line break takes the backup out of use.
				install(t, e, a, shared.scope)
				write(t, path, append(read(t, path), '\n'))
				uninstall(t, e, a, shared.scope)
				if got := read(t, path); !bytes.Equal(tight(got), tight(append(bytes.Clone(before), '\n'))) {
					t.Errorf("without the backup it was\n%q\nand is\n%q", before, got)
				}
			})
		}
	}
	if want := 8 * len(sharedFiles()); total < 60 && total < want {
		t.Errorf("%d files: there should be 60", total)
	}
}

var emptyContainer = regexp.MustCompile(`([\[{])\s+([\]}])`)

// tight is a text without white space in empty lists and objects: what was
// there is known from the backup alone.
func tight(text []byte) []byte { return emptyContainer.ReplaceAll(text, []byte("$1$2")) }

func TestTheTrustOfOurEntriesAloneLeavesCodexConfiguration(t *testing.T) {
	files, _ := corpus(t, "codex-config")
	for file, before := range files {
		t.Run(file, func(t *testing.T) {
			nl := "\n"
			if bytes.Contains(before, []byte("\r\n")) {
				nl = "\r\n"
			}
			key := `"/home/kim/.codex/hooks.json:pre_tool_use:1:0"`
			table := "[hooks.state." + key + "]" + nl + `trusted_hash = "sha256:22"` + nl
			receipt := &FileReceipt{Existed: true, Created: []string{"/home/kim/.codex/hooks.json:pre_tool_use:1:0"}}
			gap := nl
			if len(before) == 0 {
				gap = ""
			} else if !bytes.HasSuffix(before, []byte("\n")) {
				gap += nl
			}
			behind := nl + "# mine" + nl + "[profiles.slow] # since May" + nl + `model = "x"` + nl
			for _, text := range []string{string(before) + gap + table, string(before) + gap + table + behind} {
				got := withoutTrust([]byte(text), receipt)
				want := strings.Replace(text, gap+table, "", 1)
				if !bytes.HasSuffix(before, []byte("\n")) && len(before) > 0 {
					want = string(before) + nl + strings.TrimPrefix(text, string(before)+gap+table)
				}
				if string(got) != want {
					t.Errorf("of\n%s\nis left:\n%q\nwant\n%q", text, got, want)
				}
			}
		})
	}
}
