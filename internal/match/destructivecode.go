package match

import (
	"regexp"
	"strings"
	"sync"
)

// deletingCode are parts of code that delete.
var deletingCode = []string{"rmtree", "rm_rf", "rmsync", "rmdirsync", "file.delete", "remove_tree", "rmdir(", "unlink", "removeall", "removesync", "deno.remove", "delete-directory", "delete-file", "deletedirectory", "file delete", "rd /s", "rmdir /s", "del /s", "del /f", "file_util.rm", "remove_entry", "remove_dir", "remove_file", "removedirectory", "fileutils.rm", "remove-item", "os.remove", "deleteifexists", "rimraf", "delete_tree"}

// callsRm matches a call of rm, as in fs.promises.rm("x").
var callsRm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\brm(?:_r)?\(`) })

// code judges code that an interpreter is given.
func (d *destruction) code(name string, args []string) {
	if !isLanguage(name) || d.now.how == mentioned {
		return
	}
	if len(args) > 0 && (name == "powershell" || name == "pwsh") && sameInEveryShell(strings.Join(args, " ")) {
		return // it was read as a command
	}
	texts := append(args[:len(args):len(args)], d.now.stdin)
	if name == "cmd" {
		texts = append(texts, strings.Join(args, " "))
	}
	for _, text := range texts {
		low := strings.ToLower(text)
		for _, part := range deletingCode {
			if strings.ContainsAny(low, " (;\"'") && strings.Contains(low, part) {
				d.verdict(doubtful, "has code that deletes")
				return
			}
		}
		if callsRm().MatchString(low) {
			d.verdict(doubtful, "has code that deletes")
			return
		}
		if (strings.Contains(low, "exec(") || strings.Contains(low, "eval(")) && (strings.Contains(low, "decode") || strings.Contains(low, "fromhex") || strings.Contains(low, "atob(")) {
			d.verdict(doubtful, "has code that decodes what it runs")
		}
		if strings.Contains(low, "fork") && (strings.Contains(low, "while") || strings.Contains(low, "loop") || strings.Contains(low, "for ")) {
			d.verdict(doubtful, "has code that starts itself again and again")
		}
		for _, disk := range []string{"/dev/sd", "/dev/nvme", "/dev/disk", "/dev/vd", "/dev/hd"} {
			if strings.ContainsAny(low, " (;\"'") && strings.Contains(low, disk) {
				d.verdict(doubtful, "has code that names a disk")
				return
			}
		}
	}
}
