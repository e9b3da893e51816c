package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// network are attacks by sockets.
func network() []attack {
	loopback := func(port int) *unix.SockaddrInet4 {
		return &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
	}
	connect := func(domain, kind, protocol int, to func(*target) unix.Sockaddr) func(*target) error {
		return func(t *target) error {
			fd, err := unix.Socket(domain, kind|unix.SOCK_CLOEXEC, protocol)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.Connect(fd, to(t))
		}
	}
	open := func(domain, kind int) func(*target) error {
		return func(*target) error { return opened(unix.Socket(domain, kind, 0)) }
	}
	send := func(kind, flags int, to func(*target) int) func(*target) error {
		return func(t *target) error {
			fd, err := unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.Sendto(fd, []byte("x"), flags, loopback(to(t)))
		}
	}
	tcp := func(t *target) int { return t.TCP }
	other := func(t *target) int { return t.Other }
	at := func(port func(*target) int) func(*target) unix.Sockaddr {
		return func(t *target) unix.Sockaddr { return loopback(port(t)) }
	}
	return []attack{
		{"wanted-socketpair", func(*target) error {
			_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			return err
		}},
		{"datagram-pair-to-path", func(t *target) error { // a pair is no call of socket
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
			if err != nil {
				return err
			}
			return unix.Sendto(pair[0], []byte("x"), 0, &unix.SockaddrUnix{Name: t.Datagram})
		}},
		{"raw-pair-to-path", func(t *target) error { // which is one of datagrams
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_RAW, 0)
			if err != nil {
				return err
			}
			return unix.Connect(pair[0], &unix.SockaddrUnix{Name: t.Datagram})
		}},
		{"tcp-connect", connect(unix.AF_INET, unix.SOCK_STREAM, 0, at(tcp))},
		{"tcp-other-port", connect(unix.AF_INET, unix.SOCK_STREAM, 0, at(other))},
		{"tcp6-connect", connect(unix.AF_INET6, unix.SOCK_STREAM, 0, func(t *target) unix.Sockaddr {
			return &unix.SockaddrInet6{Port: t.TCP, Addr: [16]byte{10: 0xff, 11: 0xff, 12: 127, 15: 1}}
		})},
		{"mptcp-connect", connect(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP, at(tcp))},
		{"mptcp-other-port", connect(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP, at(other))},
		{"tcp-fastopen", send(unix.SOCK_STREAM, unix.MSG_FASTOPEN, tcp)},
		{"fastopen-other-port", send(unix.SOCK_STREAM, unix.MSG_FASTOPEN, other)},
		{"udp-send", send(unix.SOCK_DGRAM, 0, func(t *target) int { return t.UDP })},
		{"tcp-bind", func(*target) error {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.Bind(fd, loopback(0))
		}},
		{"tcp-listen", func(*target) error {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.Listen(fd, 1)
		}},
		{"unix-path", connect(unix.AF_UNIX, unix.SOCK_STREAM, 0, func(t *target) unix.Sockaddr { return &unix.SockaddrUnix{Name: t.Unix} })},
		{"unix-abstract", connect(unix.AF_UNIX, unix.SOCK_STREAM, 0, func(t *target) unix.Sockaddr { return &unix.SockaddrUnix{Name: "@" + t.Name} })},
		{"netlink", open(unix.AF_NETLINK, unix.SOCK_RAW)},
		{"packet", open(unix.AF_PACKET, unix.SOCK_RAW)},
		{"vsock", open(unix.AF_VSOCK, unix.SOCK_STREAM)},
		{"io-uring", func(*target) error {
			var params [256]byte
			fd, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params)), 0)
			if e != 0 {
				return e
			}
			return opened(int(fd), nil)
		}},
	}
}
