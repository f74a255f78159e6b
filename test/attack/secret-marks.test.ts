import { describe, expect, it } from 'vitest'
import { oneOfEach, part, times } from '../counts.ts'
import { hiddenCases, layouts, perform, revealed, ways } from './secret-marks.ts'

const names = Object.keys(ways)
const layoutNames = Object.keys(layouts)

/** Each secret with a layout; consecutive entries differ in both. */
const files = hiddenCases.map((hidden, index) => ({
  hidden,
  layout: layoutNames[index % layoutNames.length] as string,
}))

/** The kind of a way: the tool that it calls, or the first command of its line. */
const kindOf = (name: string): string => name.split(/[ ,;]/)[0] ?? ''
const tried = oneOfEach(names, kindOf)

/** Each way with 50 of the files; in `npm test`, one way of each kind with one file. */
const cases = part(
  tried.flatMap((name) =>
    Array.from({ length: times(1, 50) }, (_, turn) => ({
      name,
      ...(files[(names.indexOf(name) * 37 + turn * 3) % files.length] as (typeof files)[number]),
    })),
  ),
)

describe('a hidden secret', () => {
  // `WARDSPACE_PART` splits them.
  it.skipIf(process.env.WARDSPACE_PART !== undefined)('is changed in every kind of way, in every layout', () => {
    expect(new Set(cases.map(({ name }) => kindOf(name)))).toEqual(new Set(names.map(kindOf)))
    expect(new Set(cases.map(({ layout }) => layout))).toEqual(new Set(layoutNames))
    expect(new Set(names.map(kindOf)).size).toBeGreaterThan(40)
  })

  it(`does not show after any of ${cases.length} changes of its file`, async () => {
    const leaks: string[] = []
    for (const { name, hidden, layout } of cases) {
      const pieces = await revealed(hidden, layout, ways[name] as (typeof ways)[string])
      if (pieces.length > 0)
        leaks.push(`${hidden.kind} (${hidden.before}${hidden.secret.slice(0, 8)}…), ${layout}: ${name}`)
    }
    expect(leaks).toEqual([])
  })
})

describe('an ordinary change of a file with a secret', () => {
  const edit = (input: object): Change => [['edit_file', { path: 't.txt', ...input }]]
  const sh = (command: string): Change => [['run_command', { command }]]
  type Change = [name: string, input: object][]
  /** `SECRET` is the whole line of the secret. */
  const changes: Record<string, Change> = {
    'edit_file on another line': edit({ oldText: 'first line', newText: 'changed' }),
    'edit_file deletes the marked lines': edit({ oldText: 'MARKED', newText: 'gone' }),
    'append_file of a line': [['append_file', { path: 't.txt', content: 'more\n' }]],
    'copy_file, move_file, delete_file': [
      ['copy_file', { path: 't.txt', to: 'n.txt' }],
      ['move_file', { path: 't.txt', to: 'm.txt' }],
      ['delete_file', { path: 'n.txt' }],
    ],
    'apply_patch on another line': [
      ['apply_patch', { patch: '*** Begin Patch\n*** Update File: t.txt\n@@\n-first line\n+changed\n*** End Patch' }],
    ],
    'sed on another line': sh('sed -i s/first/changed/ t.txt'),
    'sed deletes the last line': sh("sed -i '$d' t.txt"),
    'cp, cat and mv': sh('cp t.txt n.txt; cat t.txt > m.txt; mv t.txt o.txt; cat o.txt m.txt > p.txt'),
    'cat >> to whole lines': sh('printf "a line\\n" > n.txt; cat t.txt >> n.txt; cat t.txt | tee -a n.txt'),
    'head and tail': sh('head -n 1 t.txt > n.txt; tail -n 1 t.txt >> n.txt'),
    'echo >> after the last line': sh('echo more >> t.txt; echo x > n.txt'),
    'ln and a write through it': sh('ln -s t.txt s.txt; echo more >> s.txt'),
    'node copies': sh(
      `node -e "const f = require('fs'); f.writeFileSync('n.txt', f.readFileSync('t.txt')); f.appendFileSync('t.txt', 'x')"`,
    ),
    git: sh(
      'git init -q; git add -A; git commit -qm one; echo x >> t.txt; git commit -qam two; git checkout -q HEAD~1',
    ),
  }

  it(`is not refused: ${hiddenCases.length} secrets, ${Object.keys(changes).length} changes`, async () => {
    const refused: string[] = []
    for (const [index, hidden] of hiddenCases.entries()) {
      for (const [position, [name, calls]] of Object.entries(changes).entries()) {
        if ((index + position) % times(331, 1) !== 0) continue
        const answers = await perform(hidden, calls)
        for (const answer of answers) {
          if (answer.ok === true && answer.refused === undefined) continue
          refused.push(`${hidden.kind} (${hidden.before}): ${name}: ${JSON.stringify(answer).slice(0, 300)}`)
        }
      }
    }
    expect(refused).toEqual([])
  })
})
