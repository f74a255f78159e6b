import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { nodeBackend } from '../../../src/backends/node/index.ts'
import type { Step } from '../../../src/backends/node/journal-steps.ts'
import { bootId } from '../../../src/backends/node/state-directory.ts'
import { sha256Text } from '../../../src/files/hash/sha256.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import type { Change } from '../../../src/storage/backend.ts'
import { refusing } from './system-calls.ts'
import { straysIn, treeOf } from './tree.ts'

const DEAD = 'de'.repeat(16)
const temp = (count: number) => `.wardspace-${DEAD.slice(0, 16)}${String(count).padStart(16, '0')}.tmp`
const bases: string[] = []

afterEach(() => {
  for (const base of bases.splice(0)) rmSync(base, { recursive: true, force: true })
})

/** A root after a first commit, and its state directory. */
async function used() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'recovery-')))
  bases.push(base)
  const root = join(base, 'root')
  mkdirSync(root)
  const stateDir = join(base, 'state')
  const backend = nodeBackend(root, { stateDir })
  const bytes = new TextEncoder().encode('old')
  await backend.commit([{ path: 'a' as Path, expect: 'any', to: { type: 'file', bytes } }], { durability: 'durable' })
  await backend.commit([{ path: 'b' as Path, expect: 'any', to: { type: 'file', bytes } }], { durability: 'durable' })
  await backend.close()
  const [own = ''] = readdirSync(stateDir)
  return { root, state: join(stateDir, own), reopen: () => reopen(root, stateDir) }
}

async function reopen(root: string, stateDir: string) {
  const backend = nodeBackend(root, { stateDir })
  await backend.stat('' as Path)
  await backend.close()
}

/** Creates the state files of a killed process: no socket answers for its claim. */
function leaveDead(state: string, options: { boot?: string; log?: unknown; lock?: boolean } = {}) {
  writeFileSync(join(state, `claim-${DEAD}`), `${DEAD}\n${options.boot ?? bootId()}\n1\n`)
  writeFileSync(join(state, `log-${DEAD}`), `${options.log === undefined ? '' : JSON.stringify(options.log)}\n`)
  if (options.lock) linkSync(join(state, `claim-${DEAD}`), join(state, 'lock'))
}

function leaveJournal(state: string, steps: readonly Step[], more: object = {}) {
  const text = JSON.stringify({ boot: bootId(), durable: true, steps, ...more })
  writeFileSync(join(state, 'journal'), `${sha256Text(text)}\n${text}`)
}

describe('files left by a killed process', () => {
  it('are removed if its log names them, and no others', async () => {
    const { root, state, reopen } = await used()
    mkdirSync(join(root, 'd'))
    for (const path of [temp(1), `d/${temp(2)}`, temp(3), 'ordinary']) writeFileSync(join(root, path), 'x')
    mkdirSync(join(root, temp(4)))
    writeFileSync(join(root, temp(4), 'x'), 'x')
    leaveDead(state, {
      log: [
        ['', temp(1)],
        ['d', temp(2)],
        ['', temp(4)],
        ['', 'ordinary'],
        ['none', temp(5)],
      ],
      lock: true,
    })
    await reopen()
    // Only logged files are removed, and only if their name is that of a temporary file.
    expect(straysIn(root)).toEqual([temp(3)])
    expect(readFileSync(join(root, 'ordinary'), 'utf8')).toBe('x')
    expect(readdirSync(state)).toEqual(['journal'])
  })

  it('are found by prefix after another boot, when the log may be lost', async () => {
    const { root, state, reopen } = await used()
    mkdirSync(join(root, 'deep/er'), { recursive: true })
    const foreign = `.wardspace-${'1'.repeat(32)}.tmp`
    for (const path of [temp(1), `deep/er/${temp(2)}`, foreign]) writeFileSync(join(root, path), 'x')
    leaveDead(state, { boot: 'another boot' })
    await reopen()
    expect(straysIn(root)).toEqual([foreign])
    expect(readdirSync(state)).toEqual(['journal'])
  })

  it('are kept while the process is alive', async () => {
    const { root, state, reopen } = await used()
    const alive = nodeBackend(root, { stateDir: join(state, '..') })
    await alive.commit([{ path: 'c' as Path, expect: 'any', to: { type: 'directory' } }], { durability: 'durable' })
    const claim = readdirSync(state).find((name) => name.startsWith('claim-')) ?? ''
    const own = `.wardspace-${claim.slice(6, 22)}${'0'.repeat(16)}.tmp`
    writeFileSync(join(root, own), 'being written')
    await reopen()
    expect(straysIn(root)).toEqual([own])
    expect(readdirSync(state)).toContain(claim)
    await alive.close()
  })
})

