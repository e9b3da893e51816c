// Package mcptool runs hooks that are tools of MCP servers: the event's fields
// go into the tool's input, and what the tool answers is read as a command's
// stdout is.
//
// Stage: dispatch. The root package wires the handler for hooks of kind "mcp"
// (Claude's mcp_tool); a host may wire it with servers of its own. The registry
// gives it the settings by [Handler.Configure] and ends it by [Handler.Close].
//
// One session is kept for each server. It is started by the first call that
// needs it and shared by all; a server that ends is started again, after a pause
// that grows while it answers nothing. A server that does not answer a ping
// after a call was given up, or that left three calls in a row unanswered, is
// replaced. Calls under way on a server that is replaced finish there.
//
// The protocol is spoken by the official SDK, none of whose types is in this
// package's API. It is offered the revision of 2025-11-25 first, which every
// server knows and which has a ping, and the newest to a server that refuses.
package mcptool
