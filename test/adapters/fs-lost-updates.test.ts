import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFs } from '../../src/adapters/fs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type WorkspaceRun } from '../../src/index.ts'
import { times } from '../counts.ts'

const open = (tree: Record<string, string>) =>
  createWorkspace({ backend: memory(tree), policy: 'autonomous', limits: { callsPerMinute: 1_000_000 } })
type Handle = Awaited<ReturnType<ReturnType<typeof createFs>['promises']['open']>>
type FsStream = ReturnType<ReturnType<typeof createFs>['createWriteStream']>

const ended = (stream: FsStream) =>
  new Promise<void>((resolve, reject) => {
    stream.on('close', resolve).on('error', reject).end()
  })

/** What the other run does with the file between the opening and the flush. */
const changes: Record<string, (run: WorkspaceRun, undo: () => Promise<unknown>) => Promise<unknown>> = {
  change: (run) => run.files.write('a', 'by another\n'),
  delete: (run) => run.files.delete('a'),
  rename: (run) => run.files.rename('a', 'b'),
  'replace by a directory': async (run) => {
    await run.files.delete('a')
    await run.files.makeDirectory('a')
  },
  replace: async (run) => {
    await run.files.write('c', 'another file')
    await run.files.rename('c', 'a', { overwrite: true })
  },
  undo: (_, undo) => undo(),
}

/** The ways to change the file that write later. Each returns what writes. */
const ways: Record<string, (fs: ReturnType<typeof createFs>) => Promise<() => Promise<unknown>>> = {}
for (const flag of ['r+', 'w', 'w+', 'a', 'a+']) {
  for (const end of ['close', 'sync'] as const) {
    ways[`${flag} ${end}`] = async ({ promises }) => {
      const handle = await promises.open('/a', flag)
      await handle.write('mine\n')
      return () => handle[end]()
    }
  }
  ways[`${flag} stream`] = async (fs) => {
    const stream = fs.createWriteStream('/a', { flags: flag })
    stream.write('mine\n')
    await new Promise<void>((resolve) => stream.once('ready', resolve))
    return () => ended(stream)
  }
  ways[`${flag} truncate`] = async ({ promises }) => {
    const handle = await promises.open('/a', flag)
    await handle.truncate(2)
    return () => handle.close()
  }
  ways[`${flag} after its own flush`] = async ({ promises }) => {
    const handle = await promises.open('/a', flag)
    await handle.write('x')
    await handle.sync()
    await handle.write('mine\n')
    return () => handle.close()
  }
}

describe('what another call wrote since a file was opened', () => {
  for (const [name, way] of Object.entries(ways)) {
    it(`is not lost by ${name}`, async () => {
      for (const [what, change] of Object.entries(changes)) {
        const workspace = await open({ a: 'old\n' })
        const [mine, other] = [workspace.run({ actor: 'mine' }), workspace.run({ actor: 'other' })]
        const made = await other.call('append_file', { path: 'a', content: 'undone later\n' })
        if (!made.ok) throw new Error(made.message)
        const isOwnLater = what === 'undo' && name.includes('own flush')
        const write = await way(createFs(mine))
        if (isOwnLater) continue
        await change(other, () => workspace.undo(made.callId))
        const states = () => Promise.all(['a', 'b'].map((path) => other.files.readText(path).catch((e) => e.code)))
        const before = await states()
        const isAppended =
          /^a\+? (close|sync|stream|after)/.test(name) && before[0] !== 'NOT_FOUND' && what !== 'replace by a directory'
        const outcome = await write().then(
          () => 'written',
          (error) => [error.code, error.cause?.code],
        )
        if (isAppended) {
          expect([outcome, await states()], what).toEqual(['written', [`${before[0]}mine\n`, before[1]]])
        } else {
          const isDirectory = what === 'replace by a directory'
          expect(outcome, what).toEqual(
            isDirectory ? [expect.stringMatching('EBUSY|EISDIR'), expect.any(String)] : ['EBUSY', 'WRITE_CONFLICT'],
          )
          expect(await states(), what).toEqual(before)
        }
        await workspace.close()
      }
    })
  }

  it('is not lost by a file that did not exist', async () => {
    for (const flag of ['w', 'wx', 'w+', 'a', 'ax', 'a+']) {
      const workspace = await open({})
      const handle = await createFs(workspace).promises.open('/a', flag)
      await handle.write('mine\n')
      await workspace.run({}).files.write('a', 'theirs\n')
      const outcome = await handle.close().then(
        () => 'written',
        (error) => error.code,
      )
      const appended = flag === 'a' || flag === 'a+'
      expect([outcome, await workspace.files.readText('a')], flag).toEqual(
        appended ? ['written', 'theirs\nmine\n'] : ['EBUSY', 'theirs\n'],
      )
      await workspace.close()
    }
  })

  it('stores no mark of a secret that was removed, replaced or deleted', async () => {
    const secret = (body: string) => `key ghp_${body}\nrest\n`
    for (const next of ['nothing\n', secret('Zq81LmPx02KdWvNsYtRb47HcJgUfAe93TiQo'), undefined]) {
      for (const flag of ['r+', 'a', 'a+']) {
        const workspace = await open({ t: secret('R4nD0mQ7wXz19KpLmVbTyUcE83sHgJfA62Nd') })
        const handle = await createFs(workspace).promises.open('/t', flag)
        await handle.write('REST')
        const other = workspace.run({}).files
        await (next === undefined ? other.delete('t') : other.write('t', next))
        await handle.close().catch((error) => expect(error.code).toBe('EBUSY'))
        const stored = await other.stat('t')
        expect(stored?.size).toBe(next === undefined ? undefined : next.length + (flag === 'r+' ? 0 : 4))
        await workspace.close()
      }
    }
  })

  it('keeps every line of logs that are appended to at the same time', async () => {
    const workspace = await open({ log: 'old\n' })
    const fs = createFs(workspace)
    const names = Array.from({ length: 12 }, (_, index) => `line ${index}\n`)
    const streams = names.map((name) => {
      const stream = fs.createWriteStream('/log', { flags: 'a' })
      stream.write(name)
      return stream
    })
    await Promise.all(streams.map(ended))
    const lines = (await workspace.files.readText('log')).split(/(?<=\n)/)
    expect(lines.sort()).toEqual([...names, 'old\n'].sort())
    await workspace.close()
  })

  it('leaves a handle that changes the permission bits able to write', async () => {
    const { promises } = createFs(await open({ a: 'old' }))
    await using handle = await promises.open('/a', 'r+')
    await handle.chmod(0o600)
    await handle.write('new')
    await handle.sync()
    await handle.write('er')
    await handle.sync()
    expect(await promises.readFile('/a', 'utf8')).toBe('newer')
  })
})