describe('a journal', () => {
  /** A staged set that replaces `a`, removes `b` and creates `new/c`, with the first `done` steps executed. */
  async function halfway(done: number) {
    const { root, state, reopen } = await used()
    const before = treeOf(root)
    writeFileSync(join(root, temp(1)), 'new a')
    writeFileSync(join(root, temp(4)), 'new c')
    linkSync(join(root, 'a'), join(root, temp(2)))
    const ino = (path: string) => lstatSync(join(root, path)).ino
    const steps: Step[] = [
      { do: 'remove', path: 'b' as Path, aside: ['' as Path, temp(3)], ino: ino('b') },
      { do: 'mkdir', path: 'new' as Path },
      {
        do: 'replace',
        path: 'a' as Path,
        temp: ['' as Path, temp(1)],
        ino: ino(temp(1)),
        backup: ['' as Path, temp(2)],
      },
      { do: 'create', path: 'new/c' as Path, temp: ['' as Path, temp(4)], ino: ino(temp(4)) },
    ]
    const { renameSync } = await import('node:fs')
    const acts = [
      () => renameSync(join(root, 'b'), join(root, temp(3))),
      () => mkdirSync(join(root, 'new')),
      () => renameSync(join(root, temp(1)), join(root, 'a')),
      () => renameSync(join(root, temp(4)), join(root, 'new/c')),
    ]
    for (const act of acts.slice(0, done)) act()
    leaveDead(state, { log: [1, 2, 3, 4].map((count) => ['', temp(count)]), lock: true })
    const after = new Map([
      ['a', 'file new a'],
      ['new', 'directory'],
      ['new/c', 'file new c'],
    ])
    return { root, state, steps, before, after, reopen }
  }

  for (const done of [0, 1, 2, 3, 4]) {
    it(`is rolled forward after ${done} of 4 steps, also if repeated`, async () => {
      const { root, state, steps, after, reopen } = await halfway(done)
      leaveJournal(state, steps)
      await reopen()
      expect(treeOf(root)).toEqual(after)
      leaveJournal(state, steps)
      await reopen()
      expect(treeOf(root)).toEqual(after)
      expect(readdirSync(state)).toEqual(['journal'])
    })

    it(`that was being rolled back is rolled back after ${done} of 4 steps`, async () => {
      const { root, state, steps, before, reopen } = await halfway(done)
      leaveJournal(state, steps, { undo: true })
      await reopen()
      expect(treeOf(root)).toEqual(before)
    })
  }

  it('that is torn is dropped, because no step was done', async () => {
    const { root, state, steps, before, reopen } = await halfway(0)
    leaveJournal(state, steps)
    const whole = readFileSync(join(state, 'journal'), 'utf8')
    for (const cut of [10, 65, 66, whole.length - 1]) {
      writeFileSync(join(state, 'journal'), whole.slice(0, cut))
      await reopen()
      expect(treeOf(root)).toEqual(before)
    }
  })

  it('is rolled back if another process has taken a name, and keeps the file of that process', async () => {
    const { root, state, steps, before, reopen } = await halfway(2)
    writeFileSync(join(root, 'new/c'), 'somebody else’s')
    leaveJournal(state, steps)
    await reopen()
    const theirs = Buffer.from('somebody else’s').toString('latin1')
    expect(treeOf(root)).toEqual(new Map([...before, ['new', 'directory'], ['new/c', `file ${theirs}`]]))
  })

  it('is recovered before the next commit of a process that stayed open', async () => {
    const { root, state, steps, after } = await halfway(1)
    rmSync(join(state, 'lock'))
    const backend = nodeBackend(root, { stateDir: join(state, '..') })
    leaveJournal(state, steps)
    linkSync(join(state, `claim-${DEAD}`), join(state, 'lock'))
    await backend.commit([{ path: 'd' as Path, expect: 'any', to: { type: 'directory' } }], { durability: 'durable' })
    await backend.close()
    expect(treeOf(root)).toEqual(new Map([...after, ['d', 'directory']]))
  })

  it('that cannot be rolled back is kept with its files until it can be rolled back', async () => {
    for (const undo of [{ undo: true }, {}]) {
      const { root, state, steps, before } = await halfway(2)
      // Another program created `new/c`, so the commit cannot be completed either.
      if (undo.undo === undefined) writeFileSync(join(root, 'new/c'), 'theirs')
      leaveJournal(state, steps, undo)
      const backend = nodeBackend(root, { stateDir: join(state, '..') })
      const absent: Change = { path: 'none' as Path, expect: 'any', to: null }
      const commit = () => backend.commit([absent], { durability: 'durable' })
      const refused = refusing('renameSync', 'EIO', new RegExp(temp(3)), () => commit().catch(String))
      expect(await refused).toContain('Cannot take back a change that failed halfway')
      expect(readFileSync(join(root, temp(3)), 'utf8')).toBe('old')
      await commit()
      await backend.close()
      const theirs = [
        ['new', 'directory'],
        ['new/c', 'file theirs'],
      ] as const
      expect(treeOf(root)).toEqual(new Map([...before, ...(undo.undo ? [] : theirs)]))
    }
  })

  it('is ignored after another boot unless it was synced', async () => {
    for (const durable of [false, true]) {
      const { root, state, steps, before, after, reopen } = await halfway(0)
      leaveJournal(state, steps, { durable, boot: 'another boot' })
      await reopen()
      expect(treeOf(root)).toEqual(durable ? after : before)
    }
  })
})
