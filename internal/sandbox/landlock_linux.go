//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The rights of Landlock, see landlock(7).
const (
	mayRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	mayList  = unix.LANDLOCK_ACCESS_FS_READ_DIR // the names beneath; not the contents
	onDevice = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	// ofFiles are the rights that a rule about a file, not a directory, may have.
	ofFiles = onDevice | unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

	scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
)

// The versions of Landlock's interface that brought what is used here.
const (
	abiTruncate = 3 // Linux 6.2: before it, truncation is not seen
	abiPorts    = 4 // Linux 6.7
	abiDevices  = 5 // Linux 6.10
	abiScopes   = 6 // Linux 6.12
	abiLog      = 7 // Linux 6.15

	// erratumSiblings is fixed where scoped threads may signal the other threads of their process, which
	// Go's scheduler does.
	erratumSiblings = 2
)

// landlock asks the kernel for its version of the interface, 0 for none, and which errata it has fixed.
var landlock = sync.OnceValues(func() (abi int, errata uint) {
	v, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0, 0
	}
	bits, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_ERRATA)
	if e != 0 {
		bits = 0
	}
	return int(v), uint(bits)
})

// everything is every right on files that the kernel knows.
func everything() uint64 {
	abi, _ := landlock()
	switch {
	case abi >= abiDevices:
		return 1<<16 - 1
	case abi >= abiTruncate:
		return 1<<15 - 1
	}
	return 1<<13 - 1
}

// rule gives rights beneath a path.
type rule struct {
	path   string
	access uint64
}

// rules are what a policy allows.
func (p *Policy) rules() (rules []rule) {
	denied := real(p.Deny)
	switch {
	case p.Mode != Strict:
		rules = below([]string{"/"}, denied, mayRead)
	case len(denied) == 0:
		rules = slices.Clone(system())
		denied = secrets()
	default:
		denied = slices.Concat(denied, secrets())
		rules = below(systemPaths, denied, mayRead)
	}
	if p.Mode == Strict {
		rules = append(rules, below(p.Read, denied, mayRead)...)
		if len(p.Ports) > 0 {
			rules = append(rules, below([]string{"/run/systemd/resolve"}, denied, mayRead)...)
		}
	}
	rules = append(rules, below(p.Write, denied, everything())...)
	for _, path := range []string{"/dev/null", "/dev/zero", "/dev/full"} {
		rules = append(rules, rule{path, onDevice})
	}
	return rules
}

// mayLoad are the rights that read the contents of a file.
const mayLoad = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE

// allBut gives rights beneath root, but not those to read what is beneath one of the denied paths. Landlock
// can only allow, so each neighbour of each denied path is named.
func allBut(root string, denied []string, access uint64) []rule {
	ancestors := map[string]bool{}
	for _, d := range denied {
		if d == root || beneath(root, d) {
			return []rule{{root, access &^ (mayLoad | mayList)}}
		}
		if !beneath(d, root) {
			continue
		}
		for dir := filepath.Dir(d); ; dir = filepath.Dir(dir) {
			ancestors[dir] = true
			if dir == root {
				break
			}
		}
	}
	if len(ancestors) == 0 {
		return []rule{{root, access}}
	}
	rules := []rule{{root, access &^ mayLoad}} // the names; not the contents
	for dir := range ancestors {
		names, _ := os.ReadDir(dir)
		for _, n := range names {
			path := filepath.Join(dir, n.Name())
			if !ancestors[path] && !slices.Contains(denied, path) {
				rules = append(rules, rule{path, access})
			}
		}
	}
	return rules
}

// beneath reports whether path is below dir.
func beneath(path, dir string) bool {
	return path != dir && strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// ruleset makes the ruleset of a policy, with own as the run's own directory.
func (p *Policy) ruleset(own string) (fd int, err error) {
	attr := unix.LandlockRulesetAttr{}
	if !p.without(MechanismReap) {
		attr.Scoped = scoped
	}
	if p.files() {
		attr.Handled_access_fs = everything()
	}
	ports := p.Ports
	if p.without(MechanismPorts) {
		ports = nil
	}
	if abi, _ := landlock(); p.offline() && abi >= abiPorts && !p.without(MechanismPorts) {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if attr == (unix.LandlockRulesetAttr{}) {
		return -1, nil // nothing for Landlock
	}
	if fd, err = createRuleset(&attr); err != nil {
		return -1, err
	}
	if p.files() {
		for _, r := range append(p.rules(), rule{own, everything()}) {
			if err = addPath(fd, r, attr.Handled_access_fs); err != nil {
				break
			}
		}
	}
	for _, port := range ports {
		if err == nil {
			err = addPort(fd, port)
		}
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// createRuleset passes as much of attr as the kernel's version knows.
func createRuleset(attr *unix.LandlockRulesetAttr) (fd int, err error) {
	abi, _ := landlock()
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if abi >= abiPorts {
		size += unsafe.Sizeof(attr.Handled_access_net)
	}
	if abi >= abiScopes {
		size += unsafe.Sizeof(attr.Scoped)
	}
	r, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(attr)), size, 0)
	if e != 0 {
		return -1, fmt.Errorf("landlock_create_ruleset: %w", e)
	}
	return int(r), nil
}

// addPath allows what a rule says. A path that is not there cannot be allowed.
func addPath(ruleset int, r rule, handled uint64) error {
	access := r.access & handled
	if access == 0 {
		return nil
	}
	fd, err := unix.Open(r.path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return nil // a link is nothing by itself
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		if access &= ofFiles; access == 0 {
			return nil
		}
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	runtime.KeepAlive(&attr)
	if e != 0 {
		return fmt.Errorf("landlock_add_rule %s: %w", r.path, e)
	}
	return nil
}

// addPort allows to connect to a TCP port. Its struct is landlock_net_port_attr.
func addPort(ruleset int, port uint16) error {
	const rulePort = 2 // LANDLOCK_RULE_NET_PORT
	attr := struct{ access, port uint64 }{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(port)}
	_, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), rulePort, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if e != 0 {
		return fmt.Errorf("landlock_add_rule for port %d: %w", port, e)
	}
	return nil
}

// enterDomain puts the calling thread into a new domain, for good, and closes the ruleset.
func enterDomain(ruleset int) error {
	defer unix.Close(ruleset)
	flags := uintptr(0)
	if abi, _ := landlock(); abi >= abiLog {
		flags = unix.LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF // kill(-1) would log a line for each process
	}
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), flags, 0); e != 0 {
		return fmt.Errorf("landlock_restrict_self: %w", e)
	}
	return nil
}

// enterScope puts the calling thread into a new domain that only scopes.
func enterScope() error {
	fd, err := createRuleset(&unix.LandlockRulesetAttr{Scoped: scoped})
	if err != nil {
		return err
	}
	return enterDomain(fd)
}
