/*
 * The program that a bomb must not harm: a workspace with a shell, run by `bomb-runner.ts` as a child process. It gets lines
 * and answers each with its result and with the longest time that its event loop did not turn.
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
process.on('message', async ({ line, files }) => {
  const workspace = await createWorkspace({
    backend: memory(files),
    policy: 'autonomous',
    shell: { ...shell, async close() {} },
  })
  turnedAt = performance.now()
  longestGap = 0
  const start = performance.now()
  const result = await workspace.call('run_command', { command: line, timeoutMs: Number(timeoutMs) })
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
