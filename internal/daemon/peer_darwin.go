package daemon

import "golang.org/x/sys/unix"

// peerOf returns who is at the other end of a socket.
func peerOf(fd int) (uid, pid int, err error) {
	peer, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, 0, err
	}
	pid, err = unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	return int(peer.Uid), pid, err
}
