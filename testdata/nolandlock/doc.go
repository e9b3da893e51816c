// Package nolandlock makes a process one in a container that forbids Landlock, for tests.
package nolandlock
