package protect

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/internal/match"
)

// commandRules match commands that would change what tenterhook does, or end it.
func commandRules(programs []string) *match.Rules {
	names := []string{"tenterhook", "tenterhook-fleet"}
	var list []string
	for _, p := range append([]string{"tenterhook-bridge"}, programs...) {
		if strings.TrimSuffix(filepath.Base(p), ".exe") == "tenterhook" {
			names = append(names, p)
		} else { // an entry that an agent runs itself could end its session
			list = append(list, "Bash("+p+")", "Bash("+p+" *)")
		}
	}
	for _, name := range compact(names) {
		for _, sub := range append([]string{"bridge", "daemon run"}, Changing...) {
			if command, flag, ok := strings.Cut(sub, " --"); ok {
				list = append(list, fmt.Sprintf("Bash(%s %s *--%s*)", name, command, flag))
				continue
			}
			list = append(list, fmt.Sprintf("Bash(%s %s)", name, sub), fmt.Sprintf("Bash(%s %s *)", name, sub))
		}
	}
	list = append(list, "Bash(tenterhook-fleet)", "Bash(tenterhook-fleet *)") // its commands also go without "fleet"
	for _, killer := range []string{"kill", "pkill", "killall", "killall5", "skill", "fuser", "systemctl", "launchctl", "prlimit", "renice", "cpulimit", "taskset",
		"gcore", "strace", "ltrace", "gdb", "lldb", "apt remove", "apt purge", "apt autoremove", "apt-get remove", "apt-get purge", "apt-get autoremove", "dpkg -r", "dpkg -P",
		"dpkg --remove", "dpkg --purge", "rpm -e", "dnf remove", "yum remove", "zypper remove", "pacman -R*", "apk del", "snap remove", "brew uninstall", "brew remove",
		"brew unlink", "taskkill", "stop-process", "spps", "wmic", "winget uninstall", "choco uninstall", "scoop uninstall", "pip uninstall", "pip3 uninstall", "pipx uninstall", "npm uninstall", "nix-env -e"} {
		list = append(list, "Bash("+killer+" *tenterhook*)")
	}
	return rulesOf(list)
}

func rulesOf(list []string) *match.Rules {
	rules, _ := match.ParseRules(list, match.RuleOptions{})
	return rules
}

// commands are rules that are parsed at their first use.
func commands(list ...string) func() *match.Rules {
	return sync.OnceValue(func() *match.Rules { return rulesOf(list) })
}

// files are patterns that are parsed at their first use.
func files(list ...string) func() *match.Touches {
	return sync.OnceValue(func() *match.Touches {
		t, _ := match.ParseTouches(list, match.TouchOptions{})
		return t
	})
}

// elsewhere are commands that have others run a command: out of the agent's
// session, where its guards see nothing of it.
var elsewhere = commands("Bash(crontab)", "Bash(crontab *)", "Bash(at)", "Bash(at *)", "Bash(batch)", "Bash(batch *)", "Bash(systemd-run *)",
	"Bash(schtasks */create*)", "Bash(register-scheduledtask *)", "Bash(fcrontab *)", "Bash(incrontab *)", "Bash(anacron *)", "Bash(systemctl *set-environment *)", "Bash(launchctl setenv *)")

// elsewhereReading are the commands that only look.
var elsewhereReading = commands("Bash(crontab -l)", "Bash(crontab -l *)", "Bash(at -l)", "Bash(at -l *)", "Bash(fcrontab -l*)", "Bash(incrontab -l*)")

// unhooked are commands of agents that run them, or others, without their hooks.
var unhooked = commands("Bash(claude *--bare*)", "Bash(claude *disableAllHooks*)", "Bash(claude config *hooks*)",
	"Bash(codex *--dangerously-bypass-hook-trust*)", "Bash(codex *features.hooks*)", "Bash(codex *--disable hooks*)",
	"Bash(gemini hooks disable*)", "Bash(gemini extensions disable *)", "Bash(gemini extensions uninstall *)",
	"Bash(qwen hooks disable*)", "Bash(qwen *disableAllHooks*)", "Bash(copilot *disableAllHooks*)", "Bash(claude *--safe-mode*)", "Bash(claude *--setting-sources*)",
	"Bash(codex *--ignore-user-config*)", "Bash(codex *features={*hooks*)", "Bash(codex * -c hooks*)", "Bash(codex -c hooks*)", "Bash(gemini -e *)", "Bash(gemini * -e *)",
	"Bash(gemini *--extensions*)", "Bash(copilot *--config-dir*)", "Bash(opencode --pure*)", "Bash(opencode * --pure*)", "Bash(pi *--no-extensions*)", "Bash(pi -ne *)",
	"Bash(pi * -ne *)", "Bash(cline --config*)", "Bash(cline * --config*)", "Bash(cline *--hooks-dir*)", "Bash(cline *--data-dir*)")

