// Written by 'tenterhook install opencode'. It hands each call to tenterhook-bridge, and refuses what that refuses.
import { execFile } from "node:child_process"

const program = "@PROGRAM@"
const args = ["@ARGS@"]

const ask = (event, payload) => new Promise((done, fail) => {
  const child = execFile(program, [...args, "opencode", event], { timeout: 625000, maxBuffer: 1 << 26 }, (err, out, said) => {
    if (err) return fail(new Error("tenterhook could not decide: " + (said.trim() || err.message)))
    try { done(out.trim() ? JSON.parse(out) : {}) } catch (e) { fail(new Error("tenterhook could not decide: " + e.message)) }
  })
  child.stdin.on("error", () => {})
  child.stdin.end(JSON.stringify(payload))
})

export const Tenterhook = async ({ directory }) => {
  let servers = []
  const payload = (id, more) => ({ session_id: id, cwd: directory, mcp_servers: servers, ...more })
  const observe = (event, what) => ask(event, what).catch(() => ({}))
  return {
    config: async (config) => { servers = Object.keys(config.mcp ?? {}) },
    "chat.message": async (input, output) => {
      const texts = output.parts.filter((p) => p.type === "text")
      const answer = await ask("chat.message", payload(input.sessionID, { prompt: texts.map((p) => p.text).join("\n") }))
      if (answer.deny) throw new Error(answer.deny)
      if (answer.context && texts.length) texts[texts.length - 1].text += "\n\n" + answer.context
    },
    "tool.execute.before": async (input, output) => {
      const answer = await ask("tool.execute.before", payload(input.sessionID, { tool_name: input.tool, tool_input: output.args, tool_use_id: input.callID }))
      if (answer.deny) throw new Error(answer.deny)
      if (answer.input) {
        for (const key of Object.keys(output.args)) if (!(key in answer.input)) delete output.args[key]
        Object.assign(output.args, answer.input)
      }
    },
    "tool.execute.after": async (input, output) => {
      const answer = await observe("tool.execute.after", payload(input.sessionID, { tool_name: input.tool, tool_input: input.args ?? {}, tool_response: output.output ?? "", tool_use_id: input.callID }))
      if (answer.output !== undefined) output.output = answer.output
      for (const text of [answer.deny, answer.context]) if (text) output.output += "\n\n" + text
    },
    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id
      if (event.type === "session.created") await observe("session.created", payload(id, { source: "startup" }))
      if (event.type === "session.idle") await observe("session.idle", payload(id, { stop_hook_active: false }))
    },
  }
}
