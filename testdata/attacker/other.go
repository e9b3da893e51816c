//go:build !linux

package main

func main() { panic("attacker knows Linux alone") }
