package match

import (
	"encoding/json"
	"testing"
)

// asOnWindows has paths read as on Windows for one test, whatever the system is.
func asOnWindows(t *testing.T) {
	before := onWindows
	onWindows = true
	t.Cleanup(func() { onWindows = before })
}

func windowsCall(tool, key, value string) *Call {
	input, _ := json.Marshal(map[string]string{key: value})
	return &Call{ToolName: tool, ToolInput: input, Cwd: `C:\work\src`, Workspace: `C:\work`, Home: `C:\Users\Me`}
}

func TestEverySpellingOfAWindowsPathMeetsARule(t *testing.T) {
	asOnWindows(t)
	secret := []string{
		`C:\Users\me\secret\a.txt`, `c:/users/ME/Secret/A.TXT`, `/c/Users/me/secret/a.txt`, `\\?\C:\Users\me\secret\a.txt`, `//?/C:/Users/me/secret/a.txt`, `\\.\C:\Users\me\secret\a.txt`, `\??\C:\Users\me\secret\a.txt`,
		`\Users\me\secret\a.txt`, `\\localhost\c$\Users\me\secret\a.txt`, `\\127.0.0.1\C$\Users\me\secret\a.txt`, `\\?\UNC\localhost\c$\users\me\secret\a.txt`,
		`C:\Users\me\secret \a.txt.`, `C:\Users\me\secret\a.txt::$DATA`, `C:\work\..\Users\me\secret\a.txt`, `..\..\users\me\secret\a.txt`,
		`~/secret/a.txt`, `~\secret\a.txt`, `/cygdrive/c/users/me/secret/a.txt`, `C:..\..\Users\me\secret\a.txt`, `file:///C:/Users/me/secret/a.txt`,
	}
	for _, rule := range []string{
		`Edit(C:\Users\me\secret\**)`, `Edit(c:/users/me/secret/**)`, `Edit(/c/Users/me/secret/**)`, `Edit(//c/Users/me/secret/**)`, `Edit(~/secret/**)`, `Edit(~\secret\**)`,
		`Edit(C:\Users\*\secret\*.txt)`,
	} {
		r, problems := ParseRule(rule, RuleOptions{})
		if len(problems) > 0 {
			t.Errorf("%s: %+v", rule, problems)
		}
		for _, file := range secret {
			if d := r.Match(windowsCall("Edit", "file_path", file)); !d.Run {
				t.Errorf("%s on %s: %+v", rule, file, d)
			}
		}
		for _, file := range []string{`C:\Users\me\other\a.txt`, `D:\Users\me\secret\a.txt`, `a.txt`, `\\server\share\users\me\secret\a.txt`, `C:\Users\me\secrets\a.txt`} {
			if d := r.Match(windowsCall("Edit", "file_path", file)); d.Run {
				t.Errorf("%s on %s: %+v", rule, file, d)
			}
		}
	}
	touches, _ := ParseTouches([]string{`C:\Users\me\secret\**`}, TouchOptions{})
	for _, file := range secret {
		if d := touches.Match(windowsCall("Edit", "file_path", file), Write); !d.Run {
			t.Errorf("touches on %s: %+v", file, d)
		}
	}
	for _, line := range []string{`cat /c/users/me/secret/a.txt`, `cat C:/Users/me/secret/a.txt`, `cat "C:\Users\me\secret\a.txt"`, `cat ~/secret/a.txt`, `cd /c/users && cat me/secret/a.txt`, `cat C:\\Users\\me\\secret\\a.txt`} {
		if d := touches.Match(windowsCall("Bash", "command", line), Read); !d.Run {
			t.Errorf("touches on %s: %+v", line, d)
		}
	}
}

func TestADriveIsALetterAndAColon(t *testing.T) {
	for name, want := range map[string]bool{"a:": true, "A:/x": true, "z:": true, `Z:\x`: true, "c:x": true, "@:": false, "[:": false, "`:": false, "{:": false, "1:": false, "ab:": false, "a": false, ":a": false, "": false} {
		if hasDrive(name) != want {
			t.Errorf("%q has a drive: %v", name, !want)
		}
	}
}

func TestAStrictRuleExpandsTheHomeDirectoryAlone(t *testing.T) {
	asOnWindows(t)
	r, _ := ParseRule(`Read(~/x/**)`, RuleOptions{StrictCompat: true})
	for file, want := range map[string]bool{`~/x/a`: true, `~\x\a`: true, `C:\Users\Me\x\a`: true, `\x\a`: false, `~x\x\a`: false, `C\x\a`: false} {
		if d := r.Match(windowsCall("Read", "file_path", file)); d.Run != want {
			t.Errorf("%s: %+v, want %v", file, d, want)
		}
	}
}

