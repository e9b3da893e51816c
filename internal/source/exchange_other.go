//go:build !linux

package source

func exchange(made, dir string) error { return swap(made, dir) }
