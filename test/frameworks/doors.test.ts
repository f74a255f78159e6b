import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { deepagentsSandbox } from '../../dist/adapters/deepagents/index.js'
import { createFs } from '../../dist/adapters/fs/index.js'
import { justBashFs } from '../../dist/adapters/just-bash/index.js'
import { langchainFileStore } from '../../dist/adapters/langchain/index.js'
import { memory } from '../../dist/backends/memory/index.js'
import { type ApproveHandler, createWorkspace } from '../../dist/index.js'
import { bash } from '../../dist/shells/bash/index.js'
import { doorRows } from './door-rows.ts'
import { type DoorOptions, doors, unused } from './doors.ts'
import { doorColumns, doorPage } from './run-door.ts'
import { frameworkBlocks } from './run-row.ts'

const page = readFileSync(join(import.meta.dirname, '../..', doorPage), 'utf8')
/** The rows of the table of the page: the framework, the functions, and the cells. */
const table = [...page.matchAll(/^\| \[(.+?)\]\(.*$/gm)].map(([line]) => {
  const [, framework = '', functions = '', ...cells] = line.split('|').map((cell) => cell.trim())
  return {
    framework: /^\[(.+?)\]/.exec(framework)?.[1] ?? '',
    functions: [...functions.matchAll(/`([a-z]\w+)`/g)].map(([, name]) => name ?? ''),
    cells: cells.slice(0, -1),
  }
})

const shell = bash()
afterAll(() => shell.close())

async function open(options: DoorOptions & { readonly policy?: 'supervised'; readonly ask?: ApproveHandler } = {}) {
  const { policy = 'autonomous', ask, ...doorOptions } = options
  const workspace = await createWorkspace({
    backend: memory({ 'n.txt': '41\n', 'src/app.ts': 'let a = 1\n' }),
    shell: { ...shell, async close() {} },
    policy,
    ...(ask === undefined ? {} : { approve: ask }),
  })
  return { workspace, doorOptions, content: () => workspace.files.readText('n.txt') }
}

/** The answer, or the error that it rejected with, as text. */
const shown = async (promise: Promise<unknown> | undefined) => {
  try {
    const answer = await promise
    return answer instanceof Uint8Array ? new TextDecoder().decode(answer) : (JSON.stringify(answer) ?? '')
  } catch (error) {
    return `thrown: ${(error as Error).message}`
  }
}

describe.each(doors)('$name', (door) => {
  it('lists, reads, writes and runs', async () => {
    const { workspace, content } = await open()
    const { list, read, write, run } = door.open(workspace)
    if (list !== undefined) expect(await shown(list('src'))).toMatch(/app\.ts/)
    if (read !== undefined) expect(await shown(read('n.txt'))).toContain('41')
    expect(await shown(write('n.txt', '42\n'))).not.toMatch(/DENIED|thrown/)
    expect(await content()).toBe('42\n')
    if (run !== undefined) expect(await shown(run('cd src && cat ../n.txt'))).toContain('42')
    // The next line starts at the root again.
    if (run !== undefined) expect(await shown(run('cat n.txt'))).toContain('42')
  })

  it('refuses protected files and paths outside, with the code and the hint', async () => {
    const { workspace } = await open()
    const { read, write, run } = door.open(workspace)
    // Commands and systems have words of their own.
    const protectedFile = /POLICY_DENIED_SECRET: .*(?:\n|\\n)Work without its values|\.env: Permission denied|EACCES/
    if (read !== undefined) expect(await shown(read('.env'))).toMatch(protectedFile)
    expect(await shown(write('.env', 'A=1'))).toMatch(/POLICY_DENIED_SECRET|[Pp]ermission denied/)
    expect(await shown(write('../n.txt', '1'))).toMatch(/PATH_REJECTED|EINVAL|EACCES|not inside the workspace/)
    expect((await workspace.files.entries()).map(({ name }) => name)).toEqual(['n.txt', 'src'])
    const supervised = await open({ policy: 'supervised' })
    const refused = await shown(door.open(supervised.workspace).run?.('cat n.txt'))
    if (run !== undefined) expect(refused).toMatch(/126.*APPROVAL_REQUIRED|APPROVAL_REQUIRED.*126/)
  })

  it('asks, changes nothing when the answer is no, and can be undone', async () => {
    const asked: string[] = []
    let answer: 'allow' | { deny: string } = { deny: 'not now' }
    const ask: ApproveHandler = ({ tool }) => {
      asked.push(tool)
      return answer
    }
    for (const options of [{ ask }, { approve: ask }]) {
      const { workspace, doorOptions, content } = await open({ policy: 'supervised', ...options })
      const { write } = door.open(workspace, doorOptions)
      expect(await shown(write('n.txt', '42\n'))).toMatch(/APPROVAL_DENIED.*not now|EPERM/)
      expect(await content()).toBe('41\n')
      answer = 'allow'
      await write('n.txt', '42\n')
      expect(await content()).toBe('42\n')
      const changed = workspace.auditRecords().findLast(({ pathsWritten }) => pathsWritten?.includes('n.txt'))
      expect(await workspace.undo(changed?.toolCallId ?? '', { approve: ask })).toMatchObject({
        ok: true,
        paths: ['n.txt'],
      })
      expect(await content()).toBe('41\n')
      // A command asks before it runs, and for what it changes.
      const kind = { openAiEditor: 'apply_patch', openAiShell: 'run_command', mastraSandbox: 'run_command' }[door.name]
      const tool = kind ?? 'write_file'
      expect(asked.splice(0)).toEqual([tool, tool, ...(tool === 'run_command' ? [tool] : []), 'undo'])
      answer = { deny: 'not now' }
    }
  })

  it('is cancelled by a signal, and changes nothing', async () => {
    const stop = new AbortController()
    const ask: ApproveHandler = () => {
      stop.abort(new Error('enough'))
      return new Promise(() => {})
    }
    const { workspace, doorOptions, content } = await open({ policy: 'supervised', ask, signal: stop.signal })
    expect(await shown(door.open(workspace, doorOptions).write('n.txt', '42\n'))).toMatch(/ABORTED|enough|aborted/)
    expect(await content()).toBe('41\n')
    expect(workspace.auditRecords().some(({ code }) => code === 'ABORTED')).toBe(true)
  })

  it('has each method among the ways to change or to view', () => {
    const { object, touchesNoFiles = [], changes, views } = door.open(unused)
    const used = new Set([...Object.keys(changes), ...Object.keys(views)].map((use) => /^\w+/.exec(use)?.[0]))
    // What a function has beside others is in the ways of those.
    const others = doors.flatMap(({ open }) => {
      const other = open(unused)
      return other.object === object ? [] : [...Object.keys(other.changes), ...Object.keys(other.views)]
    })
    for (const use of others) used.add(/^\w+/.exec(use)?.[0])
    const methods = Object.entries(object).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []))
    expect(methods.filter((name) => !used.has(name) && !touchesNoFiles.includes(name))).toEqual([])
  })

  it('takes a workspace in a dialect, and refuses anything that is no workspace', async () => {
    const { codex } = await import('../../dist/dialects/codex/index.js')
    const workspace = await createWorkspace({
      backend: memory({ 'n.txt': '41\n' }),
      shell: { ...shell, async close() {} },
      policy: 'autonomous',
      dialect: codex(),
    })
    const { run, write } = door.open(workspace as never)
    await write('n.txt', '42\n')
    expect(await workspace.files.readText('n.txt')).toBe('42\n')
    if (run !== undefined) expect(await shown(run('cat n.txt'))).toContain('42')
    expect(() => door.open({} as never)).toThrow(`"target" of ${door.name}() must be a workspace or a run`)
    expect(() => door.open(workspace as never, { signal: 1 } as never)).toThrow('signal')
  })
})