func TestRulesOnFoldersReadWindowsPaths(t *testing.T) {
	asOnWindows(t)
	for _, tt := range []struct {
		rule, file string
		want       bool
	}{
		{`Edit(src\**)`, `C:\work\src\src\a`, true},
		{`Edit(src/**)`, `src\a`, true},
		{`Edit(/src/**)`, `C:\WORK\Src\a`, true},
		{`Edit(/src/**)`, `D:\work\src\a`, false},
		{`Edit(/c/x)`, `C:\work\c\x`, true},
		{`Edit(*.key)`, `C:\elsewhere\x.KEY`, true},
		{`Edit(*.key)`, `C:\elsewhere\x.key:y`, true},
		{`Edit(**\.env)`, `C:\work\a\.env.`, true},
		{`Edit(\\\\server\\share\\**)`, `\\SERVER\share\a`, true},
		{`Edit(\\\\server\\share\\**)`, `//server/share/a`, true},
		{`Edit(D:\**)`, `d:\a`, true},
	} {
		r, _ := ParseRule(tt.rule, RuleOptions{})
		if d := r.Match(windowsCall("Edit", "file_path", tt.file)); d.Run != tt.want {
			t.Errorf("%s on %s: %+v, want %v", tt.rule, tt.file, d, tt.want)
		}
	}
}

// What cmd.exe and PowerShell run is judged where it is plain words. Else it cannot be read, and the guard runs.
func TestTextForAWindowsShellIsJudgedOrCannotBeRead(t *testing.T) {
	rule, _ := ParseRule("Bash(git push *)", RuleOptions{})
	for line, want := range map[string]bool{
		`cmd /c git push`: true, `cmd.exe /d /s /c "git push"`: true, `cmd //c "GIT.EXE push"`: true, `cmd /c "g^it push"`: true, `cmd /c "git status"`: false,
		`cmd /c "git status&git push"`: true, `cmd /c %X%`: true, `cmd < x`: true, `echo git push | cmd`: true, `C:/Windows/System32/cmd.exe /C git push`: true,
		`powershell -Command "git push"`: true, `powershell -c git push`: true, `pwsh -nop -c "& ('g'+'it') push"`: true, `powershell -EncodedCommand ZwBpAHQA`: true,
		`powershell -NoProfile -NonInteractive -Command git status`: false, `powershell ./x.ps1`: true, `powershell -File x.ps1`: true, `powershell "git push"`: true,
	} {
		if d := rule.Match(bash(t, line)); d.Run != want {
			t.Errorf("%s: %+v, want %v", line, d, want)
		}
	}
}

func TestARuleMeetsAProgramByEachNameThatWindowsStartsItBy(t *testing.T) {
	asOnWindows(t)
	for line, rule := range map[string]string{
		`git.exe push`: "Bash(git push *)", `GIT.EXE push`: "Bash(git push *)", `"C:\Program Files\Git\git.exe" push`: "Bash(git push *)", `C:/Git/git push`: "Bash(git push *)",
		`C:\\Git\\Git.exe push origin`: "Bash(git push *)", `/c/Git/git.exe push`: "Bash(git push *)", `npm.cmd publish`: "Bash(npm publish *)", `npm.bat publish`: "Bash(npm publish *)", `npm.com publish`: "Bash(npm publish *)", `sudo git.exe push`: "Bash(git push *)",
	} {
		r, _ := ParseRule(rule, RuleOptions{})
		if d := r.Match(windowsCall("Bash", "command", line)); d.Certainty != Sure {
			t.Errorf("%s on %s: %+v", rule, line, d)
		}
	}
	r, _ := ParseRule("Bash(git push *)", RuleOptions{})
	if d := r.Match(windowsCall("Bash", "command", `git.exe status`)); d.Run {
		t.Errorf("%+v", d)
	}
}

func TestAPatternOfATreeIsTakenFromItsFolder(t *testing.T) {
	asOnWindows(t)
	rule, _ := ParseRule(`Glob(C:\Users\me\a.txt)`, RuleOptions{})
	for pattern, want := range map[string]bool{`a.txt`: true, `C:\Users\me\a.txt`: true, `\Users\me\a.txt`: true, `/c/Users/me/a.txt`: true, `~/a.txt`: true, `b.txt`: false, `C:\a.txt`: false, `\a.txt`: false, `/a.txt`: false} {
		input, err := json.Marshal(map[string]string{"path": `C:\Users\me`, "pattern": pattern})
		if err != nil {
			t.Fatal(err)
		}
		c := windowsCall("Glob", "", "")
		c.ToolInput = input
		if d := rule.Match(c); d.Run != want {
			t.Errorf("%s: %+v, want %v", pattern, d, want)
		}
	}
}

