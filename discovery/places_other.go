//go:build !windows

package discovery

import "github.com/adrg/xdg"

// PlainPath is the path itself.
func PlainPath(path string) string { return path }

// configHome is what holds directories of settings.
func configHome() string { return xdg.ConfigHome }
