import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { redact } from '../../src/files/secrets/index.ts'
import { createWorkspace, type Path, type Workspace, type WorkspaceOptions } from '../../src/index.ts'
import type { Backend, EntryState } from '../../src/storage/backend.ts'
import { sameVersion, stateAt, versionOf } from '../../src/storage/versions.ts'
import { faulty } from '../../src/testing/index.ts'
import { hiddenCases } from '../attack/secret-marks.ts'
import { everyNth, isLong, oneOfEach, times } from '../counts.ts'
import { outputOf, runProgram } from '../run-program.ts'

let scratch = ''
beforeAll(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'wardspace-merge-')))
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const windowsOf = (text: string, size: number): string[] =>
  Array.from({ length: Math.max(0, text.length - size + 1) }, (_, at) => text.slice(at, at + size))

const numbers = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n'

async function open(files: Record<string, string>, options: Partial<WorkspaceOptions> = {}): Promise<Workspace> {
  return createWorkspace({ backend: memory(files), policy: 'autonomous', ...options })
}

async function write(workspace: Workspace, path: string, content: string | null): Promise<void> {
  const info = await workspace.call('file_info', { path })
  const expectedSha256 = info.ok ? (info.sha256 ?? null) : null
  const result =
    content === null
      ? await workspace.call('delete_file', { path, expectedSha256: String(expectedSha256) })
      : await workspace.call('write_file', { path, content, expectedSha256 })
  expect(result).toMatchObject({ ok: true })
}

async function textAt(workspace: Workspace, path: string): Promise<string | undefined> {
  const result = await workspace.call('read_file', { path })
  return result.ok ? result.content : undefined
}

