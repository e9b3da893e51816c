package match

import (
	"slices"
	"strings"
	"sync"
)

// protectedBranches are the branches that everybody works from.
var protectedBranches = wordSet("main master trunk production release develop")

// git judges pushes that rewrite what others have, and what throws work away.
func (d *destruction) git(args []string) {
	args = behindGitOptions(args)
	if len(args) == 0 {
		return
	}
	sub, rest := args[0], args[1:]
	has := func(words ...string) bool {
		return slices.ContainsFunc(rest, func(w string) bool { return slices.Contains(words, w) })
	}
	short := func(letters string) bool {
		return slices.ContainsFunc(rest, func(w string) bool { return isOption(w) && w[1] != '-' && strings.ContainsAny(w, letters) })
	}
	discards := false
	switch sub {
	case "push":
		d.push(rest)
	case "reset":
		discards = has("--hard", "--merge", "--keep") || slices.ContainsFunc(rest, func(w string) bool { return len(w) > 4 && strings.HasPrefix("--hard", w) })
	case "clean":
		discards = (short("f") || has("--force")) && !short("n") && !has("--dry-run")
	case "checkout", "restore":
		discards = has(".", ":/", "*", "\x01") && (!has("--staged", "-S", "-b") || has("--worktree", "-W")) || sub == "checkout" && (short("f") || has("--force"))
	case "switch":
		discards = short("f") || has("--force", "--discard-changes")
	case "rm":
		discards = short("r") && short("f") && has(".", ":/", "*", "\x01")
	case "branch":
		discards = short("D") || (short("d") || has("--delete")) && (short("f") || has("--force"))
	case "stash":
		discards = has("drop", "clear")
	case "reflog":
		discards = has("expire", "delete")
	case "prune":
		discards = !has("-n", "--dry-run")
	case "checkout-index":
		discards = short("f") || has("--force")
	case "submodule":
		discards = has("deinit") && (short("f") || has("--force", "--all"))
	case "symbolic-ref":
		discards = short("d") || has("--delete")
	case "update-ref":
		discards = short("d") || has("--stdin")
	case "filter-branch", "filter-repo":
		discards = true
	case "gc":
		discards = has("--prune=now", "--prune=all")
	case "worktree":
		discards = has("remove") && (short("f") || has("--force"))
	}
	if discards {
		d.verdict(doubtful, "throws work away that is nowhere else")
	}
}

// push judges git push.
func (d *destruction) push(args []string) {
	var force, lease, drop, remote bool
	var named []string
	for i, w := range args {
		switch {
		case strings.HasPrefix(w, "--force-with-lease"), strings.HasPrefix(w, "--force-if-includes"):
			lease = true
		case w == "--mirror" || w == "--prune" || len(w) > 3 && strings.HasPrefix("--force", w):
			force = true
		case w == "--delete" || len(w) > 4 && strings.HasPrefix("--delete", w):
			drop = true
		case isOption(w) && w[1] != '-':
			force = force || strings.Contains(w, "f")
			drop = drop || strings.Contains(w, "d")
		case isOption(w), i > 0 && (args[i-1] == "-o" || args[i-1] == "--push-option" || args[i-1] == "--repo"):
		case !remote:
			remote = true
		default:
			named = append(named, w)
		}
	}
	for _, w := range named {
		target := w[strings.LastIndexByte(w, ':')+1:]
		forced := force || strings.HasPrefix(w, "+")
		target = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(target, "+"), "refs/"), "heads/")
		protected := protectedBranches.has(target) || strings.ContainsAny(target, "*\x01\x02")
		switch {
		case protected && forced:
			d.verdict(fatal, "would rewrite the branch "+plain(shown(target))+" for everybody")
		case protected && (drop || strings.HasPrefix(w, ":")):
			d.verdict(fatal, "would delete the branch "+plain(shown(target))+" for everybody")
		case drop, strings.HasPrefix(w, ":"):
			d.verdict(doubtful, "would delete "+plain(shown(target))+" for everybody")
		case protected && lease:
			d.verdict(doubtful, "would rewrite the branch "+plain(target))
		case (forced || lease) && (strings.EqualFold(target, "head") || target == "@" || !isPlain(target)):
			d.verdict(doubtful, "goes to a branch that only git knows")
		}
	}
	if (force || lease) && len(named) == 0 {
		d.verdict(doubtful, "rewrites the current branch, which may be main")
	}
}

