// Package top is the live terminal view of `tenterhook top`: what hooks do as they
// do it, how long they take and how often they fail, by hook, agent and session.
//
// Stage: operating. It asks a [Feed] for news four times a second and keeps a
// bounded part of them. Package internal/cli imports it. It imports hook and
// journal.
package top