func TestAPathWithoutADriveIsReadInASessionWithoutADirectory(t *testing.T) {
	asOnWindows(t)
	touches, _ := ParseTouches([]string{`/Users/me/**`}, TouchOptions{})
	c := windowsCall("Bash", "command", `cat '\Users\me\a'`)
	c.Cwd, c.Workspace = "", ""
	if d := touches.Match(c, Read); !d.Run {
		t.Errorf("%+v", d)
	}
}

func TestADriveIsAFolderElsewhere(t *testing.T) {
	if onWindows {
		t.Skip("it is a drive on Windows")
	}
	if got := native("/c/x"); got != "/c/x" {
		t.Error(got)
	}
}

func TestAnExclusionMayNameADrive(t *testing.T) {
	asOnWindows(t)
	touches, _ := ParseTouches([]string{`C:\work\secret`, `!C:\work\secret\*`}, TouchOptions{})
	for file, want := range map[string]bool{`C:\work\secret`: true, `C:\work\secret\a`: false, `C:\work\build`: false} {
		if d := touches.Match(windowsCall("Edit", "file_path", file), Write); d.Run != want {
			t.Errorf("%s: %+v, want %v", file, d, want)
		}
	}
}

func TestRulesOnPowerShellSeeItsSpellings(t *testing.T) {
	for _, tt := range []struct {
		rule, command string
		want          bool
	}{
		{"PowerShell(git push *)", "git push origin", true},
		{"PowerShell(git push *)", "git push", true},
		{"PowerShell(git push *)", "GIT.exe   push  origin", true},
		{"PowerShell(git push *)", `C:\Git\cmd\git.exe push origin`, true},
		{"PowerShell(git push *)", "git status", false},
		{"PowerShell(git push *)", "git status; git push", true},
		{"PowerShell(git push *)", "& git push", true},
		{"PowerShell(git push *)", "git -C x push", true},
		{"PowerShell(git push *)", "Git --no-pager Push origin", true},
		{"PowerShell(git push *)", "cmd /c git push", true},
		{"PowerShell(git push *)", "wsl git push", true},
		{"PowerShell(git push *)", "Start-Process git push", true},
		{"PowerShell(git push *)", "Start-Process -FilePath git -ArgumentList push", true},
		{"PowerShell(git push *)", "gsudo git push", true},
		{"PowerShell(git push *)", ". git push", true},
		{"PowerShell(git push *)", "git -C x status", false},
		{"PowerShell(git push *)", "Start-Process notepad", false},
		{"PowerShell(git push *)", `git commit -m "pull x, y"`, false},
		{"PowerShell(git push *)", `git "push" "origin"`, true},
		{`PowerShell(git commit -m "x y")`, `git commit -m  "X y"`, true},
		{"PowerShell(rm *)", `iex "ls x"`, true},
		{"PowerShell(Remove-Item *)", `del -Recurse C:\x`, true},
		{"PowerShell(rm *)", `Remove-Item x`, true},
		{"PowerShell(rm *)", `Get-ChildItem x`, false},
		{"PowerShell(rm *)", `iex $x`, true},
		{"PowerShell(rm *)", `r"m" x`, true},
		{`PowerShell(.\Build.ps1 all)`, `.\build.ps1   all`, true},
		{`PowerShell(.\build.ps1)`, `.\build.ps1`, true},
		{`PowerShell(.\build.ps1 all)`, `.\build.ps1   one`, false},
		{"PowerShell(rm)", " ", false},
	} {
		r, _ := ParseRule(tt.rule, RuleOptions{})
		if d := r.Match(windowsCall("PowerShell", "command", tt.command)); d.Run != tt.want {
			t.Errorf("%s on %s: %+v, want %v", tt.rule, tt.command, d, tt.want)
		}
	}
}

func TestAQuotedBracketIsNotTheRootOfADrive(t *testing.T) {
	asOnWindows(t)
	touches, _ := ParseTouches([]string{`~/.ssh/**`}, TouchOptions{})
	for line, run := range map[string]bool{
		`rg -A 2 "import \{" src`: false, `docker run x "a \(b\)"`: false, `rg x "a \{" src`: false,
		`rg x "\\" src`: true, `rg x 'C:\' src`: true, `rg x 'C:\users\me\{.ssh}'`: true, `cat 'C:\users\me\.ssh\(x)'`: true, `tar c "a \\"`: true,
	} {
		if d := touches.Match(windowsCall("Bash", "command", line), Read); d.Run != run {
			t.Errorf("%s: %+v", line, d)
		}
	}
}