// database judges statements that a client is given.
func (d *destruction) database(args []string) {
	for _, text := range append(args[:len(args):len(args)], strings.Join(args, " "), d.now.stdin) {
		low := " " + strings.Join(strings.Fields(strings.ToLower(text)), " ")
		for _, part := range []string{"drop table", "drop database", "drop schema", "drop owned", "drop view", "drop user", "drop role", "drop index", "drop column", "drop function", "truncate ", "flushall", "flushdb", "dropdatabase", "dropuser", "debug segfault", ".drop(", "deletemany({})", "drop keyspace"} {
			if strings.Contains(low, part) {
				d.verdict(doubtful, "deletes from a database")
				return
			}
		}
		if strings.Contains(low, "delete from") && !strings.Contains(low, " where ") {
			d.verdict(doubtful, "deletes a table's rows")
			return
		}
		if strings.Contains(low, "update ") && strings.Contains(low, " set ") && !strings.Contains(low, " where ") && d.now.program() != "redis-cli" {
			d.verdict(doubtful, "changes every row of a table")
			return
		}
	}
}

// losing are subcommands of tools that delete what is not in a repository: each
// entry is words that must all be there, in that order.
var losing = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"docker":         {"system prune", "system reset", "rm -f \x04", "rmi -f \x04", "kill \x04", "rm \x04", "machine rm", "rm -a", "rm --all", "rmi -a", "rmi --all", "compose rm -f", "swarm leave", "volume rm", "volume prune", "compose down -v", "compose down --volumes", "image prune -a", "builder prune -a", "buildx prune -a", "container prune", "rm -f -v", "network prune"},
		"kubectl":        {"delete", "drain", "replace --force", "scale --replicas=0", "scale --replicas 0", "apply --prune"},
		"helm":           {"uninstall", "delete"},
		"terraform":      {"destroy", "destroy-all", "apply -destroy", "state rm", "workspace delete", "apply -auto-approve", "taint", "force-unlock"},
		"docker-compose": {"down -v", "down --volumes"}, "brew": {"uninstall --ignore-dependencies", "uninstall --force"}, "serverless": {"remove"}, "vercel": {"rm", "remove"},
		"railway": {"down"}, "s3cmd": {"del", "rm", "rb"}, "s5cmd": {"rm", "rb"}, "mc": {"rm", "rb"}, "bq": {"rm"},
		"curl": {"-X DELETE", "--request DELETE", "-XDELETE", "--request=DELETE"}, "http": {"DELETE"}, "https": {"DELETE"}, "xh": {"DELETE"},
		"ip": {"link set down", "link delete", "link del", "route flush", "addr flush", "route del default"}, "ifconfig": {"down"}, "rmmod": {"-f"},
		"pulumi": {"destroy", "stack rm"},
		"aws": {"s3 rm", "s3 rb", "s3api delete-bucket", "s3api delete-objects", "ec2 terminate-instances", "rds delete-db-instance", "rds delete-db-cluster",
			"dynamodb delete-table", "cloudformation delete-stack", "iam delete-user", "eks delete-cluster", "kms schedule-key-deletion", "lambda delete-function", "s3 sync --delete", "route53 delete-hosted-zone"},
		"gcloud": {"delete", "storage rm"}, "gsutil": {"rm", "rb"}, "az": {"delete", "purge"}, "heroku": {"apps:destroy", "destroy", "pg:reset"}, "flyctl": {"destroy"},
		"doctl": {"delete"}, "eksctl": {"delete"}, "kind": {"delete cluster"}, "minikube": {"delete"}, "vagrant": {"destroy"}, "vault": {"delete", "kv destroy", "secrets disable"},
		"gh": {"repo delete", "release delete", "secret delete", "api -X DELETE", "api --method DELETE", "api --method=DELETE"}, "glab": {"repo delete"},
		"ctr": {"images rm", "containers rm"}, "crictl": {"rm", "rmp", "rmi"}, "buildah": {"rm -a", "rmi -a"}, "flux": {"uninstall"}, "istioctl": {"uninstall"},
		"nomad": {"stop -purge", "system gc"}, "sequelize": {"db:drop"}, "typeorm": {"schema:drop"}, "knex": {"migrate:rollback --all"}, "alembic": {"downgrade base"}, "flyway": {"clean"}, "liquibase": {"drop-all", "dropAll"},
		"python": {"manage.py flush", "manage.py reset_db"}, "manage.py": {"flush", "reset_db"}, "gem": {"yank"}, "snap": {"remove --purge"}, "flatpak": {"uninstall --all"},
		"nix-collect-garbage": {"-d", "--delete-old"}, "conda": {"remove --all", "env remove"}, "lxc-destroy": {""}, "kubeadm": {"reset"}, "k3s-uninstall.sh": {""}, "wsl": {"--unregister"},
		"kexec": {"-e"}, "mount": {"-o remount,ro /"}, "firewall-cmd": {"--panic-on"}, "nmcli": {"networking off"}, "route": {"del default"}, "gpasswd": {"-d"}, "atrm": {""},
		"npm": {"unpublish"}, "cargo": {"yank"}, "crontab": {"-r", "-", "/dev/null"}, "userdel": {""}, "deluser": {""}, "groupdel": {""},
		"systemctl": {"poweroff", "reboot", "halt", "isolate", "mask", "disable", "kexec", "stop sshd", "stop ssh", "stop NetworkManager", "stop networking"}, "iptables": {"-F", "--flush", "-X", "-P DROP"}, "nft": {"flush ruleset"}, "ufw": {"disable", "reset"},
		"passwd": {"-d", "--delete", "-l", "--lock"}, "usermod": {"-L", "--lock"}, "rpm": {"-e", "--erase"}, "apk": {"del"}, "zypper": {"remove", "rm"}, "emerge": {"-C", "--unmerge"},
		"dropdb": {""}, "dropuser": {""}, "mysqladmin": {"drop"}, "rabbitmqctl": {"reset", "force_reset", "delete_queue", "delete_vhost"}, "etcdctl": {"del"},
		"apt": {"purge", "autoremove", "remove --purge"}, "apt-get": {"purge", "autoremove", "remove --purge"}, "dpkg": {"--purge", "-P", "-r --force", "--remove --force"}, "pacman": {"-Rns", "-Rdd", "-Rscn", "-Rcs", "-Rsc"}, "yum": {"remove"}, "dnf": {"remove"},
		"restic": {"forget --prune", "prune"}, "borg": {"delete", "prune"}, "rclone": {"purge", "delete", "sync"}, "launchctl": {"unload", "bootout"},
		"tmutil": {"delete"}, "csrutil": {"disable"}, "nixos-rebuild": {""}, "init": {"0", "1", "6"}, "sysctl": {"-w"}, "swapoff": {"-a", "--all"}, "umount": {"-a", "-l"},
		// of Windows
		"format-volume": {""}, "clear-disk": {""}, "initialize-disk": {""}, "remove-partition": {""}, "reset-physicaldisk": {""}, "remove-virtualdisk": {""},
		"remove-storagepool": {""}, "clear-recyclebin": {""}, "stop-computer": {""}, "restart-computer": {""}, "remove-vm": {""}, "remove-localuser": {""},
		"remove-aduser": {""}, "diskpart": {""}, "vssadmin": {"delete", "resize"}, "wbadmin": {"delete"}, "bcdedit": {"/delete"}, "reg": {"delete"}, "sc": {"delete"},
		"wmic": {"delete"}, "fsutil": {"setzerodata", "deletejournal"},
		"rails": {"db:drop", "db:reset"}, "rake": {"db:drop", "db:reset"}, "artisan": {"migrate:fresh", "db:wipe"}, "prisma": {"migrate reset", "db push --force-reset"},
		"mix": {"ecto.drop", "ecto.reset"}, "wrangler": {"delete"}, "firebase": {"firestore:delete", "projects:delete"}, "velero": {"delete"}, "supabase": {"db reset"},
	}
})