// clients run an agent.
var clients = commands("Bash(claude *)", "Bash(claude)", "Bash(codex *)", "Bash(codex)", "Bash(gemini *)", "Bash(gemini)", "Bash(copilot *)", "Bash(copilot)", "Bash(qwen *)",
	"Bash(qwen)", "Bash(opencode *)", "Bash(opencode)", "Bash(cline *)", "Bash(cline)", "Bash(pi *)", "Bash(pi)")

// moved is a variable that has an agent look elsewhere for its hooks, or run without
// its plugins, given a value in a line.
var moved = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(HOME|CLAUDE_CONFIG_DIR|CODEX_HOME|GEMINI_CLI_HOME|COPILOT_HOME|QWEN_HOME|PI_CODING_AGENT_DIR|XDG_(CONFIG|STATE|DATA|RUNTIME)_(HOME|DIR)|` +
		`OPENCODE_(CONFIG_DIR|CONFIG|PURE|DISABLE_DEFAULT_PLUGINS)|CLINE_(DIR|HOOKS_DIR|DATA_DIR))=`)
})

// placers put files into a directory, or change what is there, without naming
// each. They change what they name, whatever their other words say.
var placers = commands("Bash(tar *)", "Bash(bsdtar *)", "Bash(cpio *)", "Bash(unzip *)", "Bash(7z *)", "Bash(7za *)", "Bash(wget *)", "Bash(curl *)",
	"Bash(rsync *)", "Bash(git clone *)", "Bash(git checkout *)", "Bash(git restore *)", "Bash(git clean *)", "Bash(git stash *)",
	"Bash(git reset *)", "Bash(git switch *)", "Bash(git config *)", "Bash(git update-index *)", "Bash(git sparse-checkout *)", "Bash(git read-tree *)", "Bash(git rm *)", "Bash(git mv *)",
	"Bash(git -C *)", "Bash(git apply *)", "Bash(git worktree add *)", "Bash(git init *)", "Bash(sort *-o*)", "Bash(nc *)", "Bash(ncat *)", "Bash(socat *)", "Bash(mount *)", "Bash(umount *)",
	"Bash(fusermount *)", "Bash(yq *-i*)", "Bash(xxd -r *)", "Bash(rclone *)", "Bash(pax *)", "Bash(sqlite3 *)", "Bash(docker *)", "Bash(podman *)", "Bash(nerdctl *)", "Bash(flock *)", "Bash(stow *)", "Bash(chezmoi *)", "Bash(mktemp *)",
	"Bash(robocopy *)", "Bash(xcopy *)", "Bash(mklink *)")

// placersReading are the commands that only read what they name.
var placersReading = commands("Bash(tar c*)", "Bash(tar -c*)", "Bash(tar --create *)", "Bash(tar t*)", "Bash(tar -t*)", "Bash(tar --list *)")

// unpackers change any file below a directory that they name.
var unpackers = commands("Bash(unzip *)", "Bash(7z x*)", "Bash(7za x*)", "Bash(pax -*r*)", "Bash(stow *)", "Bash(git * clean*)", "Bash(git * checkout*)", "Bash(git * restore *)",
	"Bash(git * reset *)", "Bash(git * stash*)", "Bash(git * switch *)")

// relocated is a working tree of git that is outside of where the line begins.
var relocated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`GIT_WORK_TREE=["']?[~/$]`) })

// rights take a person's rights to a directory, and with it those to all that is below, and
// rightsKept are the commands that leave them to its owner.
var (
	rights = commands("Bash(chmod *)", "Bash(chown *)", "Bash(chgrp *)", "Bash(chattr *)", "Bash(setfacl *)", "Bash(icacls * /*)", "Bash(cacls * /*)", "Bash(takeown *)",
		"Bash(attrib *+*)", "Bash(set-acl *)")
	rightsKept = commands("Bash(chmod +*)", "Bash(chmod u+*)", "Bash(chmod a+*)", "Bash(chmod 7*)", "Bash(chmod 07*)", "Bash(chmod -R +*)", "Bash(chmod -R u+*)",
		"Bash(chmod -R a+*)", "Bash(chmod -R 7*)", "Bash(chmod go-*)", "Bash(chmod -R go-*)", "Bash(icacls * /save *)", "Bash(icacls * /verify*)")
)

// changers change or move all that they name.
var changers = commands("Bash(rm *)", "Bash(rd *)", "Bash(del *)", "Bash(erase *)", "Bash(remove-item *)", "Bash(rmdir *)", "Bash(unlink *)", "Bash(shred *)", "Bash(trash *)", "Bash(mv *)", "Bash(chmod *)", "Bash(truncate *)")

// mounters put a directory in the place of another.
var mounters = commands("Bash(mount *)", "Bash(umount *)", "Bash(fusermount *)", "Bash(bwrap *)", "Bash(docker *)", "Bash(podman *)", "Bash(nerdctl *)")

// programs run text in another language.
var programs = commands("Bash(python* -c *)", "Bash(python* -)", "Bash(python* - *)", "Bash(ruby* -e *)", "Bash(node* -e *)", "Bash(node* -p *)",
	"Bash(node* --eval *)", "Bash(bun* -e *)", "Bash(deno eval *)", "Bash(perl* -*e *)", "Bash(php* -r *)", "Bash(lua* -e *)", "Bash(Rscript -e *)",
	"Bash(awk *>*)", "Bash(gawk *>*)", "Bash(mawk *>*)", "Bash(awk *system*)", "Bash(gawk *system*)", "Bash(tclsh*)", "Bash(deno run *-*)", "Bash(python* -i*)", "Bash(python*)", "Bash(node)", "Bash(ruby)", "Bash(perl)", "Bash(php)", "Bash(gdb *)", "Bash(osascript *)", "Bash(pwsh *)", "Bash(powershell *)")

// acting is what a text in another language says, squeezed, when it ends a process or
// runs one of the changing subcommands.
var acting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`kill|stop-process|sigterm|sigstop|daemonstop|disable|uninstall|trust|breakerreset|\bremove|unlink|rmtree|rename`)
})