describe('commit with merge', () => {
  it('merges two forks of one workspace', async () => {
    const workspace = await open({ 'a.txt': numbers })
    const [first, second] = [await workspace.fork(), await workspace.fork()]
    await write(first, 'a.txt', numbers.replace('one', 'ONE'))
    await write(second, 'a.txt', numbers.replace('seven', 'SEVEN'))
    expect(await first.commit({ merge: true })).toMatchObject({ ok: true, paths: ['a.txt'], merged: [] })
    expect(await second.commit()).toMatchObject({ ok: false, code: 'WRITE_CONFLICT' })
    expect(await second.merge()).toMatchObject({ ok: true, paths: ['a.txt'], merged: ['a.txt'] })
    const both = numbers.replace('one', 'ONE').replace('seven', 'SEVEN')
    expect(await textAt(workspace, 'a.txt')).toBe(both)
    // The fork shows what was merged, and has nothing left to commit.
    expect(await textAt(second, 'a.txt')).toBe(both)
    expect(await second.commit()).toMatchObject({ ok: true, paths: [] })
    await write(second, 'a.txt', both.replace('four', 'FOUR'))
    expect(await second.commit()).toMatchObject({ ok: true, paths: ['a.txt'] })
  })

  it('returns conflicts with the three contents and the marked text, and changes nothing', async () => {
    const workspace = await open({ 'a.txt': 'a\nb\nc\n', 'other.txt': 'x\n' })
    const fork = await workspace.fork()
    await write(fork, 'a.txt', 'a\ntheirs\nc\n')
    await write(fork, 'other.txt', 'y\n')
    await write(workspace, 'a.txt', 'a\nours\nc\n')
    const result = await fork.merge()
    expect(result).toMatchObject({
      ...{ ok: false, code: 'WRITE_CONFLICT', paths: ['a.txt'] },
      conflicts: [
        {
          ...{ path: 'a.txt', kind: 'content', base: 'a\nb\nc\n', ours: 'a\nours\nc\n', theirs: 'a\ntheirs\nc\n' },
          text: 'a\n<<<<<<< below\nours\n=======\ntheirs\n>>>>>>> this workspace\nc\n',
        },
      ],
    })
    expect(await textAt(workspace, 'a.txt')).toBe('a\nours\nc\n')
    expect(await textAt(workspace, 'other.txt')).toBe('x\n')
    expect(await fork.merge({ resolve: { 'a.txt': 'a\nboth\nc\n' } })).toMatchObject({ ok: true })
    expect(await textAt(workspace, 'a.txt')).toBe('a\nboth\nc\n')
    expect(await textAt(workspace, 'other.txt')).toBe('y\n')
    expect(await textAt(fork, 'a.txt')).toBe('a\nboth\nc\n')
  })

  it.each([
    ['created on both sides', 'added', 'new.txt', 'ours\n', 'theirs\n'],
    ['deleted here and changed below', 'deleted', 'a.txt', 'ours\n', null],
    ['changed here and deleted below', 'deleted', 'a.txt', null, 'theirs\n'],
    ['binary on one side', 'binary', 'a.txt', 'ours\n', 'a\0b\n'],
    ['too large for a base', 'large', 'large.txt', 'ours\n', 'theirs\n'],
  ])('returns the kind of a conflict: %s', async (_, kind, path, ours, theirs) => {
    const workspace = await open({ 'a.txt': 'a\nb\n', 'large.txt': 'x\n'.repeat(600_000) })
    const fork = await workspace.fork()
    await write(fork, path, theirs)
    await write(workspace, path, ours)
    expect(await fork.merge()).toMatchObject({ ok: false, conflicts: [{ path, kind }] })
    for (const content of ['resolved\n', null]) {
      const other = await open({ 'a.txt': 'a\nb\n', 'large.txt': 'x\n'.repeat(600_000) })
      const above = await other.fork()
      await write(above, path, theirs)
      await write(other, path, ours)
      expect(await above.merge({ resolve: { [path]: content } })).toMatchObject({ ok: true })
      expect(await textAt(other, path)).toBe(content ?? undefined)
      expect(await textAt(above, path)).toBe(content ?? undefined)
    }
  })

  it('takes equal changes of both sides as one, and a deletion of both sides', async () => {
    const workspace = await open({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
    const fork = await workspace.fork()
    for (const side of [workspace, fork]) {
      await write(side, 'a.txt', 'same\n')
      await write(side, 'b.txt', null)
      await write(side, 'new.txt', 'new\n')
    }
    expect(await fork.merge()).toMatchObject({ ok: true })
    expect(await textAt(workspace, 'a.txt')).toBe('same\n')
    expect(await fork.commit()).toMatchObject({ ok: true, paths: [] })
  })

  it('merges permission bits, and returns a conflict for two different changes', async () => {
    const directory = join(scratch, 'modes')
    mkdirSync(directory)
    const chmod = (mode: string) => outputOf('chmod', [mode, 'run.sh'], { cwd: directory })
    writeFileSync(join(directory, 'run.sh'), numbers)
    chmod('644')
    const above = overlay(nodeBackend(directory))
    const workspace = await createWorkspace({ backend: above, policy: 'autonomous' })
    await write(workspace, 'run.sh', numbers.replace('one', 'ONE'))
    writeFileSync(join(directory, 'run.sh'), numbers.replace('seven', 'SEVEN'))
    chmod('755')
    expect(await workspace.merge()).toMatchObject({ ok: true, merged: ['run.sh'] })
    const { mode } = (await above.lower.stat('run.sh' as never)) ?? {}
    expect(mode).toBe(0o755)
    await write(workspace, 'run.sh', 'x\n')
    const state = { type: 'file', bytes: new TextEncoder().encode('x\n'), mode: 0o600 } as const
    await above.commit([{ path: 'run.sh' as never, expect: 'any', to: state }], { durability: 'durable' })
    chmod('700')
    expect(await workspace.merge()).toMatchObject({ ok: false, conflicts: [{ path: 'run.sh', kind: 'mode' }] })
    await workspace.close()
  })

  it('takes a change of type if the path below is as it was, and returns a conflict if it is not', async () => {
    const path = 'at' as Path
    const states: readonly EntryState[] = [
      null,
      { type: 'directory' },
      { type: 'file', bytes: new TextEncoder().encode('text') },
      { type: 'link', target: 'x' },
      { type: 'link', target: path },
    ]
    const put = async (backend: Backend, to: EntryState) => {
      const tag = (await backend.stat(path))?.tag
      await backend.commit([{ path, expect: tag === undefined ? 'absent' : { tag }, to }], { durability: 'relaxed' })
    }
    for (const base of states) {
      for (const ours of states) {
        for (const theirs of states) {
          const lower = memory()
          if (base !== null) await put(lower, base)
          const above = overlay(lower)
          const workspace = await createWorkspace({ backend: above, policy: 'autonomous' })
          if (theirs !== base) await put(above, theirs)
          if (ours !== base) await put(lower, ours)
          const sides = new Set([ours, theirs].filter((state) => state !== base))
          const note = JSON.stringify({ base, ours, theirs })
          const result = sides.size > 1 ? { ok: false, conflicts: [{ path }] } : { ok: true }
          expect(await workspace.merge(), note).toMatchObject(result)
          expect(await stateAt(lower, path), note).toSatisfy((now: EntryState) =>
            sameVersion(versionOf(now), versionOf(sides.size > 1 ? ours : ([...sides, base][0] as EntryState))),
          )
        }
      }
    }
  })

  it('merges with what others changed on disk, also after the overlay was reopened', async () => {
    const [lower, upper] = ['lower', 'upper'].map((name) => join(scratch, name)) as [string, string]
    mkdirSync(lower)
    mkdirSync(upper)
    writeFileSync(join(lower, 'a.txt'), numbers)
    const reopen = () =>
      createWorkspace({ backend: overlay(nodeBackend(lower), nodeBackend(upper)), policy: 'autonomous' })
    const before = await reopen()
    await write(before, 'a.txt', numbers.replace('one', 'ONE'))
    await before.close()
    writeFileSync(join(lower, 'a.txt'), numbers.replace('seven', 'SEVEN'))
    const after = await reopen()
    expect(await after.merge()).toMatchObject({ ok: true, merged: ['a.txt'] })
    expect(readFileSync(join(lower, 'a.txt'), 'utf8')).toBe(numbers.replace('one', 'ONE').replace('seven', 'SEVEN'))
    await after.close()
  })

  it('can be repeated if the overlay failed after the files below were changed', async () => {
    const below = memory({ 'a.txt': numbers })
    const upper = faulty(memory())
    const workspace = await createWorkspace({ backend: overlay(below, upper), policy: 'autonomous' })
    await write(workspace, 'a.txt', numbers.replace('one', 'ONE'))
    const outside = await createWorkspace({ backend: below, policy: 'autonomous' })
    await write(outside, 'a.txt', numbers.replace('seven', 'SEVEN'))
    upper.inject({ on: 'commit', error: new Error('lost') })
    expect(await workspace.merge()).toMatchObject({ ok: false })
    upper.heal()
    expect(await workspace.merge()).toMatchObject({ ok: true })
    const both = numbers.replace('one', 'ONE').replace('seven', 'SEVEN')
    expect(await textAt(outside, 'a.txt')).toBe(both)
    expect(await textAt(workspace, 'a.txt')).toBe(both)
  })
})

describe('a refused merge', () => {
  it('needs the right to read the file below', async () => {
    const below = memory({ 'a.txt': numbers })
    const above = overlay(below)
    const edited = await createWorkspace({ backend: overlay(below), policy: 'autonomous' })
    const rules = [{ name: 'closed', permissions: ['file:read' as const], paths: ['a.txt'], action: 'deny' as const }]
    const workspace = await createWorkspace({ backend: above, policy: { preset: 'autonomous', rules } })
    const state = { type: 'file', bytes: new TextEncoder().encode(numbers.replace('one', 'ONE')) } as const
    await above.commit([{ path: 'a.txt' as Path, expect: 'any', to: state }], { durability: 'durable' })
    await write(edited, 'a.txt', numbers.replace('one', 'two'))
    await edited.commit()
    const refused = await workspace.merge()
    expect(refused).toMatchObject({ ok: false, code: 'POLICY_DENIED', path: 'a.txt' })
    expect(JSON.stringify(refused)).not.toContain('three')
  })

  it.each(isLong ? ['memory', 'node'] : ['memory'])(
    'is undone, repeated and rolled back by the workspace below: %s',
    async (place) => {
      const paths = ['a.txt', 'd/b.txt', 'd/e/c.txt']
      const edit = fc.record({
        tool: fc.constantFrom('write', 'delete', 'move', 'directory'),
        path: fc.constantFrom(...paths, 'd'),
        text: fc.constantFrom('one\n', 'two\n', numbers),
      })
      const edits = fc.array(edit, { maxLength: 6 })
      type Edit = typeof edit extends fc.Arbitrary<infer E> ? E : never
      const perform = async ({ files }: Workspace, all: readonly Edit[]) => {
        for (const { tool, path, text } of all) {
          const file = path === 'd' ? 'd/f.txt' : path
          if (tool === 'write') await files.write(file, text).catch(() => {})
          else if (tool === 'delete') await files.delete(path, { recursive: true }).catch(() => {})
          else if (tool === 'move') await files.rename(path, `m${path.length}`).catch(() => {})
          else await files.makeDirectory(`n/${path.length}`, { recursive: true }).catch(() => {})
        }
      }
      const treeOf = async ({ files }: Workspace) => {
        const tree: Record<string, string | undefined> = {}
        for await (const { path, type } of files.walk())
          tree[path] = type === 'file' ? await files.readText(path) : type
        return tree
      }
      let merges = 0
      await fc.assert(
        fc.asyncProperty(edits, edits, edits, fc.boolean(), async (start, below, above, isNested) => {
          const root = mkdtempSync(join(scratch, 'undo-'))
          const backend = place === 'memory' ? memory() : await nodeBackend(root)
          const workspace = await createWorkspace({ backend, policy: 'autonomous' })
          await perform(workspace, [{ tool: 'write', path: 'a.txt', text: numbers }, ...start])
          const origin = isNested ? await workspace.fork() : workspace
          const fork = await origin.fork()
          await perform(fork, above)
          await perform(origin, below)
          const before = await treeOf(origin)
          const checkpoint = origin.checkpoint()
          const merged = await fork.merge()
          const after = await treeOf(origin)
          // Nothing is undone where both sides have made the same changes.
          const isChanged = JSON.stringify(after) !== JSON.stringify(before)
          if (merged.ok && isChanged) {
            merges++
            expect(await fork.undo(merged.callId)).toMatchObject({ ok: false, code: 'NOT_FOUND' })
            const undone = await origin.undo(merged.callId)
            expect(undone).toMatchObject({ ok: true })
            expect(await treeOf(origin)).toEqual(before)
            expect(await origin.undo(undone.ok ? undone.callId : '')).toMatchObject({ ok: true })
            expect(await treeOf(origin)).toEqual(after)
            expect(await origin.rollback(checkpoint.id)).toMatchObject({ ok: true })
          }
          expect(await treeOf(origin)).toEqual(before)
          rmSync(root, { recursive: true })
        }),
        { numRuns: times(20, 1000) },
      )
      expect(merges).toBeGreaterThan(times(2, 10))
    },
  )

  it('is not undone over a later change', async () => {
    const workspace = await open({ 'a.txt': numbers })
    const fork = await workspace.fork()
    await write(fork, 'a.txt', 'merged\n')
    const merged = await fork.merge()
    await write(workspace, 'a.txt', 'later\n')
    expect(await workspace.undo(merged.ok ? merged.callId : '')).toMatchObject({ ok: false, code: 'WRITE_CONFLICT' })
    expect(await textAt(workspace, 'a.txt')).toBe('later\n')
  })

  it('refuses an answer for a file that is not in conflict, and answers without merge', async () => {
    const workspace = await open({ 'a.txt': 'a\n' })
    const fork = await workspace.fork()
    await write(fork, 'a.txt', 'b\n')
    expect(await fork.merge({ resolve: { 'b.txt': 'x' } })).toMatchObject({ code: 'INVALID_INPUT', path: 'b.txt' })
    expect(await fork.commit({ resolve: { 'a.txt': 'x' } })).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await fork.commit({ merge: 'yes' } as never)).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await workspace.merge()).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await textAt(workspace, 'a.txt')).toBe('a\n')
  })

  const kinds = oneOfEach(hiddenCases, ({ kind }) => kind)
  const sides: Readonly<Record<string, readonly [base: string | null, ours: string, theirs: string]>> = {
    'beside the changes': ['KEY\nx\n', 'KEY\nours\n', 'KEY\ntheirs\n'],
    'in the base': ['KEY\n', 'ours\n', 'theirs\n'],
    'in a side': ['x\n', 'ours\n', 'KEY\n'],
    'in both sides': ['x\n', 'KEY\nours\n', 'KEY\ntheirs\n'],
    'in two new files': [null, 'KEY\nours\n', 'theirs\nKEY\n'],
  }

  it.each(everyNth(Object.entries(sides), 3))('shows no secret of the files in conflict: %s', async (_, contents) => {
    const failed: unknown[] = []
    for (const { kind, before, secret, after } of kinds) {
      const [base, ours, theirs] = contents.map(
        (text) => text?.replace('KEY', () => `${before}${secret}${after}`) ?? null,
      )
      const workspace = await open(typeof base === 'string' ? { 'a.txt': base } : {})
      const fork = await workspace.fork()
      await workspace.files.write('a.txt', String(ours))
      await fork.files.write('a.txt', String(theirs))
      const result = await fork.merge()
      const shown = JSON.stringify(result)
      const pieces = secret.split('\n').flatMap((line) => windowsOf(line, 12))
      const piece = pieces.find((each) => shown.includes(each) && !redact(String(ours) + theirs).text.includes(each))
      if (piece !== undefined || result.ok || !/\[REDACTED:/.test(shown)) failed.push([kind, piece, shown])
      // An answer made of what was shown would lose the secret.
      for (const text of result.ok ? [] : Object.values(result.conflicts?.[0] ?? {})) {
        if (text?.includes('[REDACTED:') !== true) continue
        const answer = await fork.merge({ resolve: { 'a.txt': text } })
        if (answer.ok || answer.code !== 'POLICY_DENIED_SECRET') failed.push([kind, text, answer])
      }
    }
    expect(failed).toEqual([])
  })
})

