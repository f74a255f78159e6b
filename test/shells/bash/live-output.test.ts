import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../../dist/backends/memory/index.js'
import { createWorkspace } from '../../../dist/index.js'
import { bash } from '../../../dist/shells/bash/index.js'
import { createShownOutput } from '../../../src/shells/shared/shown-output.ts'
import { times } from '../../counts.ts'
import { randomFrom } from '../analysis/hidden-commands.ts'
import { printingScript } from './printing-scripts.ts'
import { runPrintingScript } from './run-printing-script.ts'

/** A shell is shared by its tests; a workspace that is closed must not end it. */
const [here, apart] = [{ worker: false } as const, {}].map((options) => {
  const { close, ...shell } = bash(options)
  afterAll(close)
  return { ...shell, async close() {} }
}) as [ReturnType<typeof bash>, ReturnType<typeof bash>]

const STREAMS = ['stdout', 'stderr'] as const

describe('live output of bash()', () => {
  it('is the start of the final output, piece by piece, and changes nothing', async () => {
    const random = randomFrom(20)
    const counts = { shown: 0, all: 0, scripts: 0 }
    for (let i = 0; i < times(7, 3000); i++) {
      const script = printingScript(random, 1 + (i % 2))
      const before = await runPrintingScript(script)
      const shown = { stdout: '', stderr: '' }
      const result = await runPrintingScript(script, (stream, text) => {
        shown[stream] += text
      })
      expect({ script, result }).toEqual({ script, result: before })
      if (result === undefined) continue
      counts.scripts += 1
      for (const stream of STREAMS) {
        counts.shown += shown[stream].length
        counts.all += result[stream].length
        const final = result[stream].slice(0, shown[stream].length)
        expect({ script, [stream]: shown[stream] }).toEqual({ script, [stream]: final })
      }
    }
    // Most of the rest is printed before an end that the interpreter must see first.
    expect(counts.shown / counts.all).toBeGreaterThan(0.5)
    expect(counts.scripts).toBeGreaterThan(times(3, 2000))
  })

  it.each([
    ['top-level commands', 'echo a; WAIT; echo b', 'a\n'],
    ['lists', 'echo a && WAIT && echo b', 'a\n'],
    ['loops', 'for i in 1 2; do echo $i; [ $i = 1 ] || WAIT; done', '1\n2\n'],
    ['loops with input', 'while read x; do echo $x; WAIT; done < in.txt', 'one\n'],
    ['conditions', 'if echo a; then WAIT; fi', 'a\n'],
    ['groups', '{ echo a; WAIT; }', 'a\n'],
    ['subshells', '(echo a; WAIT)', 'a\n'],
    ['functions', 'f() { echo a; WAIT; }; f', 'a\n'],
    ['the last command of a pipeline', 'echo a | while read x; do echo $x; WAIT; done', 'a\n'],
    ['merged streams', '{ echo a; WAIT; } 2>&1', 'a\n'],
    ['one stream beside a redirected one', '{ echo a; echo b >&2; WAIT; } 2>err', 'a\n'],
    ['scripts', 'bash slow.sh', 'a\n'],
    ['lines in lines', "sh -c 'echo a; WAIT'", 'a\n'],
    ['executable scripts', 'chmod +x slow.sh; ./slow.sh', 'a\n'],
    ['evaluated lines', "eval 'echo a; WAIT'", 'a\n'],
    ['scripts of a package', 'npm run -s slow', 'a\n'],
    ['traps', "trap 'echo end' EXIT; echo a; WAIT", 'a\n'],
    ['errors of scripts with traps', "trap 'echo end' EXIT; echo a >&2; WAIT", '', 'a\n'],
    ['errors', 'echo a >&2; WAIT', '', 'a\n'],
    ['nothing of a redirected loop', 'for i in 1; do echo $i; WAIT; done > out', ''],
    ['nothing of a substitution', 'x=$(echo a; WAIT)', ''],
    ['nothing before a pipe', '{ echo a; WAIT; } | cat', ''],
    ['nothing of a function before a pipe', 'f() { echo a; WAIT; }; f | cat', ''],
    ['nothing of a function in a substitution', 'f() { echo a; WAIT; }; g() { x=$(f); }; g', ''],
    ['nothing of a line that redirects itself', "exec > out; sh -c 'echo a; WAIT'", ''],
  ])('shows %s', async (_, line, stdout, stderr = '') => {
    const { workspace, until } = await open(here)
    const command = line.replaceAll('WAIT', 'sleep 9')
    const { id } = (await workspace.call('start_command', { command })) as { id: string }
    if (stdout === '' && stderr === '') await new Promise((resolve) => setTimeout(resolve, 100))
    const seen = await until(id, (output) => output.stdout === stdout && output.stderr === stderr)
    expect(seen).toEqual({ stdout, stderr, state: 'running' })
    expect(await workspace.call('stop_command', { id })).toMatchObject({ stdout: '', exitCode: 143 })
    await workspace.close()
  })

  it.each([
    ['the thread of the caller', here],
    ['a process', apart],
  ])('shows what a script of node in %s prints while it waits', async (_, shell) => {
    const { workspace, until } = await open(shell)
    const { id } = (await workspace.call('start_command', { command: 'node slow.mjs' })) as { id: string }
    await until(id, (output) => output.stdout === 'out\n' && output.stderr === 'err\n')
    await workspace.call('stop_command', { id })
    await workspace.close()
  })

  it('joins to the output of the same command in the foreground', async () => {
    const { workspace, until } = await open(here)
    const command =
      'for i in 1 2 3; do echo $i; echo e$i >&2; sleep 0.05; done; node -e "console.log(4)"; cat in.txt | tr a-z A-Z'
    const { id } = (await workspace.call('start_command', { command })) as { id: string }
    const { stdout, stderr } = (await workspace.call('run_command', { command })) as { stdout: string; stderr: string }
    expect(await until(id, (output) => output.state === 'ended')).toEqual({ stdout, stderr, state: 'ended' })
    await workspace.close()
  })

  it('never shows a token that is printed in parts', async () => {
    const token = `ghp_${'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5'}`
    const parts = token.match(/.{4}/g) ?? []
    const { workspace, until } = await open(here)
    const command = `${parts.map((part) => `printf ${part}; sleep 0.02`).join('; ')}; echo; echo end`
    const { id } = (await workspace.call('start_command', { command })) as { id: string }
    const { stdout } = await until(id, (output) => output.state === 'ended')
    expect(stdout).toContain('end\n')
    for (let at = 0; at + 12 <= token.length; at++) expect(stdout).not.toContain(token.slice(at, at + 12))
    await workspace.close()
  })

  it('carries the label of what the command has read', async () => {
    const labels = { sources: [{ label: 'restricted', paths: ['in.txt'] }] } as const
    const { workspace } = await open(here, { preset: 'autonomous', labels })
    const { id } = (await workspace.call('start_command', { command: 'cat in.txt; sleep 9' })) as { id: string }
    for (;;) {
      const answer = (await workspace.call('check_command', { id })) as { stdout: string; label?: string }
      if (answer.stdout === '') {
        await new Promise((resolve) => setTimeout(resolve, 20))
        continue
      }
      expect(answer).toMatchObject({ stdout: 'one\n', label: 'restricted' })
      break
    }
    await workspace.close()
  })
})

