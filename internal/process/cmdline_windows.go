package process

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/windows"
)

// command prepares a child. A program gets its arguments quoted as C programs read them, which os/exec does. cmd.exe
// reads its line by rules of its own, also where it is started for a batch file: there this package writes the line.
func command(ctx context.Context, s *Spec) (*exec.Cmd, error) {
	path, line, err := s.Path, "", error(nil)
	switch ext := strings.ToLower(filepath.Ext(s.Path)); {
	case ext == ".bat" || ext == ".cmd":
		path, line, err = batch(s.Path, s.Argv[1:])
	case strings.EqualFold(filepath.Base(s.Path), "cmd.exe"):
		line = cmdLine(s.Path, s.Argv[1:])
	}
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path)
	cmd.Args, cmd.Dir, cmd.Env = s.Argv, s.Dir, s.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: line, CreationFlags: windows.CREATE_SUSPENDED | noWindow()}
	return cmd, nil
}

// noWindow keeps a console from appearing. Wine gives such a child a console host, which inherits and holds the
// child's pipes: none of them would ever end. There are no windows to keep away where Wine runs tests.
var noWindow = sync.OnceValue(func() uint32 {
	if windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil {
		return 0
	}
	return windows.CREATE_NO_WINDOW
})

// batch is the command line that runs a batch file with exactly these arguments. What cmd.exe would read as more than
// an argument, whatever its quotes, is refused.
func batch(path string, args []string) (program, line string, err error) {
	quoted := make([]string, 0, 1+len(args))
	for i, arg := range append([]string{path}, args...) {
		if strings.ContainsAny(arg, "\"%\r\n") {
			return "", "", &StartError{Diagnosis: Diagnosis{CauseSpec, path,
				fmt.Sprintf("cmd.exe, which runs a batch file, would not take %q as it stands", arg),
				`pass it in a variable or on stdin, or run a program that is no batch file`}}
		}
		if i > 0 && strings.HasSuffix(arg, `\`) && !bare(arg) {
			arg += strings.Repeat(`\`, len(arg)-len(strings.TrimRight(arg, `\`))) // for the program that the file hands it to
		}
		if i == 0 || !bare(arg) {
			arg = `"` + arg + `"`
		}
		quoted = append(quoted, arg)
	}
	system, err := windows.GetSystemDirectory()
	if err != nil {
		return "", "", err
	}
	program = filepath.Join(system, "cmd.exe")
	return program, `"` + program + `" /e:ON /v:OFF /d /s /c "` + strings.Join(quoted, " ") + `"`, nil
}

// bare reports whether cmd.exe and what splits its words leave an argument as it is without quotes.
func bare(arg string) bool {
	return arg != "" && strings.Trim(arg, `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/\+#@$`) == ""
}

// cmdLine is the command line of cmd.exe itself: what follows its /c is text for it, not a list of arguments.
func cmdLine(path string, args []string) string {
	isText := func(arg string) bool { return len(arg) == 2 && arg[0] == '/' && strings.ContainsAny(arg[1:], "cCkKrR") }
	line := `"` + path + `"`
	at := slices.IndexFunc(args, isText)
	if at < 0 {
		at = len(args)
	}
	for _, arg := range args[:at] {
		line += " " + syscall.EscapeArg(arg)
	}
	if at == len(args) {
		return line
	}
	text := args[at+1:]
	if len(text) > 1 { // a program and its arguments
		text = slices.Clone(text)
		for i, word := range text {
			if strings.ContainsAny(word, " \t") && !strings.Contains(word, `"`) {
				text[i] = `"` + word + `"`
			}
		}
	}
	if !slices.ContainsFunc(args[:at], func(arg string) bool { return strings.EqualFold(arg, "/s") }) {
		line += " /s" // the first and the last quote are ours
	}
	return line + " " + args[at] + ` "` + strings.Join(text, " ") + `"`
}
