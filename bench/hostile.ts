import { memory } from '../dist/backends/memory/index.js'
import { createWorkspace } from '../dist/index.js'
import { heading, medians, report } from './measure.ts'

const patterns = [
  '(a+)+$',
  '(.*)*x',
  '\\w+\\s*=>\\s*\\{$',
  '(a|b|ab)*c',
  '(x+x+)+y',
  '([a-z]+)*\\d$',
  'a?{40}a{40}'.replace('a?{40}', '(?:a?){40}'),
]

/** Patterns and texts that make a backtracking engine hang. None may take a second. */
export async function benchHostile(): Promise<void> {
  heading('Hostile patterns on 4 MiB of hostile text, of a second')
  const size = 4 * 2 ** 20 - 1
  const files = {
    'a.txt': 'a'.repeat(size),
    'lines.txt': `${'a'.repeat(99)}\n`.repeat(size / 100),
    'code.js': `${'const value = items.map((item) => item.name); '.repeat(2000)}\n`.repeat(40),
  }
  for (const query of patterns) {
    const workspace = await createWorkspace({ backend: memory(files), policy: 'autonomous' })
    let answer = ''
    const { ours } = await medians(3, {
      ours: async () => {
        const result = await workspace.call('search_text', {
          query,
          mode: 'regex',
          maxFileBytes: 8 * 2 ** 20,
          timeoutMs: 60_000,
        })
        answer = result.ok ? `${(result.matches as unknown[]).length} matches` : result.code
      },
    })
    report(`${query}: ${answer}`, ours, 1000, 1)
  }
}