/** A step of one of two runs on one of two paths. */
const step = fc.oneof(
  fc.record({
    type: fc.constant('open' as const),
    run: fc.nat(1),
    path: fc.constantFrom('a', 'b'),
    flag: fc.constantFrom('r+', 'w', 'a', 'a+', 'w+'),
  }),
  fc.record({
    type: fc.constantFrom('put' as const, 'sync' as const, 'close' as const, 'cut' as const),
    which: fc.nat(9),
  }),
  fc.record({
    type: fc.constantFrom('write' as const, 'append' as const, 'delete' as const, 'undo' as const),
    run: fc.nat(1),
    path: fc.constantFrom('a', 'b'),
  }),
)

describe('two runs with handles, tools and undo', () => {
  it('lose no write of another call without EBUSY, and keep each appended line once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => {
        const workspace = await open({ a: 'first\n' })
        const runs = [workspace.run({ actor: 'one' }), workspace.run({ actor: 'two' })] as const
        const systems = runs.map((run) => createFs(run))
        const present = (path: string) => workspace.files.readText(path).catch(() => undefined)
        /** For each open handle, the content that it may replace, and whether it only appends. */
        const handles: {
          handle: Handle
          path: string
          known: string | undefined
          lines: string[]
          appends: boolean
        }[] = []
        const undoable: string[] = []
        let count = 0
        for (const each of steps) {
          if (each.type === 'open') {
            const known = await present(each.path)
            const handle = await systems[each.run]?.promises.open(`/${each.path}`, each.flag).catch(() => undefined)
            const appends = each.flag.startsWith('a')
            if (handle !== undefined) handles.push({ handle, path: each.path, known, lines: [], appends })
            continue
          }
          if ('which' in each) {
            const at = each.which % Math.max(1, handles.length)
            const target = handles[at]
            if (target === undefined) continue
            const { handle, path } = target
            const line = `<${count++}>\n`
            if (each.type === 'put') {
              await handle.write(line)
              target.lines.push(line)
              continue
            }
            if (each.type === 'cut') {
              await handle.truncate(3)
              Object.assign(target, { appends: false, lines: [] })
              continue
            }
            const before = await present(path)
            const error = await handle[each.type]().then(
              () => undefined,
              (failure) => failure,
            )
            const after = await present(path)
            if (error !== undefined) {
              expect([error.code, error.cause?.code]).toEqual(['EBUSY', 'WRITE_CONFLICT'])
              expect(after).toBe(before)
            } else if (target.appends) {
              expect(after ?? '').toBe((before ?? '') + target.lines.join(''))
              if (after !== before) Object.assign(target, { lines: [] })
            } else if (after !== before) {
              expect(before).toBe(target.known)
            }
            if (error === undefined) target.known = after
            if (each.type === 'close') handles.splice(at, 1)
            continue
          }
          const run = runs[each.run] as WorkspaceRun
          const content = `[${count++}]\n`
          if (each.type === 'write') await run.files.write(each.path, content)
          if (each.type === 'append') {
            const made = await run.call('append_file', { path: each.path, content })
            if (made.ok) undoable.push(made.callId)
          }
          if (each.type === 'delete') await run.files.delete(each.path).catch(() => {})
          if (each.type === 'undo') {
            const callId = undoable.pop()
            if (callId !== undefined) await workspace.undo(callId).catch(() => {})
          }
        }
        await workspace.close()
      }),
      { numRuns: times(30, 3000) },
    )
  })
})