const names = ['a.txt', 'b.txt', 'c/d.txt']
/** A text whose lines differ: where lines repeat, git merge pairs others than git merge-file. */
const text = fc.integer({ min: 0, max: 12 }).map((length) => Array.from({ length }, (_, index) => `line ${index}\n`))
const splice = fc.record({
  at: fc.nat({ max: 12 }),
  removed: fc.nat({ max: 2 }),
  added: fc.array(fc.constantFrom('x\n', 'y\n', 'z\n'), { maxLength: 1 }),
})
const side = fc.dictionary(
  fc.constantFrom(...names),
  fc.oneof({ weight: 5, arbitrary: fc.array(splice, { maxLength: 3 }) }, { weight: 1, arbitrary: fc.constant(null) }),
)

/** Files share no lines, because git would take a similar file elsewhere for a renamed one. */
const lineIn = (name: string, line: string): string => `${name} ${line}`

function editedTree(
  tree: Record<string, string>,
  edits: Record<string, { at: number; removed: number; added: string[] }[] | null>,
) {
  const result: Record<string, string> = { ...tree }
  for (const [name, splices] of Object.entries(edits)) {
    if (splices === null) {
      delete result[name]
      continue
    }
    const lines = (result[name] ?? '').split(/(?<=\n)/).filter((line) => line !== '')
    for (const { at, removed, added } of splices)
      lines.splice(at % (lines.length + 1), removed, ...added.map((line) => lineIn(name, line)))
    result[name] = lines.join('')
  }
  return result
}

