import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'
import type { LabelPolicy } from '../../src/policy/labels.ts'
import { bash } from '../../src/shells/bash/index.ts'
import type { OwnCommand } from '../../src/shells/bash/own-command.ts'
import { times } from '../counts.ts'

const CONTENT = 'Okapi33Ibex91Quokka47Zebra'

/** What the sink has received in the present case. */
let sent: string[] = []

const commands: Readonly<Record<string, OwnCommand>> = {
  tell: () => `${CONTENT}\n`,
  /** Sends its arguments and its input. */
  send(args, { stdin }) {
    sent.push([...args, stdin].join(' '))
    return 'sent\n'
  },
  /** Sends what it learns about a file by each operation that it has. */
  async upload([path = ''], { fs }) {
    const reads = [fs.readFile, fs.readFileBuffer, fs.stat, fs.lstat, fs.readlink, fs.realpath, fs.exists]
    for (const read of reads) {
      const result: unknown = await read(path).catch(() => undefined)
      if (result !== undefined) sent.push(result instanceof Uint8Array ? String(Buffer.from(result)) : format(result))
    }
    return 'sent\n'
  },
}

const format = (result: unknown) => (typeof result === 'string' ? result : JSON.stringify(result))

const labels = (above: 'deny' | 'ask'): LabelPolicy => ({
  sources: [
    { label: 'restricted', paths: ['conf/**'] },
    { label: 'restricted', commands: ['tell'] },
    { label: 'internal', commands: ['send *', 'send', 'upload *'] },
  ],
  sinks: [{ name: 'sent', ceiling: 'public', commands: ['send *', 'send', 'upload *'], above }],
})

const shells = {
  'in its process': bash({ commands }),
  'in the thread of the caller': bash({ worker: false, commands }),
}
afterAll(() => Promise.all(Object.values(shells).map((shell) => shell.close())))

/** Ways to take the content of a file, as words and as the input of a command. */
const contents = [
  'cat conf/x.txt',
  'cat < conf/x.txt',
  'head -1 conf/x.txt',
  'bash -c "cat conf/x.txt"',
  'f() { cat "$1"; }; f conf/x.txt',
  'cat conf/* | rev | rev',
  'cp conf/x.txt a.txt; cat a.txt',
  'mv conf/x.txt a.txt; cat a.txt',
  'mv conf d; cat d/x.txt',
  'ln -s conf/x.txt l; cat l',
  'cp conf/x.txt /tmp/x; cat /tmp/x',
  'grep -rh . conf',
  'find conf -type f -exec cat {} +',
  'tell',
  'f() { tell; }; f',
  'bash -c tell',
  'echo | xargs tell',
]
const lines = [
  ...contents.flatMap((read) => [
    `{ ${read}; } | send`,
    `send "$(${read})"`,
    `x=$(${read}); send <<< "$x"`,
    `${read} > y.txt; send < y.txt`,
    `${read} | while read -r l; do send "$l"; done`,
    `${read} | xargs send`,
    `send <<END\n$(${read})\nEND`,
  ]),
  ...['conf/x.txt', '/workspace/conf/x.txt', './conf/../conf/x.txt'].map((path) => `upload ${path}`),
  'cd conf; upload x.txt',
  'ln -s conf/x.txt l; upload l',
  'cp conf/x.txt a.txt; upload a.txt',
  'mv conf/x.txt a.txt; upload a.txt',
  'cp conf/x.txt /tmp/x; upload /tmp/x',
  'echo conf/x.txt | xargs upload',
  'find conf -name x.txt -exec upload {} \\;',
  'f() { upload "$1"; }; f conf/x.txt',
  'p=conf/x.txt; upload "$p" & wait',
  'bash -c "upload conf/x.txt"',
]

async function run(shell: keyof typeof shells, line: string, above: 'deny' | 'ask', isInBackground: boolean) {
  sent = []
  const backend = memory({ 'conf/x.txt': `${CONTENT}\n`, 'public.txt': 'free\n' })
  const policy = { preset: 'autonomous', labels: labels(above) } as const
  // A shell is closed with its workspace, and these are shared.
  const { close: _, ...shared } = shells[shell]
  const workspace = await createWorkspace({ backend, policy, shell: { ...shared, close: async () => {} } })
  const answer = isInBackground
    ? await inBackground(workspace, line)
    : await workspace.call('run_command', { command: line, timeoutMs: 60_000 })
  await workspace.close()
  return { answer: answer as { readonly refused?: readonly { readonly code: string }[] }, sent: sent.join('\n') }
}

async function inBackground(workspace: Awaited<ReturnType<typeof createWorkspace>>, command: string) {
  const started = await workspace.call('start_command', { command })
  if (!started.ok) return started
  for (;;) {
    const state = await workspace.call('check_command', { id: started.id })
    if (!state.ok || state.state !== 'running') return state
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const cells = Object.keys(shells).flatMap((shell) => (['deny', 'ask'] as const).map((above) => [shell, above]))

describe.each(Object.keys(shells) as (keyof typeof shells)[])('a command that is a sink, %s', (shell) => {
  it.each(['deny', 'ask'] as const)('gets nothing that its own line has received, with %s', async (above) => {
    const failed: unknown[] = []
    const number = cells.findIndex(([first, second]) => first === shell && second === above)
    for (const [index, line] of lines.entries()) {
      // Each run of `npm test` tries each line with one shell and one sink.
      if (index % times(cells.length, 1) !== number % times(cells.length, 1)) continue
      const { answer, sent: received } = await run(shell, line, above, index % 3 === 0)
      const isReported = answer.refused?.some(({ code }) => code === 'TAINT_DENIED') === true
      if (received.includes(CONTENT) || /"size":27/.test(received) || !isReported) failed.push([line, received, answer])
    }
    expect(failed).toEqual([])
  })

  it('gets public content, whatever its own output is labelled', async () => {
    const failed: unknown[] = []
    const free = [
      'send a; cat conf/x.txt',
      'cat public.txt | send',
      'upload public.txt',
      'f() { upload "$1"; }; f public.txt',
    ]
    for (const line of free) {
      const { answer, sent: received } = await run(shell, line, 'deny', false)
      if (received === '' || answer.refused !== undefined) failed.push([line, received, answer])
    }
    expect(failed).toEqual([])
  })
})
