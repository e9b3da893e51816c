package match

import (
	"slices"
	"strings"
	"sync"
)

// copyDisk judges dd.
func (d *destruction) copyDisk(name string, args []string) {
	for i, w := range args {
		target, ok := strings.CutPrefix(w, "of=")
		if name == "ddrescue" && i == 1 {
			target, ok = w, true
		}
		switch {
		case !ok:
			if isUnknown(w) && name == "dd" {
				d.verdict(doubtful, "writes to a place that only the shell knows")
			}
		case isDisk(target):
			d.verdict(fatal, "would overwrite the disk "+excerpt(shown(target)))
		case strings.ContainsAny(target, "\x03\x04"):
			d.verdict(doubtful, "writes to a place that only the shell knows")
		case d.danger(target).system:
			d.verdict(doubtful, "would overwrite a file of the system")
		}
	}
}

// mirror judges rsync --delete.
func (d *destruction) mirror(args []string) {
	deletes := slices.ContainsFunc(args, func(w string) bool { return strings.HasPrefix(w, "--del") || w == "--remove-source-files" })
	if !deletes || len(args) == 0 {
		return
	}
	w := args[len(args)-1]
	p := d.danger(w)
	if p.kind == ofHere {
		p.harm = doubtful
	}
	d.verdict(p.harm, "would delete in "+describe(w, p))
}

// erasers are programs that erase what they are pointed at.
var erasers = wordSet("mke2fs mkntfs mkdosfs mkswap wipefs blkdiscard sgdisk sfdisk hdparm nvme cryptsetup mdadm vgreduce vgremove lvremove pvremove zpool zfs btrfs parted fdisk gdisk cfdisk badblocks scrub nwipe sg_format format")

var eraserGlobs = sync.OnceValue(func() (globs []glob) {
	globs = []glob{compileGlob("mkfs*", false), compileGlob("newfs*", false)}
	for name := range erasers.all() {
		globs = append(globs, compileGlob(name, false))
	}
	return globs
})

func (d *destruction) erase(name string, args []string) {
	disk := slices.ContainsFunc(args, func(w string) bool { return strings.HasPrefix(w, "/dev/") || strings.HasPrefix(w, "//dev/") })
	has := func(words ...string) bool {
		return slices.ContainsFunc(args, func(w string) bool {
			return slices.ContainsFunc(words, func(verb string) bool { return strings.HasPrefix(strings.ToLower(w), verb) })
		})
	}
	switch name {
	case "zpool", "zfs", "btrfs":
		if has("destroy", "labelclear", "delete", "rollback") {
			d.verdict(doubtful, "destroys a file system")
		}
		return
	case "vgremove", "vgreduce", "lvremove", "pvremove":
		d.verdict(doubtful, "removes a volume")
		return
	case "parted", "fdisk", "gdisk", "cfdisk", "sfdisk", "sgdisk":
		if disk && !has("-l", "--list", "print", "-p", "--dump", "-d", "--print") {
			d.verdict(doubtful, "changes a disk's partitions")
		}
		if disk && has("--zap", "-z", "mklabel", "--delete", "--wipe", "rm") {
			d.verdict(fatal, "erases a disk's partitions")
		}
		return
	case "hdparm", "nvme", "cryptsetup", "mdadm", "badblocks":
		if has("--security-erase", "--trim", "format", "sanitize", "luksformat", "erase", "lukserase", "--zero-superblock", "-w") {
			d.verdict(fatal, "erases what is on the disk")
		}
		return
	case "format": // of Windows
		disk = disk || slices.ContainsFunc(args, func(w string) bool { return len(w) == 2 && w[1] == ':' })
	case "wipefs":
		if !has("-a", "--all", "-f", "-o", "--force") {
			return
		}
	}
	switch {
	case disk:
		d.verdict(fatal, "erases what is on the disk that it is pointed at")
	case slices.ContainsFunc(args, isUnknown):
		d.verdict(doubtful, "erases what is on the disk that it is pointed at")
	}
}