// startup are files that decide in which environment agents are started.
var startup = files("~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.bash_aliases", "~/.profile", "~/.zshrc", "~/.zshenv", "~/.zprofile",
	"~/.zlogin", "~/.kshrc", "~/.config/fish", "~/.config/environment.d", "~/.pam_environment", "~/.xprofile", "~/.xsessionrc", "/etc/environment",
	"/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/zsh", "~/Documents/PowerShell", "~/Documents/WindowsPowerShell")

// rerouting is a text that has agents look elsewhere for their hooks, or run
// without them.
var rerouting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)CLAUDE_CONFIG_DIR|CODEX_HOME|GEMINI_CLI_HOME|COPILOT_HOME|QWEN_HOME|PI_CODING_AGENT_DIR|XDG_(CONFIG|STATE|DATA)_HOME|` +
		`tenterhook|disableAllHooks|--bare|bypass-hook-trust|\b(claude|codex|gemini|copilot|qwen|opencode|cline)\s*(=|\(\s*\))|` +
		`\bpi\s*(=\s*[^\s0-9]|\(\s*\))|(function|alias)\s+(claude|codex|gemini|copilot|qwen|opencode|cline|pi)\b`)
})

// scheduled are directories whose files have commands run, or programs started, where
// no guard sees them.
var scheduled = files("/etc/cron.d", "/etc/cron.hourly", "/etc/cron.daily", "/etc/cron.weekly", "/etc/cron.monthly", "/etc/crontab", "/var/spool/cron",
	"~/.config/systemd/user", "/etc/systemd", "~/.config/autostart", "/etc/xdg/autostart", "~/Library/LaunchAgents", "/Library/LaunchAgents", "/Library/LaunchDaemons",
	"**/Microsoft/Windows/Start Menu/Programs/Startup")

// wrappers are where a program would be found in the place of an agent's own.
var wrappers = files(clientsIn("~/bin", "~/.local/bin", "/usr/local/bin", "/usr/bin", "/opt/homebrew/bin", "~/AppData/Roaming/npm")...)

func clientsIn(dirs ...string) (list []string) {
	for _, dir := range dirs {
		for _, name := range []string{"claude", "codex", "gemini", "copilot", "qwen", "opencode", "cline", "pi", "tenterhook", "tenterhook-bridge"} {
			list = append(list, dir+"/"+name, dir+"/"+name+".exe", dir+"/"+name+".cmd", dir+"/"+name+".ps1")
		}
	}
	return list
}

// settingsOfAgents are files in which an agent's hooks are switched off, in any
// project, and switching is a text that does.
var (
	settingsOfAgents = files("**/.claude/settings.json", "**/.claude/settings.local.json", "**/.codex/config.toml", "**/.gemini/settings.json",
		"**/.gemini/extensions/extension-enablement.json", "**/.github/copilot/settings.json", "**/.github/copilot/settings.local.json", "**/.copilot/settings.json",
		"**/.copilot/config.json", "**/.qwen/settings.json", "**/.pi/agent/settings.json", "/etc/codex", "/etc/gemini-cli", "/etc/qwen-code", "/etc/claude-code",
		"C:/ProgramData/ClaudeCode", "C:/Program Files/ClaudeCode")
	switching = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`disableAllHooks|allowManagedHooksOnly|strictPluginOnlyCustomization|hooksConfig|\bhooks\s*=\s*\{?\s*false|codex_hooks|features\.hooks|` +
			`tenterhook|HTTPS?_PROXY|\[hooks|"admin"`)
	})
)

// finders delete, or run a command for, what they find below a directory.
var finders = commands("Bash(find * -delete*)", "Bash(find * -exec*)", "Bash(find * -ok*)", "Bash(fd * -x*)", "Bash(fd * -X*)")

// foundName is the name that a finder looks for.
var foundName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\s-i?(?:name|path|wholename|regex)\s+['"]?([^\s'"]+)`)
})

