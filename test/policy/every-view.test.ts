import { getCommandNames } from 'just-bash'
import { afterAll, describe, expect, it } from 'vitest'
import { dialects } from '../../dist/dialects/index.js'
import type { Backend } from '../../dist/storage/backend.js'
import { oneOfEach, part } from '../counts.ts'
import { toolRows } from '../tools/table.ts'
import { withDisk } from './ways/on-disk.ts'
import { closeShell, memory, type Rule, tryWay } from './ways/subject.ts'
import { WORD, wayTree } from './ways/tree.ts'
import { dialectViews, kindOfView, showingLines, type ViewWay, viewWays } from './ways/view.ts'

const setting = { permission: 'file:view', paths: ['private/**'], notes: 'private/notes' }

/** Uses a way over a backend, with and without a rule that denies `file:view`, and checks what it shows. */
async function expectHidden(way: ViewWay, create: () => Promise<Backend> | Backend): Promise<void> {
  const attempt = async (rule: Rule) => tryWay(way, { rule, setting, backend: await create() })
  const { shows = new RegExp(WORD) } = way
  const free = await attempt('none')
  expect(JSON.stringify(free.answer), 'without a rule').toMatch(shows)

  const denied = await attempt('deny')
  expect(JSON.stringify(denied.answer)).not.toMatch(shows)
  expect(denied.questions).toEqual([])
  if (!way.name.includes(WORD)) expect(denied.records).not.toContain(WORD)
}

const onMemory = part(oneOfEach(viewWays, kindOfView))
const onDisk = part(oneOfEach(viewWays, (way) => kindOfView(way).split(' ')[0] ?? '', 'last'))

afterAll(() => {
  closeShell()
  console.log(
    `ways to view a path: ${viewWays.length}; tried without a rule and denied: ${onMemory.length} in memory, ${onDisk.length} on disk`,
  )
})

describe('a rule that denies file:view', () => {
  it.each(onMemory)('holds in memory for $name', async (way) => {
    await expectHidden(way, () => memory(wayTree))
  })

  it.each(onDisk)('holds on disk for $name', (way) => withDisk((create) => expectHidden(way, create)))
})

describe('the ways to view a path', () => {
  // `WARDSPACE_PART` splits them.
  it.skipIf(process.env.WARDSPACE_PART !== undefined)(
    'are tried in memory with every kind, and on disk with every group',
    () => {
      const kinds = (ways: readonly ViewWay[]) => new Set(ways.map(kindOfView))
      const groups = (ways: readonly ViewWay[]) => new Set(ways.map((way) => kindOfView(way).split(' ')[0]))
      expect(kinds(onMemory)).toEqual(kinds(viewWays))
      expect(groups(onDisk)).toEqual(groups(viewWays))
      expect(kinds(viewWays).size).toBeGreaterThan(30)
    },
  )

  it('are at least 250, each once', () => {
    expect(new Set(viewWays.map(({ name }) => name)).size).toBe(viewWays.length)
    expect(viewWays.length).toBeGreaterThanOrEqual(250)
  })

  it('contain every command of the interpreter that reads files', () => {
    const readsNoFile =
      /^(alias|basename|chmod|clear|date|dirname|echo|env|expr|false|help|history|hostname|js-exec|ln|ls|mkdir|printenv|printf|pwd|python3?|readlink|rm|rmdir|seq|sleep|sqlite3|stat|tee|time|timeout|touch|true|unalias|which|whoami|sha1sum|sha256sum|md5sum|wc|file|find|tree|du|cp|mv|bash|sh|xargs|zcat|gunzip|curl|html-to-markdown|xan)$/
    const words = new Set(showingLines.flatMap((line) => line.split(/[\s;|&(){}"`$<>]+/)))
    expect(getCommandNames().filter((name) => !readsNoFile.test(name) && !words.has(name))).toEqual([])
  })

  it('contain every tool of every dialect that shows files', () => {
    const showing = new Set<string>(toolRows.filter(([, { views }]) => !('reason' in views)).map(([name]) => name))
    for (const name of ['list_directory', 'find_files', 'file_info', 'run_command']) showing.add(name)
    for (const name of ['edit_file', 'apply_patch']) showing.delete(name)
    const missing = Object.entries(dialects).flatMap(([name, create]) =>
      create()
        .tools.filter(({ uses }) => uses.some((name) => showing.has(name)))
        .map((tool) => `${name} ${tool.name}`)
        // Searches a file at the root.
        .filter((tool) => tool !== 'gemini save_memory')
        .filter((tool) => !dialectViews[name]?.some(([own]) => `${name} ${own}` === tool)),
    )
    expect(missing).toEqual([])
  })
})
