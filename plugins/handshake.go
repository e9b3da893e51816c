package plugins

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tenterhook/tenterhook/plugins/internal/wire"
)

// maxHandshake bounds a plugin's first line, in bytes.
const maxHandshake = 8 << 10

var errTooLong = fmt.Errorf("its first line on stdout is longer than %d bytes", maxHandshake)

// readHandshake reads the first line.
func readHandshake(r io.Reader) (string, error) {
	line, err := bufio.NewReaderSize(r, maxHandshake).ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", errTooLong
	case err != nil:
		return "", err
	}
	return strings.TrimSpace(string(line)), nil
}

// handshake is a plugin's first line:
//
//	1|version|network|address|grpc[|certificate]
type handshake struct {
	version          int
	network, address string
	certified        bool
}

// parseHandshake reads the line, and refuses an address that another process
// could be behind. go-plugin reads it once more, for the certificate.
func parseHandshake(line, socketDir string, versions []int) (handshake, *Problem) {
	garbage := func(reason string) (handshake, *Problem) {
		return handshake{}, &Problem{Code: CodeGarbage, Reason: reason + ": " + strconv.Quote(wire.FirstLine(line)),
			Hint: "is it a plugin? its first line on stdout must be the handshake; print everything else to stderr"}
	}
	parts := strings.Split(line, "|")
	if len(parts) < 5 {
		return garbage("its first line on stdout is no handshake")
	}
	if parts[0] != "1" {
		return garbage("it speaks another kind of go-plugin's handshake")
	}
	h := handshake{network: parts[2], address: parts[3], certified: len(parts) > 5 && len(parts[5]) > 50}
	var err error
	if h.version, err = strconv.Atoi(parts[1]); err != nil {
		return garbage("its version is no number")
	}
	if !slices.Contains(versions, h.version) {
		return handshake{}, &Problem{Code: CodeVersion,
			Reason: fmt.Sprintf("it speaks version %d of the protocol, this host %s", h.version, list(versions)),
			Hint:   "rebuild the plugin, or update the host: whichever is older"}
	}
	if parts[4] != "grpc" {
		return garbage("it serves " + strconv.Quote(wire.FirstLine(parts[4])) + ", not grpc")
	}
	return h, h.check(socketDir)
}

// check makes sure that only the plugin can be behind its address.
func (h handshake) check(socketDir string) *Problem {
	where := wire.FirstLine(h.network + " " + h.address)
	switch h.network {
	case "unix":
		if filepath.Dir(filepath.Clean(h.address)) != filepath.Clean(socketDir) {
			return &Problem{Code: CodeAddress, Reason: "it listens on " + where + ", outside of the folder that it was given",
				Hint: "listen in the folder that PLUGIN_UNIX_SOCKET_DIR names"}
		}
	case "tcp":
		host, _, err := net.SplitHostPort(h.address)
		if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
			return &Problem{Code: CodeAddress, Reason: "it listens on " + where + ", which others can reach", Hint: "listen on 127.0.0.1"}
		}
		if !h.certified {
			return &Problem{Code: CodeUnsecured, Reason: "it listens on " + where + " and shows no certificate",
				Hint: "listen on a Unix socket in the folder that PLUGIN_UNIX_SOCKET_DIR names, or speak TLS"}
		}
	default:
		return &Problem{Code: CodeAddress, Reason: "it listens on " + where + ", which this host does not know", Hint: "listen on a Unix socket"}
	}
	return nil
}

func list(versions []int) string {
	words := make([]string, len(versions))
	for i, v := range versions {
		words[i] = strconv.Itoa(v)
	}
	return strings.Join(words, " and ")
}