describe('deepagents', () => {
  it('gets its own words for what is not there, and no error for an edit that changes nothing', async () => {
    const { workspace, content } = await open()
    await workspace.files.write('three.txt', 'a\na\na\n')
    const backend = deepagentsSandbox(workspace)
    expect((await backend.read('/no.txt')).error).toMatch(/^File not found: NOT_FOUND: "no\.txt"/)
    expect((await backend.edit('/no.txt', 'a', 'b')).error).toMatch(/^Error: File not found: /)
    expect((await backend.edit('/n.txt', 'a', 'b')).error).toMatch(/^Error: String not found: EDIT_NO_MATCH: /)
    expect((await backend.edit('/three.txt', 'a', 'b')).error).toMatch(/^Error: Multiple occurrences: EDIT_AMBIGUOUS: /)
    expect((await backend.edit('/three.txt', 'a', 'a')).error).toMatch(/EDIT_AMBIGUOUS/)
    expect((await backend.edit('/n.txt', '', '')).error).toMatch(/INVALID_INPUT/)
    expect((await backend.edit('/.env', 'a', 'a')).error).toMatch(/POLICY_DENIED_SECRET/)
    expect(await backend.edit('/n.txt', '41', '41')).toEqual({ path: '/n.txt', occurrences: 1 })
    expect(await backend.edit('/three.txt', 'a', 'a', true)).toEqual({ path: '/three.txt', occurrences: 3 })
    expect(await backend.ls('/no')).toEqual({ files: [] })
    expect((await backend.ls('/../x')).error).toMatch(/PATH_REJECTED/)
    expect(await content()).toBe('41\n')
  })
})

