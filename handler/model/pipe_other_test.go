//go:build !unix

package model

func makePipe(string) bool { return false }