// cloud judges tools that manage what lies elsewhere.
func (d *destruction) cloud(name string, args []string) {
	if d.now.how == mentioned || d.now.suffix && !strings.Contains(d.now.text, " ") {
		return
	}
	name = strings.TrimRight(name, "0123456789.") // python3.12
	if name == "docker" {
		d.container(args)
	}
	if name == "ansible" && slices.ContainsFunc(args, func(w string) bool { return strings.Contains(w, "state=absent") }) {
		d.verdict(doubtful, "deletes on other machines")
	}
	loses := slices.ContainsFunc(losing()[name], func(form string) bool { return hasForm(args, form) }) || d.loses(name, args)
	if loses && !slices.ContainsFunc(args, onlyShows) {
		d.verdict(doubtful, "deletes what is nowhere else")
	}
}

// onlyShows recognises what keeps a command from changing anything, or keeps what
// it changes on this machine.
func onlyShows(w string) bool {
	if _, here := loopback(w); here {
		return true
	}
	return strings.HasPrefix(w, "--dry-run") && w != "--dry-run=none" || w == "--dryrun" || w == "--help" || w == "-help"
}

// hasForm reports whether args has the words of a form, in that order. An option of
// one letter may stand among others.
func hasForm(args []string, form string) bool {
	words := strings.Fields(form)
	for _, w := range args {
		for letter := true; letter && len(words) > 0; {
			want := words[0]
			letter = len(want) == 2 && isOption(want) && isOption(w) && w[1] != '-' && strings.Contains(w, want[1:])
			if w == want || letter || isOption(want) && len(want) > 3 && strings.HasPrefix(w, want) {
				words = words[1:]
			}
		}
	}
	return len(words) == 0
}

