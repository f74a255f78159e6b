import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../../dist/backends/memory/index.js'
import { createWorkspace } from '../../../dist/index.js'
import { bash } from '../../../dist/shells/bash/index.js'
import { everyNth, times } from '../../counts.ts'
import type { Answer } from '../setup.ts'
import { brokenExpressions, places } from './arithmetic.ts'

const inProcess = bash()
const inThread = bash({ worker: false })
afterAll(() => Promise.all([inProcess.close(), inThread.close()]))

/** Runs a line of the built package, which contains the interpreter as it is published. */
async function run(shell: typeof inProcess, tree: Record<string, string>, command: string): Promise<Answer> {
  const workspace = await createWorkspace({ backend: memory(tree), policy: 'autonomous', shell })
  try {
    return (await workspace.call('run_command', { command, timeoutMs: 60_000 })) as unknown as Answer
  } finally {
    await workspace.close()
  }
}

const MANY = 500

describe('arithmetic of a script', () => {
  it('ends, whatever the expression and wherever it is', async () => {
    const expressions = brokenExpressions()
    const step = times(8000, 1)
    const scripts = places.flatMap((place, number) =>
      expressions.filter((_, index) => index % step === number % step).map(place),
    )
    for (let start = 0; start < scripts.length; start += MANY) {
      const some = scripts.slice(start, start + MANY)
      const tree = Object.fromEntries(some.map((script, index) => [`all/${index}`, script]))
      const each = 'for f in all/*; do bash "$f" > /dev/null 2>&1 < /dev/null; done; echo end'
      expect(await run(inProcess, { ...tree, 'each.sh': each }, 'bash each.sh')).toMatchObject({ stdout: 'end\n' })
    }
  })

  it.each(everyNth(['a$', '$', '1 + $ 2', '$)', 'a$ = 1', 'a[$]', '"$', '`$', '$@', '$* + $@'], 3))(
    'ends in the thread of the caller for %s',
    async (text) => {
      const script = `set -- '${text}'; (echo $(($@)) $(($*))); x='${text}'; (echo $((x))); (let "$x"); (echo $((${text.replace(/[)`"]/g, '')}))); echo end`
      expect(await run(inThread, { 's.sh': script }, 'bash s.sh')).toMatchObject({
        stdout: expect.stringMatching(/end\n$/) as unknown,
      })
    },
  )

  it('has a bounded number of parts', async () => {
    const variables = Array.from({ length: 90 }, (_, index) => `v${index}=v${index + 1}+v${index + 1}`).join('; ')
    const answer = await run(inThread, { 's.sh': `v90=1; ${variables}; echo $((v80)); echo $((v0))` }, 'bash s.sh')
    expect(answer).toMatchObject({ stdout: '1024\n', stderr: expect.stringContaining('too many parts') as unknown })
  })
})

describe('a sequence in braces', () => {
  it.each(
    everyNth(
      [
        ['echo {1..20000} | wc -w', '20000\n'],
        ['echo {20000..1} | wc -w', '20000\n'],
        ['echo {00001..30001..2} | tail -c 6', '30001\n'],
        ['for i in {1..12345}; do :; done; echo $i', '12345\n'],
        ['a=({1..15000}); echo ${#a[@]}', '15000\n'],
      ] as const,
      2,
    ),
  )('is complete: %s', async (line, stdout) => {
    expect(await run(inProcess, {}, line)).toMatchObject({ exitCode: 0, stdout })
  })

  it.each(everyNth(['{1..100001}', '{1..1000000000}', '{1..400}{1..400}', 'x{1..90000}{a,b}'], 2))(
    'is an error where it exceeds the limit: %s',
    async (words) => {
      const { exitCode, stdout, stderr } = await run(inProcess, {}, `for i in ${words}; do echo $i; done`)
      expect([exitCode, stdout]).toEqual([126, ''])
      expect(stderr).toMatch(/brace expansion.* limit exceeded/)
    },
  )
})