func TestDestructiveKnowsDrives(t *testing.T) {
	asOnWindows(t)
	for command, want := range map[string]Certainty{
		`rm -rf C:/`: Sure, `rm -rf "D:\\"*`: Sure, `rm -rf /c`: Sure, `rm -rf /d/*`: Sure, `rm -rf //c/`: Sure, `rm -rf '\\?\C:\'`: Sure,
		`rm -rf /c/Users`: Sure, `rm -rf "C:\Users"/*`: Sure, `rm -rf /c/Users/other`: Sure, `rm -rf ~`: Sure, `rm -rf ~/*`: Sure,
		`rm -rf 'C:\Windows'`: Sure, `rm -rf c:/windows/System32`: Sure, `rm -rf "/c/Program Files"`: Sure, `rm -rf 'C:\Windows.\system32 '`: Sure,
		`dd if=x of='\\.\PhysicalDrive0'`: Sure, `cat x > '\\.\C:'`: Sure, `dd if=x of=//./harddisk0`: Sure, `cat x > '\\.\C:\code\src\x'`: No,
		`rm -rf C:/Windows/Fonts`: Suspected, `rm -rf D:/data`: Suspected, `rm -rf ~/Documents`: Suspected, `rm 'C:\Windows\System32\ntdll.dll'`: Suspected,
		`rm -rf C:/code/src/build`: No, `rm -rf build`: No, `rm -rf D:/data/old/x`: No, `rm -rf ~/proj/build`: No,
	} {
		if d := Destructive(windowsCall("Bash", "command", command)); d.Certainty != want {
			t.Errorf("%s: %+v, want %v", command, d, want)
		}
	}
}

// A drive and a switch look alike in Git's shell: each program knows its switches by name.
func TestSwitchesOfWindowsProgramsAreNoPaths(t *testing.T) {
	asOnWindows(t)
	for command, want := range map[string]Certainty{
		`attrib -r /s /d build`: No, `attrib +h /s /d .git`: No, `attrib -r //s //d build`: No, `attrib -R /S /D 'src\*'`: No,
		`icacls build /grant me:F /t /c /q /l`: No, `icacls build /inheritance:e /t`: No, `icacls build //reset //t`: No, `icacls /?`: No,
		`cacls build /e /g me:F /t`: No, `takeown /f build /r /d Y`: No, `takeown //f build //r //d Y`: No, `takeown /r /a /f build`: No,
		`takeown /f /c /r`: Sure, `takeown //f /c //r`: Sure, `takeown /r /f /d`: Sure, `takeown.exe /F C:\\ /R /D Y`: Sure, `takeown /f /f /r`: Sure,
		`icacls /c /reset /t`: Sure, `icacls /t /grant me:F /t`: Sure, `cacls /e /t /g me:F`: Sure, `icacls 'C:\Windows' /reset /t`: Sure,
		`attrib -r /c /s /d`: Sure, `attrib -r C:/ /s`: Sure, `attrib +h /c/Windows /s /d`: Sure, `attrib -r /x /s`: Sure,
		`takeown /f /c`: Suspected, `attrib +r C:/Windows`: Suspected,
	} {
		if d := Destructive(windowsCall("Bash", "command", command)); d.Certainty != want {
			t.Errorf("%s: %+v, want %v", command, d, want)
		}
	}
}

// A home directory is one also where the session's directory is below it.
func TestHomeAboveTheSessionIsAHome(t *testing.T) {
	for _, windows := range []bool{false, true} {
		call := func(command string) *Call {
			input, _ := json.Marshal(map[string]string{"command": command})
			return &Call{ToolName: "Bash", ToolInput: input, Cwd: "/home/me/code/src", Workspace: "/home/me/code", Home: "/home/me"}
		}
		if windows {
			asOnWindows(t)
			call = func(command string) *Call {
				c := windowsCall("Bash", "command", command)
				c.Home, c.Cwd, c.Workspace = `C:\Users\Me`, `C:\Users\Me\code\src`, `C:\Users\Me\code`
				return c
			}
		}
		for _, command := range []string{`rm -rf ~/*`, `rm -rf "$HOME"/*`, `mv ~ /dev/null`, `rm -rf ~`, `rm -rf ../../*`} {
			if d := Destructive(call(command)); d.Certainty != Sure {
				t.Errorf("%s (as on Windows: %v): %+v", command, windows, d)
			}
		}
		if d := Destructive(call(`rm -rf ~/code/src/build`)); d.Run {
			t.Errorf("as on Windows: %v: %+v", windows, d)
		}
	}
}

func TestADriveIsLostWithoutItsDirectories(t *testing.T) {
	asOnWindows(t)
	for dir, want := range map[string]Certainty{
		"Windows": Sure, "Program Files": Sure, "Program Files (x86)": Sure, "PROGRA~1": Sure, "PROGRA~2": Sure, "ProgramData": Sure, "Boot": Sure,
		"Windows/System32": Sure, "Program Files/x": Suspected, "other": Suspected, "other/x": No,
	} {
		if d := Destructive(windowsCall("Bash", "command", `rm -rf "/c/`+dir+`"`)); d.Certainty != want {
			t.Errorf("%s: %+v, want %d", dir, d, want)
		}
	}
}
