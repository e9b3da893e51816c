package daemon

import "golang.org/x/sys/unix"

// peerOf returns who is at the other end of a socket.
func peerOf(fd int) (uid, pid int, err error) {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return -1, 0, err
	}
	return int(peer.Uid), int(peer.Pid), nil
}
