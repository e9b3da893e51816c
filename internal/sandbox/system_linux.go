//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// systemPaths are what programs need to run, and which hold no secrets of a user.
var systemPaths = []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/opt", "/nix/store", "/gnu/store", "/etc", "/proc",
	"/sys/devices/system/cpu", "/sys/fs/cgroup", "/dev/urandom", "/dev/random", "/var/lib/dpkg/alternatives"}

// rootSecrets are what not everybody may read of systemPaths. Root without capabilities may, as the owner.
var rootSecrets = []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssh", "/etc/ssl/private",
	"/etc/sudoers", "/etc/sudoers.d", "/etc/krb5.keytab", "/etc/wireguard", "/etc/NetworkManager/system-connections"}

// systemRules are the rules for systemPaths, kept until one of the directories that they were made of changes. To
// find them again takes longer than to look at those.
var systemRules struct {
	mu     sync.Mutex
	stamps []stamp
	rules  []rule
}

// stamp tells a changed directory from the one before.
type stamp struct {
	dev, ino uint64
	changed  unix.Timespec
}

// stamps are those of every directory and file that the rules were made of.
func stamps() []stamp {
	list := make([]stamp, 0, len(systemPaths)+2*len(rootSecrets))
	for _, path := range systemPaths {
		list = append(list, stampOf(path))
	}
	for _, path := range rootSecrets {
		list = append(list, stampOf(filepath.Dir(path)), stampOf(path))
	}
	return list
}

func stampOf(path string) (s stamp) {
	var st unix.Stat_t
	if unix.Stat(path, &st) == nil {
		s = stamp{uint64(st.Dev), st.Ino, st.Ctim}
	}
	return s
}

// system returns the rules of systemPaths. The caller does not change them.
func system() []rule {
	now := stamps()
	systemRules.mu.Lock()
	defer systemRules.mu.Unlock()
	if !slices.Equal(now, systemRules.stamps) {
		systemRules.stamps, systemRules.rules = now, below(systemPaths, secrets(), mayRead)
	}
	return systemRules.rules
}

// secrets are those of rootSecrets that this process may read and not everybody: as their owner, which root is
// under another name in some user namespaces, or as a member of their group.
func secrets() (list []string) {
	for _, path := range real(rootSecrets) {
		var st unix.Stat_t
		if unix.Stat(path, &st) != nil {
			continue
		}
		public := st.Mode&0o004 != 0
		if int(st.Uid) == os.Geteuid() || !public && unix.Faccessat(unix.AT_FDCWD, path, unix.R_OK, unix.AT_EACCESS) == nil {
			list = append(list, path)
		}
	}
	return list
}

// below gives rights beneath paths, but not those to read what is denied.
func below(paths, denied []string, access uint64) (rules []rule) {
	for _, path := range real(paths) {
		rules = append(rules, allBut(path, denied, access)...)
	}
	return rules
}