// protectedNames are names of files that decide.
var protectedNames = []string{"HOOK.md", "settings.toml", "settings.json", "hooks.json", "approvals.json", "disabled.json", "tenterhook", "tenterhook-bridge", "config.toml"}

// finds reports whether a line's finders may find a protected file by its name.
func finds(line string) bool {
	names := foundName().FindAllStringSubmatch(line, -1)
	if len(names) == 0 {
		return true
	}
	return slices.ContainsFunc(names, func(m []string) bool {
		return slices.ContainsFunc(protectedNames, func(name string) bool {
			ok, err := filepath.Match(strings.ToLower(filepath.Base(m[1])), strings.ToLower(name))
			return ok || err != nil || strings.Contains(m[1], "tenterhook")
		})
	})
}

// killing is a command that ends processes by a pattern or a user.
var killing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(pkill|killall5?|skill|pgrep|kill)\b([^|;&\n]*)`)
})

// killsFound is a command that ends processes which the line finds by the name of
// tenterhook or of its socket, or the user's own service manager and sessions.
var killsFound = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\\bkill\\b[^;&|\n]*(\\$\\(|`)[^)`\n]*(enterhoo|daemon\\.sock|daemon\\.lock)|" +
		"\\b(ps|pgrep|pidof|ss|netstat|lsof|fuser|grep)\\b[^;&\n]*(enterhoo|daemon\\.sock|daemon\\.lock)[^;&\n]*\\|[^;&\n]*\\bkill\\b|" +
		"\\bloginctl\\s+(terminate|kill)-")
})

// killsAll reports whether a line ends processes that tenterhook's are among: by a
// pattern that its name or command line fits, or all there are.
func killsAll(line string) bool {
	if killsFound().MatchString(strings.NewReplacer("[", "", "]", "").Replace(line)) {
		return true
	}
	for _, m := range killing().FindAllStringSubmatch(line, -1) {
		words := strings.Fields(strings.NewReplacer(`"`, "", `'`, "", ")", " ", "`", " ").Replace(m[2]))
		if m[1] == "pgrep" && !strings.Contains(line, "kill") {
			continue
		}
		for i, w := range words {
			switch {
			case m[1] == "kill":
				if i > 0 && w == "-1" {
					return true
				}
			case w == "-u" || w == "--user" || w == "--euid" || w == "-U":
				if len(words) <= i+2 || m[1] == "killall" {
					return true
				}
			case !strings.HasPrefix(w, "-"):
				pattern, err := regexp.Compile("(?i)" + w)
				if err == nil && (m[1] != "killall" || strings.Contains(m[2], "-r")) && (pattern.MatchString("tenterhook") || pattern.MatchString("/tenterhook daemon run")) {
					return true
				}
			}
		}
	}
	return false
}
