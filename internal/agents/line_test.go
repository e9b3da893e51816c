package agents

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	programs "github.com/tenterhook/tenterhook/internal/built"

	"github.com/tenterhook/tenterhook/bridge"
)

// fakeBridge is this test's program under the name of the bridge: it prints what it gets, and ends as $ENDS says.
func fakeBridge() {
	args := fmt.Sprintf("%q", os.Args[1:])
	_, _ = os.Stdout.WriteString(args + "\n") // nobody may read it
	code, _ := strconv.Atoi(os.Getenv("ENDS"))
	os.Exit(code)
}

// windowsShells are the programs that run lines; nil = none is here.
var windowsShells = map[shell]func() []string{
	cmdExe: func() []string {
		if runtime.GOOS != "windows" {
			return nil
		}
		return []string{"cmd.exe", "/d", "/s", "/c"}
	},
	powershell: func() []string {
		for _, name := range []string{"pwsh", "powershell"} {
			line := []string{name, "-NoProfile", "-NonInteractive", "-Command"}
			var exit *exec.ExitError
			if err := exec.Command(line[0], append(line[1:], "exit 7")...).Run(); errors.As(err, &exit) && exit.ExitCode() == 7 {
				return line
			}
		}
		return nil
	},
}

// TestALineClosesAGateWhateverBecomesOfItsProgram runs the lines of Windows' shells where these are: under Wine that is cmd.exe.
func TestALineClosesAGateWhateverBecomesOfItsProgram(t *testing.T) {
	for s, find := range windowsShells {
		t.Run(map[shell]string{cmdExe: "cmd.exe", powershell: "PowerShell"}[s], func(t *testing.T) {
			start := find()
			if start == nil {
				t.Skip("Wine: this shell is not here, nor outside of Windows")
			}
			dir := filepath.Join(t.TempDir(), "Jörg Müller & it's ^here!")
			c := caller{program: programs.Program(dir, "tenterhook-bridge"), where: []string{`HOME=C:\Jörg's home\`, "X=a b"}, shell: s}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			program, err := os.ReadFile(self)
			if err := errors.Join(err, os.WriteFile(c.program, program, 0o700)); err != nil {
				t.Fatal(err)
			}
			a := agent(t, map[shell]string{cmdExe: "factory", powershell: "codex"}[s])
			check := func(event, ends string, code int, says string) {
				t.Helper()
				cmd := commandLine(start, c.line(a, event))
				cmd.Env = append(os.Environ(), "ENDS="+ends)
				var out, said bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &said
				if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
					t.Errorf("%s, %s: %v, want exit code %d\n%s%s", event, cmp.Or(ends, "gone"), err, code, out.String(), said.String())
				}
				if got := out.String() + said.String(); !strings.Contains(got, says) {
					t.Errorf("%s, %s: says %s, want %s", event, cmp.Or(ends, "gone"), got, says)
				}
			}
			args := fmt.Sprintf("%q", []string{"--env", c.where[0], "--env", c.where[1], a.Name, "PreToolUse"})
			check("PreToolUse", "0", 0, args)
			check("PreToolUse", "2", 2, args)
			for _, ends := range []string{"1", "3", "9009", "-1073741819"} {
				check("PreToolUse", ends, 2, "tenterhook could not decide")
			}
			for _, ends := range []string{"0", "1", "2"} {
				check("Stop", ends, 0, "Stop")
			}
			if err := os.Rename(c.program, c.program+".moved"); err != nil {
				t.Fatal(err)
			}
			check("PreToolUse", "", 2, "tenterhook could not decide")
			check("Stop", "", 0, "")
		})
	}
}

// An agent's own entries, and those alone, are recognized, in the words of each shell.
func TestEntriesOfEachShellAreRecognized(t *testing.T) {
	for _, s := range []shell{posix, powershell, cmdExe, noShell} {
		for _, dir := range []string{"/opt/t h", `C:\Program Files\Jörg's ‘x’`, "C:/a&b"} {
			for _, name := range []string{"tenterhook-bridge", "tenterhook-bridge.exe"} {
				for _, a := range bridge.Agents() {
					for _, event := range a.Events() {
						c := caller{program: dir + "/" + name, where: []string{"HOME=" + dir}, shell: s}
						for _, shape := range []shape{grouped, copilots, cursors, plain, kiros} {
							if s == noShell && shape != grouped {
								continue // Claude Code's alone
							}
							entry := []byte(shape.element(c, a, event))
							if !isOurs(entry, a.Name) || isOurs(entry, "nobody") {
								t.Fatalf("%s %s: %s", a.Name, event, entry)
							}
							c.program = dir + "/theirs"
							if theirs := []byte(shape.element(c, a, event)); isOurs(theirs, a.Name) {
								t.Fatalf("%s %s: %s is theirs", a.Name, event, theirs)
							}
							c.program = dir + "/" + name
						}
					}
				}
			}
		}
	}
}

// A person's own call of the bridge without a shell differs from an entry, and stays.
func TestPersonsOwnCallsOfTheBridgeSurviveUninstall(t *testing.T) {
	e := testEnv(t)
	e.Windows = true
	a := agent(t, "claude")
	path := filepath.Join(e.Home, ".claude", "settings.json")
	const own = `{"hooks": {"PreToolUse": [
		{"hooks": [{"type": "command", "command": "/x/tenterhook-bridge", "args": ["--direct", "claude", "PreToolUse"]}]},
		{"hooks": [{"type": "command", "command": "/x/tenterhook-bridge", "args": ["--env", "HOME=/x", "--log", "claude", "PreToolUse"]}]},
		{"hooks": [{"type": "command", "command": "/x/tenterhook-bridge", "args": ["PreToolUse"]}]},
		{"hooks": [{"type": "command", "command": "/x/tenterhook-bridge", "args": ["claude", "NoEvent"]}]},
		{"hooks": [{"type": "command", "command": "/x/tenterhook-bridge", "args": ["claude", "PreToolUse", "--env"]}]},
		{"hooks": [{"type": "command", "command": "my-tenterhook-bridge", "args": ["claude", "PreToolUse"]}]},
		{"hooks": [{"type": "command", "command": "tenterhook-bridge", "args": ["claude", "PreToolUse"]}]}]}}`
	write(t, path, []byte(own))
	install(t, e, a, User)
	installed := read(t, path)
	if bytes.Equal(installed, []byte(own)) {
		t.Fatal("nothing was installed")
	}
	write(t, path, append(installed, '\n')) // so that no backup is put back
	uninstall(t, e, a, User)
	if got := read(t, path); !sameJSON(got, []byte(own)) {
		t.Errorf("uninstall left\n%s", got)
	}
}

func TestWhatAnAgentRunsOnWindowsIsWhatItsEntriesAreWrittenFor(t *testing.T) {
	e := testEnv(t)
	e.Windows = true
	for _, a := range bridge.Agents() {
		if _, ok := places[a.Name]; !ok || places[a.Name].windows == posix {
			t.Errorf("%s: nothing says what runs its entries", a.Name)
		}
		p, err := e.PlanInstall(a, User)
		if a.Name == "vscode" {
			p, err = e.PlanInstall(a, Project)
		}
		if !e.known(a.Name) {
			if err == nil || !strings.Contains(err.Error(), "inside WSL") {
				t.Errorf("%s: %v", a.Name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(p.Changes, func(c *Change) bool {
			return bytes.Contains(c.New, []byte(`\"$B\"`)) || bytes.Contains(c.New, []byte(`"$B"`))
		}) {
			t.Errorf("%s has a line of sh", a.Name)
		}
	}
}

// What quotes do not keep in a shell's line could end the line before its gate closes.
func TestWhatAShellWouldMisreadIsRefusedByInstallAlone(t *testing.T) {
	e := testEnv(t)
	e.Windows = true
	for _, tt := range []struct {
		agent, word string
		refused     bool
	}{
		{"factory", `C:\100%\x`, true}, {"factory", `C:\a" & exit 0 & "`, true}, {"factory", "C:\\a\nb", true}, {"factory", `C:\a&b^c!d'e`, false},
		{"codex", `C:\a"b`, true}, {"codex", "C:\\a\r\nb", true}, {"codex", `C:\100%\a&b^c!d'e`, false},
		{"claude", "C:\\100%\\a\"b\nc", false},
	} {
		a := agent(t, tt.agent)
		install(t, e, a, User)
		odd := e
		odd.Where = []string{"HOME=" + tt.word}
		if _, err := odd.PlanInstall(a, User); (err != nil) != tt.refused || err != nil && !strings.Contains(err.Error(), "another folder") {
			t.Errorf("%s: %q: %v", tt.agent, tt.word, err)
		}
		uninstall(t, odd, a, User)
	}
	moved := e
	moved.Program = filepath.Join(filepath.Dir(e.Program), "100%", "tenterhook-bridge.exe")
	write(t, moved.Program, nil)
	if err := os.Chmod(moved.Program, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := moved.PlanInstall(agent(t, "factory"), User); err == nil || !strings.Contains(err.Error(), "another folder") {
		t.Errorf("a %% in front of cmd.exe: %v", err)
	}
}
