package webhook

import (
	"strconv"
	"strings"
)

// normalPath is a path in its one form. Encoded slashes and dot segments would
// let a server see another path than the checked one.
func normalPath(path string) (string, *fault) {
	if path == "" {
		return "/", nil
	}
	path, err := normalEscapes(path, true)
	if err != nil {
		return "", err
	}
	for segment := range strings.SplitSeq(path, "/") {
		if name, _, _ := strings.Cut(segment, ";"); name == "." || name == ".." {
			return "", &fault{"there is a . or .. segment in its path", "write the path that is meant"}
		}
	}
	return path, nil
}

// normalEscapes decodes what needs no percent-encoding, and writes the rest in
// upper case.
func normalEscapes(s string, inPath bool) (string, *fault) {
	if !strings.Contains(s, "%") {
		return s, nil
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		if len(s) < i+3 {
			return "", &fault{"it ends in a percent sign", "write %25"}
		}
		n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", &fault{"there is a percent sign in it without two hexadecimal digits", "write %25"}
		}
		switch b := byte(n); {
		case isUnreserved(b):
			out = append(out, b)
		case inPath && (b == '/' || b == '\\' || b < ' ' || b == 0x7f):
			return "", &fault{"there is an encoded slash, backslash or control character in its path", "write the path that is meant"}
		default:
			out = append(out, '%')
			out = append(out, strings.ToUpper(s[i+1:i+3])...)
		}
		i += 2
	}
	return string(out), nil
}

func isUnreserved(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("-._~", b) >= 0
}