describe('a merge of generated trees', () => {
  const env = {
    ...process.env,
    ...{ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a' },
    ...{ GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a' },
  }

  it('has the result and the conflicts of git merge', async () => {
    const repository = join(scratch, 'repository')
    mkdirSync(repository)
    const git = (...words: string[]) => outputOf('git', words, { cwd: repository, env }).toString()
    git('init', '-q')
    /** Writes a commit without a work tree. */
    const commit = (tree: Record<string, string>, ...parents: string[]): string => {
      const stream = Object.entries(tree).map(
        ([path, content]) => `M 100644 inline ${path}\ndata ${Buffer.byteLength(content)}\n${content}\n`,
      )
      const [parent] = parents
      const head = `commit refs/heads/x\ncommitter a <a> 0 +0000\ndata 0\n${parent === undefined ? '' : `from ${parent}\ndeleteall\n`}`
      const reset = parent === undefined ? 'reset refs/heads/x\n' : `reset refs/heads/x\nfrom ${parent}\n`
      outputOf('git', ['fast-import', '--quiet', '--force'], {
        cwd: repository,
        env,
        input: `${reset}\n${head}${stream.join('')}\n`,
      })
      return git('rev-parse', 'refs/heads/x').trim()
    }
    let conflicting = 0
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom(...names), text, { minKeys: 1 }),
        side,
        side,
        async (lines, oursEdits, theirsEdits) => {
          const base = Object.fromEntries(
            Object.entries(lines).map(([name, content]) => [name, content.map((line) => lineIn(name, line)).join('')]),
          )
          const [ours, theirs] = [editedTree(base, oursEdits), editedTree(base, theirsEdits)]
          const root = commit(base)
          const [ourCommit, theirCommit] = [commit(ours, root), commit(theirs, root)]
          const merged = runProgram(
            'git',
            ['merge-tree', '--write-tree', '--name-only', '-z', '--no-messages', ourCommit, theirCommit],
            { cwd: repository, env },
          )
          const [tree = '', ...conflicts] = merged.stdout
            .toString()
            .split('\0')
            .filter((name) => name !== '')
          const workspace = await open(base)
          const fork = await workspace.fork()
          for (const [path, content] of changesOf(base, theirs)) await write(fork, path, content)
          for (const [path, content] of changesOf(base, ours)) await write(workspace, path, content)
          const result = await fork.merge()
          if (conflicts.length > 0) conflicting += 1
          expect(result.ok ? [] : result.paths).toEqual([...conflicts].sort())
          if (!result.ok) return
          const listed = git('ls-tree', '-r', '--name-only', tree)
            .split('\n')
            .filter((name) => name !== '')
          for (const name of names)
            expect(await textAt(workspace, name)).toBe(
              listed.includes(name) ? git('show', `${tree}:${name}`) : undefined,
            )
        },
      ),
      { numRuns: times(6, 1_000) },
    )
    expect(conflicting).toBeGreaterThan(0)
  })
})

function* changesOf(from: Record<string, string>, to: Record<string, string>): Generator<[string, string | null]> {
  for (const name of names) if (from[name] !== to[name]) yield [name, to[name] ?? null]
}
