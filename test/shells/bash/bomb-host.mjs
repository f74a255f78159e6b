/*
 * The program that a bomb must not harm: a workspace with a shell, run by `bomb-runner.ts` as a child process. It receives lines
 * and responds to each with its result and with the longest time for which its event loop was blocked.
 */
const [top, timeoutMs] = process.argv.slice(2)
const { memory } = await import(`${top}/dist/backends/memory/index.js`)
const { createWorkspace } = await import(`${top}/dist/index.js`)
const { bash } = await import(`${top}/dist/shells/bash/index.js`)

let turnedAt = performance.now()
let longestGap = 0
setInterval(() => {
  const now = performance.now()
  longestGap = Math.max(longestGap, now - turnedAt)
  turnedAt = now
}, 10)

const shell = bash()
/** Allows every line, so that only the shell limits it. */
const line = { decision: 'allow', commands: [], accesses: [], reasons: [] }
const judge = (_, { policy, call }) => ({ line, verdict: policy.evaluate({ ...call, commands: [] }), opens: [] })

/** The last backend: many bombs have the same files. */
let [lastKey, lastBackend] = ['']

function backendWith(files, large) {
  const key = JSON.stringify([files, large])
  if (key !== lastKey) {
    const bytes = ([text, count]) => new Uint8Array(Buffer.alloc(text.length * count, text))
    const contents = Object.entries(large).map(([name, repeated]) => [name, bytes(repeated)])
    lastBackend = memory({ ...files, ...Object.fromEntries(contents) })
    lastKey = key
  }
  return lastBackend
}

process.on('message', async ({ command, files, large = {}, isJudged }) => {
  const workspace = await createWorkspace({
    backend: backendWith(files, large).fork(),
    policy: 'autonomous',
    shell: { ...shell, ...(isJudged ? {} : { judge }), async close() {} },
  })
  turnedAt = performance.now()
  longestGap = 0
  const start = performance.now()
  const result = await workspace.call('run_command', { command, timeoutMs: Number(timeoutMs) })
  const ms = performance.now() - start
  longestGap = Math.max(longestGap, performance.now() - turnedAt)
  await workspace.close()
  process.send({
    ms,
    gap: longestGap,
    code: result.ok ? `exit ${result.exitCode}` : result.code,
    text: (result.ok ? result.stderr : result.message).slice(0, 200),
  })
})
process.send('ready')