describe('output that is shown once', () => {
  function recorder() {
    const texts: string[] = []
    return { texts, output: createShownOutput((stream, text) => texts.push(`${stream} ${text}`)) }
  }

  it('is not shown again by a line that runs again', () => {
    const { texts, output } = recorder()
    output.add('stdout', 'one two')
    output.restart()
    output.add('stdout', 'one ')
    output.add('stdout', 'two three')
    output.end({ stdout: 'one two three four', stderr: 'e' })
    expect(texts).toEqual(['stdout one two', 'stdout  three', 'stdout  four', 'stderr e'])
  })

  it('is shown from where a second run differs', () => {
    const { texts, output } = recorder()
    output.add('stdout', 'at 10:00 a')
    output.restart()
    output.add('stdout', 'at 10:01')
    output.end({ stdout: 'at 10:01 b', stderr: '' })
    expect(texts).toEqual(['stdout at 10:00 a', 'stdout 1', 'stdout  b'])
  })

  it('is completed from where the final output differs', () => {
    const { texts, output } = recorder()
    output.add('stdout', 'abcd')
    output.end({ stdout: 'abX', stderr: '' })
    expect(texts).toEqual(['stdout abcd', 'stdout X'])
  })
})

interface Seen {
  readonly stdout: string
  readonly stderr: string
  readonly state: string
}

async function open(shell: ReturnType<typeof bash>, policy: unknown = 'autonomous') {
  const files = {
    'in.txt': 'one\n',
    'slow.sh': 'echo a\nsleep 9\n',
    'slow.mjs': "console.log('out'); console.error('err'); setTimeout(() => {}, 9000)",
    'package.json': JSON.stringify({ scripts: { slow: 'echo a; sleep 9' } }),
  }
  const workspace = await createWorkspace({
    backend: memory(files),
    policy: policy as 'autonomous',
    shell,
  })
  /** Polls until the joined answers are as expected. */
  async function until(id: string, isDone: (seen: Seen) => boolean): Promise<Seen> {
    let seen: Seen = { stdout: '', stderr: '', state: 'running' }
    const end = performance.now() + 20_000
    while (!isDone(seen) && performance.now() < end) {
      const answer = (await workspace.call('check_command', { id })) as unknown as Seen
      seen = { stdout: seen.stdout + answer.stdout, stderr: seen.stderr + answer.stderr, state: answer.state }
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(isDone(seen), JSON.stringify(seen)).toBe(true)
    return seen
  }
  return { workspace, until }
}
