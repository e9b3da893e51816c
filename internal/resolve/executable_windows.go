package resolve

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// Copy stands for the copy of a folder that a hook runs from. As long as that is
// not known, it is what the hook's Source.Dir is resolved as.
const Copy = `C:\.tenterhook-copy`

// startable are the endings of what Windows starts, or what an interpreter that belongs to the ending does. A PATHEXT
// may name more, such as .JS, which only the shell's associations start.
var startable = strings.Fields(".com .exe .bat .cmd .ps1 .py .pyw .sh")

// executable reports whether path is a program, with one of PATHEXT's endings
// where it has none, and where it is.
func executable(path string, e *Environ) (string, bool) {
	if filepath.Ext(path) != "" && isProgram(path) {
		return path, true
	}
	for _, ext := range strings.Split(cmp.Or(e.Get("PATHEXT"), ".COM;.EXE;.BAT;.CMD"), ";") {
		if slices.Contains(startable, strings.ToLower(ext)) && isProgram(path+ext) {
			return path + ext, true
		}
	}
	return "", false
}

// isProgram reports whether a file may be started. What the Store installs on PATH is a link of a kind of its own,
// which is an irregular file.
func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Type()&^fs.ModeIrregular == 0
}

// named completes the path of a program that a command names, by PATHEXT.
func (l *locator) named(path string) string {
	bytes := l.bytesOf(path)
	at, ok := executable(bytes, l.env)
	if !ok {
		return path
	}
	return path + strings.TrimPrefix(at, bytes)
}

// shell returns the program and the flags that run a command line. Windows has
// no sh of its own: the one of Git for Windows is used, or one on PATH.
func (e *Environ) shell(name string) (argv []string, remedy string) {
	switch name {
	case "powershell", "pwsh":
		if path, ok := e.powershell(); ok {
			return []string{path, "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-Command"}, ""
		}
		return nil, "install PowerShell"
	case "cmd":
		return []string{systemProgram("cmd.exe"), "/d", "/s", "/c"}, ""
	case "", "sh", "bash":
		if path, ok := e.posixShell(cmp.Or(name, "sh")); ok {
			return []string{path, "-c"}, ""
		}
		return nil, `install Git for Windows, which has one, or write the command for shell = "powershell" or "cmd", or give it as args`
	}
	if path, ok := e.lookPath(name); ok && shellName(path) {
		return []string{path, "-c"}, ""
	}
	return nil, "use sh, bash, powershell or cmd"
}

func (e *Environ) powershell() (string, bool) {
	for _, program := range []string{"pwsh", "powershell"} {
		if path, ok := e.lookPath(program); ok {
			return path, true
		}
	}
	path := systemProgram(`WindowsPowerShell\v1.0\powershell.exe`)
	return path, isProgram(path)
}

// systemProgram is the path of a program of Windows itself, whatever the environment says.
func systemProgram(name string) string {
	dir, err := windows.GetSystemDirectory()
	if err != nil {
		dir = `C:\Windows\System32`
	}
	return filepath.Join(dir, name)
}

// posixShell finds sh or bash: where Claude Code's settings say, on PATH, beside git, and where Git for Windows
// installs itself. The bash of the system directory is none of them: it starts a Linux.
func (e *Environ) posixShell(name string) (string, bool) {
	dirs := filepath.SplitList(e.Get("PATH"))
	if told := e.Get("CLAUDE_CODE_GIT_BASH_PATH"); told != "" {
		dirs = append([]string{filepath.Dir(told)}, dirs...)
	}
	if git, ok := e.lookPath("git"); ok { // …\Git\cmd, …\Git\mingw64\bin, or the shims of Scoop
		at := filepath.Dir(git)
		dirs = append(dirs, filepath.Join(at, `..\bin`), filepath.Join(at, `..\..\bin`), filepath.Join(at, `..\apps\git\current\bin`))
	}
	for _, variable := range []string{"ProgramFiles", "ProgramW6432", "ProgramFiles(x86)"} {
		dirs = append(dirs, e.Get(variable)+`\Git\bin`)
	}
	dirs = append(dirs, e.Get("LOCALAPPDATA")+`\Programs\Git\bin`)
	for _, hive := range []registry.Key{registry.LOCAL_MACHINE, registry.CURRENT_USER} {
		dirs = append(dirs, installedGit(hive)+`\bin`)
	}
	system := filepath.Dir(systemProgram("x"))
	for _, dir := range dirs {
		if filepath.IsAbs(dir) && !within(system, dir) {
			for _, file := range []string{name + ".exe", "bash.exe", "sh.exe"} {
				if path := filepath.Join(dir, file); isProgram(path) {
					return path, true
				}
			}
		}
	}
	return "", false
}

// installedGit is the folder of Git for Windows as its installer noted it.
func installedGit(hive registry.Key) string {
	key, err := registry.OpenKey(hive, `SOFTWARE\GitForWindows`, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer key.Close()
	dir, _, _ := key.GetStringValue("InstallPath")
	return dir
}
