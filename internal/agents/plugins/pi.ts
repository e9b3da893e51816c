// Written by 'tenterhook install pi'. It hands each call to tenterhook-bridge, and refuses what that refuses.
import { execFile } from "node:child_process"

const program = "@PROGRAM@"
const args: string[] = ["@ARGS@"]

const ask = (event: string, payload: any): Promise<any> => new Promise((done, fail) => {
  const child = execFile(program, [...args, "pi", event], { timeout: 625000, maxBuffer: 1 << 26 }, (err: any, out: string, said: string) => {
    if (err) return fail(new Error("tenterhook could not decide: " + (said.trim() || err.message)))
    try { done(out.trim() ? JSON.parse(out) : {}) } catch (e: any) { fail(new Error("tenterhook could not decide: " + e.message)) }
  })
  child.stdin!.on("error", () => {})
  child.stdin!.end(JSON.stringify(payload))
})

export default function (pi: any) {
  const payload = (ctx: any, more: any) => ({ session_id: ctx?.sessionManager?.getSessionId?.() ?? "", cwd: ctx?.cwd ?? process.cwd(), ...more })
  const observe = (event: string, what: any) => ask(event, what).catch(() => ({}))
  pi.on("session_start", async (_: any, ctx: any) => { await observe("session_start", payload(ctx, { source: "startup" })) })
  pi.on("session_shutdown", async (_: any, ctx: any) => { await observe("session_shutdown", payload(ctx, { reason: "other" })) })
  pi.on("agent_end", async (_: any, ctx: any) => { await observe("agent_end", payload(ctx, { stop_hook_active: false })) })
  pi.on("input", async (e: any, ctx: any) => {
    let reason = ""
    try { reason = (await ask("input", payload(ctx, { prompt: e.text ?? "" }))).deny ?? "" } catch (err: any) { reason = err.message }
    if (!reason) return
    console.error(reason)
    return { action: "handled" }
  })
  pi.on("tool_call", async (e: any, ctx: any) => {
    const answer = await ask("tool_call", payload(ctx, { tool_name: e.toolName, tool_input: e.input, tool_use_id: e.toolCallId }))
    if (answer.deny) return { block: true, reason: answer.deny }
    if (answer.input) {
      for (const key of Object.keys(e.input)) if (!(key in answer.input)) delete e.input[key]
      Object.assign(e.input, answer.input)
    }
  })
  pi.on("tool_result", async (e: any, ctx: any) => {
    const answer = await observe("tool_result", payload(ctx, { tool_name: e.toolName, tool_input: e.input ?? {}, tool_response: e.content ?? "", tool_use_id: e.toolCallId }))
    let content = answer.output === undefined ? e.content : [{ type: "text", text: answer.output }]
    for (const text of [answer.deny, answer.context]) if (text) content = [...content, { type: "text", text }]
    if (content !== e.content) return { content }
  })
}