// lossVerbs are subcommands that say what they do, whatever the program is.
var lossVerbs = wordSet("delete destroy terminate purge nuke wipe erase obliterate decommission deprovision teardown undefine unregister unregistervm")

// lossOptions are options that say it.
var lossOptions = wordSet("--delete --purge --destroy --wipe --erase --remove-all-storage --delete-all")

// keepsVerbs are programs whose words of that kind lose nothing, or stand for a
// script that is not in the line.
var keepsVerbs = wordSet("make gmake npm yarn pnpm bun just task rake rails nx turbo gem go cargo mix dotnet pre-commit jj hg svn systemctl docker kubectl terraform git")

// loses looks for a subcommand that says that it deletes: server delete,
// sites:delete, delete-stack.
func (d *destruction) loses(name string, args []string) bool {
	if d.now.how != does || d.now.said || d.now.suffix || keepsVerbs.has(name) || isLanguage(name) || isKnown(name) || strings.HasPrefix(d.now.words[0], ".") {
		return false
	}
	plains := 0
	for _, w := range args {
		if lossOptions.has(w) {
			return true
		}
		if isOption(w) {
			continue
		}
		if plains++; plains > 3 || strings.ContainsAny(w, "/= ") {
			return false
		}
		for part := range strings.FieldsFuncSeq(strings.ToLower(w), func(c rune) bool { return strings.ContainsRune(":-_.", c) }) {
			if lossVerbs.has(part) {
				return true
			}
		}
	}
	return false
}