it('just-bash gets plain bytes, also where Node has a Buffer', async () => {
  const { workspace } = await open()
  expect(await justBashFs(workspace).readFileBuffer('/n.txt')).toStrictEqual(Uint8Array.of(52, 49, 10))
})

it('the store of LangChain is not serialized', async () => {
  const { workspace } = await open()
  const text = JSON.stringify(langchainFileStore(workspace))
  expect(JSON.parse(text)).toMatchObject({
    type: 'not_implemented',
    id: ['wardspace', 'langchain', expect.any(String)],
  })
  expect(text).not.toContain('41')
})

describe('createFs', () => {
  it('lists, reads, writes, refuses, asks, is undone and cancelled', async () => {
    let answer: () => 'allow' | { deny: string } | Promise<never> = () => ({ deny: 'not now' })
    const { workspace, content } = await open({ policy: 'supervised', ask: () => answer() })
    const { promises } = createFs(workspace)
    expect(await promises.readdir('/')).toEqual(['n.txt', 'src'])
    expect(await promises.readFile('/n.txt', 'utf8')).toBe('41\n')
    const write = (options = {}) => promises.writeFile('/n.txt', '42\n', options)
    await expect(promises.readFile('/.env')).rejects.toMatchObject({ code: 'EACCES' })
    await expect(write()).rejects.toMatchObject({ code: 'EPERM', cause: { code: 'APPROVAL_DENIED' } })
    expect(await content()).toBe('41\n')
    answer = () => 'allow'
    await write()
    expect(await content()).toBe('42\n')
    const changed = workspace.auditRecords().findLast(({ pathsWritten }) => pathsWritten?.includes('n.txt'))
    expect(await workspace.undo(changed?.toolCallId ?? '')).toMatchObject({ ok: true, paths: ['n.txt'] })
    const stop = new AbortController()
    answer = () => {
      stop.abort()
      return new Promise(() => {})
    }
    await expect(write({ signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' })
    expect(await content()).toBe('41\n')
  })
})

describe('the table of docs/guide/sandboxes.md', () => {
  it('has a row for each framework and each function, and a cell for each tested column', () => {
    const names = doorRows.map(({ name }) => name)
    expect(table.map(({ framework }) => framework)).toEqual([...names, 'Agent Client Protocol', "Node's `fs`"])
    expect(table.flatMap(({ functions }) => functions).sort()).toEqual(
      [...doors.map(({ name }) => name), 'createFs'].sort(),
    )
    // Tested above, and with the SDK and programs that use `node:fs` in test/adapters.
    expect(table.slice(-2).map(({ cells }) => cells.indexOf('–'))).toEqual([0, 3])
    for (const { cells } of table) expect(cells.filter((cell) => cell !== 'yes' && cell !== '–')).toEqual([])
    for (const [index, { cells }] of table.slice(0, -2).entries()) {
      const { calls } = doorRows[index] ?? { calls: undefined }
      const hasNo = (column: string) => (column === 'list' || column === 'run') && calls?.[column] === undefined
      expect(cells).toEqual(doorColumns.map((column) => (hasNo(column) ? '–' : 'yes')))
    }
    expect([...new Set(doorRows.map(({ block }) => block))].sort()).toEqual(
      frameworkBlocks(doorPage)
        .map(({ framework }) => framework ?? '')
        .sort(),
    )
  })
})
