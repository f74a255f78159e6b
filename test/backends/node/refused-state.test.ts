import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { canonicalOnDisk } from '../../../src/backends/node/canonical.ts'
import { nodeBackend } from '../../../src/backends/node/index.ts'
import { doStep, lstatAt, openPins, undoStep } from '../../../src/backends/node/journal-steps.ts'
import { openLock, unlinkIfThere } from '../../../src/backends/node/lock.ts'
import { removeTree } from '../../../src/backends/node/remove-tree.ts'
import { openRoot } from '../../../src/backends/node/root.ts'
import { stage } from '../../../src/backends/node/staging.ts'
import { bootId, openState, parseLog, statePath } from '../../../src/backends/node/state-directory.ts'
import { type LogicalPath, ROOT } from '../../../src/paths/logical-path.ts'
import {
  absent,
  afterwards,
  at,
  closeAfterEach,
  codeOf,
  commit,
  directory,
  link,
  move,
  place,
  put,
  relaxed,
  told,
} from './setup.ts'
import { meddling, onPlatform, refusing } from './system-calls.ts'
import { straysIn, treeOf } from './tree.ts'

closeAfterEach()

const DEAD = 'de'.repeat(16)
const OTHER = 'ad'.repeat(16)
const temp = (count: number) => `.wardspace-${DEAD.slice(0, 16)}${String(count).padStart(16, '0')}.tmp`
const claimOf = (id: string) => `${id}\n${bootId()}\n1\n`

/** A root after a first commit, closed again. */
async function used(files: Record<string, string> = {}) {
  const setup = place(files)
  await commit(setup.backend, absent('none'))
  await setup.backend.close()
  return { ...setup, state: setup.own() }
}

describe('an unusual storage', () => {
  const everything = [put('a', 'new'), put('n', 'n'), absent('b'), link('l', 'b'), ...move('c', 'd/c', 'c')]

  it('without hard links commits a set as a whole or not at all', async () => {
    const { root, backend, open } = place({ a: 'a', b: 'b', c: 'c', 'd/x': 'x' })
    symlinkSync('a', join(root, 'l'))
    await relaxed(backend, absent('none'))
    const unlinked = <T>(action: () => Promise<T>) => {
      const inRoot = (from: unknown) => String(from).includes('.tmp') || !String(from).includes('claim-')
      return refusing('linkSync', 'EPERM', inRoot, action)
    }
    const before = treeOf(root)
    const failing = () => unlinked(() => commit(backend, ...everything))
    expect(await codeOf(refusing('renameSync', 'EIO', (_from, to) => /\/n$/.test(String(to)), failing))).toBe(
      'BACKEND_ERROR',
    )
    expect(treeOf(root)).toEqual(before)
    await unlinked(() => commit(backend, ...everything))
    const after = treeOf(root)
    expect([...after]).toEqual([
      ['a', 'file new'],
      ['d', 'directory'],
      ['d/c', 'file c'],
      ['d/x', 'file x'],
      ['l', 'link b'],
      ['n', 'file n'],
    ])
    await unlinked(() => commit(backend, put('single', 'x')))
    expect(readFileSync(join(root, 'single'), 'utf8')).toBe('x')
    // A file that another process created in the meantime is not overwritten.
    const theirs = (real: () => unknown, _from: string, to: unknown) => {
      if (!String(to).endsWith('/late')) return real()
      writeFileSync(join(root, 'late'), 'theirs')
      throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
    }
    expect(await codeOf(meddling('linkSync', theirs, () => commit(backend, put('late', 'mine'))))).toBe(
      'WRITE_CONFLICT',
    )
    expect(readFileSync(join(root, 'late'), 'utf8')).toBe('theirs')
    // Other errors are reported.
    const moved = () => commit(backend, ...move('n', 'm', 'n'))
    expect(await codeOf(refusing('linkSync', 'EIO', /\/n$/, moved))).toBe('BACKEND_ERROR')
    await backend.close()
    expect(straysIn(root)).toEqual([])
    await open().stat(ROOT)
  })

  it('that fails to sync reports a single change, and rolls back a set', async () => {
    const { root, backend } = place({ a: 'a', 'd/x': 'x' })
    await commit(backend, absent('none'))
    const directories = (fd: unknown) => statSync(`/proc/self/fd/${fd}`).isDirectory()
    const unconfirmed = await told(refusing('fsync', 'EIO', directories, () => commit(backend, put('new', 'new'))))
    expect(unconfirmed.message).toContain('was made, but the storage does not confirm')
    expect(readFileSync(join(root, 'new'), 'utf8')).toBe('new')
    for (const code of ['EINVAL', 'EBADF']) {
      await refusing('fsync', code, directories, () => commit(backend, put('new', code)))
      expect(readFileSync(join(root, 'new'), 'utf8')).toBe(code)
    }
    const before = treeOf(root)
    // After the renames, directories cannot be synced, neither to complete the set nor to roll it back.
    let isBegun = false
    const begin = (real: () => unknown) => {
      isBegun = true
      return real()
    }
    const late = (fd: unknown) => isBegun && directories(fd)
    const set = () => commit(backend, put('a', 'other'), absent('d/x'), absent('d'))
    const outcome = meddling('renameSync', begin, () => codeOf(refusing('fsync', 'EIO', late, set)))
    expect(await outcome).toBe('BACKEND_ERROR')
    expect(treeOf(root)).toEqual(before)
  })

  it('syncs relaxed commits before a durable one, or fails that', async () => {
    const { backend } = place({ a: 'a' })
    await relaxed(backend, put('b', 'b'))
    const promise = () => codeOf(commit(backend, put('c', 'c')))
    expect(await refusing('fsync', 'EIO', /./, promise)).toBe('BACKEND_ERROR')
    expect(await refusing('openSync', 'EIO', /\/b$/, promise)).toBe('BACKEND_ERROR')
    const directories = (fd: unknown) => statSync(`/proc/self/fd/${fd}`).isDirectory()
    expect(await refusing('fsync', 'EIO', directories, promise)).toBe('BACKEND_ERROR')
    expect(await backend.stat(at('c'))).toBeUndefined()
    await commit(backend, put('c', 'c'))
  })

  it('that becomes full in the middle of a file keeps no partial file', async () => {
    const { root, backend } = place({ a: 'a' })
    for (const size of [10, 2_000_000]) {
      const nothing = (_real: () => unknown, _fd: string, ...more: unknown[]) => {
        const done = more.at(-1)
        if (typeof done !== 'function') return 0
        done(null, 0, more[0])
        return undefined
      }
      const name = size === 10 ? 'writeSync' : 'write'
      const inRoot = (real: () => unknown, fd: string, ...more: unknown[]) =>
        placeOf(fd).startsWith(`${root}/`) ? nothing(real, fd, ...more) : real()
      const full = meddling(name, inRoot, () => codeOf(relaxed(backend, put('a', 'x'.repeat(size)))))
      expect(await full).toBe('NO_SPACE')
      expect(treeOf(root)).toEqual(new Map([['a', 'file a']]))
    }
  })

  it('keeps the owner of a replaced file, if permitted', async () => {
    const { root, backend } = place({ a: 'a' })
    const own = lstatSync(join(root, 'a'))
    // Makes staged files appear to have another owner.
    const foreign = (real: () => unknown, fd: string) => {
      const stats = real() as Stats
      return placeOf(fd).includes('.wardspace-') ? Object.assign(stats, { uid: own.uid + 1 }) : stats
    }
    const inputs: unknown[] = []
    const note = (real: () => unknown, _fd: string, ...to: unknown[]) => {
      inputs.push(to)
      return real()
    }
    const replace = () => meddling('fstatSync', foreign, () => relaxed(backend, put('a', 'b')))
    await meddling('fchownSync', note, replace)
    expect(inputs).toEqual([[own.uid, own.gid]])
    await refusing('fchownSync', 'EPERM', /./, replace)
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('b')
  })

  it('names the action in its errors', async () => {
    const { backend } = place({ a: 'a', 'd/x': 'x' })
    const cases = [
      ['symlinkSync', [link('l', 'a')], 'Cannot link "l"'],
      ['symlinkSync', [link('l', 'a'), absent('a')], 'Cannot link "l"'],
      ['rmdirSync', [absent('d'), absent('d/x')], 'Cannot delete "d"'],
      ['mkdirSync', [directory('n'), absent('a')], 'Cannot create directory "n"'],
    ] as const
    for (const [name, set, message] of cases) {
      expect((await told(refusing(name, 'EIO', /./, () => relaxed(backend, ...set), 1))).message).toContain(message)
    }
    expect((await told(refusing('openSync', 'EIO', /\/d$/, () => relaxed(backend, put('d/n', ''))))).message).toContain(
      'input/output error',
    )
  })

  it('waits in the middle of a set while descriptors are short', async () => {
    const { root, backend } = place({ a: 'a', b: 'b' })
    await refusing('renameSync', 'EMFILE', /./, () => relaxed(backend, absent('a'), absent('b')), 2)
    expect(treeOf(root)).toEqual(new Map())
  })
})

describe('the state directory', () => {
  it('is private, or is not used', async () => {
    const { base, state, open } = await used()
    chmodSync(state, 0o755)
    await commit(open(), absent('none'))
    expect(statSync(state).mode & 0o777).toBe(0o700)
    const other = await used()
    renameSync(other.state, join(base, 'elsewhere'))
    symlinkSync(join(base, 'elsewhere'), other.state)
    expect((await told(commit(other.open(), absent('none')))).message).toContain('belongs to another user')
    expect(readdirSync(join(base, 'elsewhere'))).toEqual(['journal'])
  })

  it('that cannot be used is reported, and tried again at the next commit', async () => {
    const { root, backend } = place({ a: 'a' })
    const write = () => commit(backend, put('a', 'new'))
    for (const [name, where, message] of [
      ['openSync', /\/journal$/, 'the state directory cannot be used (EIO)'],
      ['openSync', /\/claim-/, 'the state directory cannot be used (EIO)'],
      ['mkdirSync', /./, 'the state directory cannot be used (EIO)'],
      ['linkSync', /\/claim-/, 'the state directory cannot hold a lock (EIO)'],
      ['readFileSync', /boot_id/, ''],
    ] as const) {
      if (message === '') await refusing(name, 'EIO', where, write)
      else expect((await told(refusing(name, 'EIO', where, write))).message).toContain(message)
      expect(readFileSync(join(root, 'a'), 'utf8')).toBe(message === '' ? 'new' : 'a')
    }
    // An error without a code is reported too.
    const broken = () => {
      throw new Error('secret')
    }
    const again = place()
    const error = await told(meddling('mkdirSync', broken, () => commit(again.backend, put('a', ''))))
    expect(error.message).toBe('Cannot commit: the state directory cannot be used (unknown)')
  })

  it('has the default location of the platform', async () => {
    const { base, root } = place()
    const opened = openRoot(root)
    afterwards(() => opened.access.close())
    try {
      vi.stubEnv('LOCALAPPDATA', join(base, 'local'))
      vi.stubEnv('XDG_STATE_HOME', join(base, 'xdg'))
      expect(await onPlatform('win32', () => statePath(opened, undefined))).toContain(join(base, 'local', 'wardspace'))
      expect(statePath(opened, undefined)).toContain(join(base, 'xdg', 'wardspace'))
      vi.stubEnv('LOCALAPPDATA', undefined)
      expect(await onPlatform('win32', () => statePath(opened, undefined))).toContain(join(base, 'xdg', 'wardspace'))
    } finally {
      vi.unstubAllEnvs()
    }
  })

  it('with a torn or unreadable log names no temporary files', () => {
    expect(parseLog('[["","a"]\n')).toEqual([])
    expect(parseLog('[["","a"]]\n')).toEqual([['', 'a']])
  })
})

describe('state of dead openings', () => {
  it('is found until it can be removed', async () => {
    const { root, state, open } = await used()
    writeFileSync(join(root, temp(1)), 'x')
    writeFileSync(join(state, `claim-${DEAD}`), claimOf(DEAD))
    writeFileSync(join(state, `log-${DEAD}`), `${JSON.stringify([['', temp(1)]])}\n`)
    const first = open()
    await refusing('unlinkSync', 'EBUSY', new RegExp(temp(1)), () => first.stat(ROOT))
    await first.close()
    expect(straysIn(root)).toEqual([temp(1)])
    await open().stat(ROOT)
    expect(straysIn(root)).toEqual([])
    expect(readdirSync(state).filter((name) => name.includes(DEAD))).toEqual([])
  })

  it('of this process stays logged until it, or the next process, can remove it', async () => {
    const { root, backend, open } = place({ a: 'a', b: 'b' })
    const stuck = /\.wardspace-[0-9a-f]+\.tmp$/
    await refusing('unlinkSync', 'EBUSY', stuck, async () => {
      await commit(backend, put('a', 'A'), put('b', 'B'))
      await commit(backend, put('a', 'AA'))
      await backend.close()
    })
    expect(straysIn(root).length).toBeGreaterThan(0)
    await open().stat(ROOT)
    expect([...treeOf(root)]).toEqual([
      ['a', 'file AA'],
      ['b', 'file B'],
    ])
  })

  it('counts as removed if it is gone, behind a link, or in a directory that cannot be listed', async () => {
    const { base, root, state, open } = await used({ 'd/x': 'x', 'e/y': 'y' })
    mkdirSync(join(base, 'outside'))
    writeFileSync(join(base, 'outside', temp(1)), 'theirs')
    symlinkSync('../outside', join(root, 'link'))
    for (const path of ['d', 'e']) writeFileSync(join(root, path, temp(2)), 'x')
    writeFileSync(join(state, `claim-${DEAD}`), `${DEAD}\nanother boot\n`)
    writeFileSync(join(state, `log-${DEAD}`), `${JSON.stringify([['link', temp(1)]])}\n`)
    await refusing('openSync', 'EACCES', /\/d$/, () => open().stat(ROOT))
    expect(readdirSync(join(base, 'outside'))).toEqual([temp(1)])
    expect(straysIn(root)).toEqual([`d/${temp(2)}`])
  })

  it('without a claim is removed after some time; a claim needs no log', async () => {
    const { state, open } = await used()
    const long = new Date(Date.now() - 3_600_000)
    for (const name of [`log-${OTHER}`, `take-${OTHER}`]) {
      writeFileSync(join(state, name), '')
      utimesSync(join(state, name), long, long)
    }
    writeFileSync(join(state, `log-${'ab'.repeat(16)}`), '')
    writeFileSync(join(state, `claim-${DEAD}`), claimOf(DEAD))
    const gone = (real: () => unknown, path: string) => {
      if (path.endsWith(`take-${OTHER}`)) unlinkSync(path)
      return real()
    }
    const backend = open()
    await meddling('lstatSync', gone, () => backend.stat(ROOT))
    await backend.close()
    expect(readdirSync(state).sort()).toEqual(['journal', `log-${'ab'.repeat(16)}`])
  })

  it('includes a lock without its claim; a lock of a live process does not block reads', async () => {
    const { state, open } = await used()
    writeFileSync(join(state, 'lock'), claimOf(DEAD))
    const finder = open()
    await finder.stat(ROOT)
    await finder.close()
    expect(readdirSync(state)).toEqual(['journal'])
    const alive = openState(state)
    afterwards(() => alive.close())
    const { close } = await openLock(alive, 1)
    linkSync(join(state, readdirSync(state).find((name) => name.startsWith('claim-')) ?? ''), join(state, 'lock'))
    const second = open()
    await second.stat(ROOT)
    await second.close()
    expect(readdirSync(state)).toContain('lock')
    // A claim that disappears in the meantime has no owner.
    writeFileSync(join(state, `claim-${OTHER}`), claimOf(OTHER))
    const third = open()
    await refusing('statSync', 'ENOENT', /claim-/, () => third.stat(ROOT))
    expect(readdirSync(state)).toContain(`claim-${OTHER}`)
    rmSync(join(state, 'lock'))
    await close('whole')
  })

  it('does not block reads if it is unreadable, but does after any other failure', async () => {
    const { state, open } = await used({ a: 'a' })
    writeFileSync(join(state, `claim-${DEAD}`), claimOf(DEAD))
    const reading = () => open().read(at('a'))
    expect((await refusing('mkdirSync', 'EACCES', /./, reading)).bytes.length).toBe(1)
    expect(await codeOf(refusing('readdirSync', 'EIO', /\/\.$/, reading))).toBe('BACKEND_ERROR')
  })
})

describe('the lock', () => {
  const opening = async (path: string, timeoutMs = 60_000) => {
    const state = openState(path)
    afterwards(() => state.close())
    const lock = await openLock(state, timeoutMs)
    return { state, lock }
  }

  it('passes from one holder to the next, and fails after a timeout or an abort', async () => {
    const { state: path } = await used()
    const one = await opening(path)
    const two = await opening(path)
    const hasty = await opening(path, 1)
    const order: string[] = []
    let others: Promise<unknown>[] = []
    await one.lock.hold(async (orphaned) => {
      order.push(`one ${orphaned}`)
      await expect(hasty.lock.hold(async () => order.push('never'))).rejects.toThrow('holds the lock')
      const gone = AbortSignal.abort()
      await expect(two.lock.hold(async () => order.push('never'), gone)).rejects.toThrow('cancelled')
      others = [two.lock.hold(async (left) => order.push(`two ${left}`))]
      for (let turn = 0; turn < 50; turn++) await new Promise((done) => setImmediate(done))
      order.push('one ends')
    })
    await Promise.all(others)
    expect(order).toEqual(['one false', 'one ends', 'two false'])
    for (const { lock } of [one, two, hasty]) await lock.close('whole')
  })

  it('is taken over from a dead holder, also repeatedly, but not from a live one', async () => {
    const { state: path } = await used()
    for (const id of [DEAD, OTHER]) writeFileSync(join(path, `claim-${id}`), claimOf(id))
    linkSync(join(path, `claim-${DEAD}`), join(path, 'lock'))
    linkSync(join(path, `claim-${OTHER}`), join(path, `break-${DEAD}`))
    const one = await opening(path)
    expect(await one.lock.hold(async (orphaned) => orphaned)).toBe(true)
    expect(readdirSync(path).filter((name) => name.startsWith('break-'))).toEqual([])
    await one.lock.close('whole')
    // A live process is taking it over at the moment.
    const alive = await opening(path)
    linkSync(join(path, `claim-${DEAD}`), join(path, 'lock'))
    linkSync(join(path, `claim-${alive.state.id}`), join(path, `break-${DEAD}`))
    const hasty = await opening(path, 1)
    await expect(hasty.lock.hold(async () => {})).rejects.toThrow('holds the lock')
    expect(readFileSync(join(path, 'lock'), 'latin1')).toBe(claimOf(DEAD))
    // The same applies if that process takes over from another one that died during its takeover.
    for (const guard of [DEAD, OTHER]) rmSync(join(path, `break-${guard}`), { force: true })
    writeFileSync(join(path, `claim-${OTHER}`), claimOf(OTHER))
    linkSync(join(path, `claim-${OTHER}`), join(path, `break-${DEAD}`))
    linkSync(join(path, `claim-${alive.state.id}`), join(path, `break-${OTHER}`))
    await expect(hasty.lock.hold(async () => {})).rejects.toThrow('holds the lock')
    expect(readFileSync(join(path, 'lock'), 'latin1')).toBe(claimOf(DEAD))
    rmSync(join(path, `break-${OTHER}`))
    const patient = await opening(path)
    // If the guard disappears while it is read, the lock is tried again.
    const vanish = (real: () => unknown, location: string) => {
      if (location.endsWith(`break-${DEAD}`)) unlinkSync(location)
      return real()
    }
    expect(await meddling('readFileSync', vanish, () => patient.lock.hold(async (orphaned) => orphaned))).toBe(true)
    for (const { lock } of [alive, hasty, patient]) await lock.close('whole')
  })

  it('is requested again if it was released or taken between two checks', async () => {
    const { state: path } = await used()
    const { lock } = await opening(path)
    writeFileSync(join(path, 'lock'), claimOf(DEAD))
    const vanish = (real: () => unknown, place: string) => {
      if (place.endsWith('/lock')) unlinkSync(place)
      return real()
    }
    expect(await meddling('readFileSync', vanish, () => lock.hold(async (orphaned) => orphaned))).toBe(false)
    await lock.close('whole')
    // The holder is dead at the first check, and another process has taken over at the second.
    const other = await opening(path)
    writeFileSync(join(path, 'lock'), claimOf(DEAD))
    let looks = 0
    const taken = (real: () => unknown, place: string) => {
      if (place.endsWith('/lock') && ++looks === 2) writeFileSync(join(path, 'lock'), claimOf(OTHER))
      return real()
    }
    expect(await meddling('readFileSync', taken, () => other.lock.hold(async (orphaned) => orphaned))).toBe(true)
    expect(looks).toBeGreaterThan(2)
    await other.lock.close('whole')
  })

  it('is not taken from a holder in an unknown state, and passes on storage failures', async () => {
    const { state: path } = await used()
    writeFileSync(join(path, 'lock'), claimOf(DEAD))
    symlinkSync(`sock-${DEAD}`, join(path, `sock-${DEAD}`))
    const { lock } = await opening(path, 1)
    await expect(lock.hold(async () => {})).rejects.toThrow('holds the lock')
    await expect(refusing('readFileSync', 'EIO', /\/lock$/, () => lock.hold(async () => {}))).rejects.toThrow('EIO')
    expect(() => unlinkIfThere(path)).toThrow()
    await lock.close('whole')
  })

  it('removes guards of dead openings at recovery, and keeps those of live ones', async () => {
    const { state: path, open } = await used()
    const alive = open()
    await commit(alive, absent('none'))
    const claim = readdirSync(path).find((name) => name.startsWith('claim-')) ?? ''
    writeFileSync(join(path, `claim-${DEAD}`), claimOf(DEAD))
    writeFileSync(join(path, `break-${OTHER}`), claimOf(DEAD))
    writeFileSync(join(path, `break-${DEAD}`), '')
    linkSync(join(path, claim), join(path, 'break-alive'))
    await open().stat(ROOT)
    expect(
      readdirSync(path)
        .filter((name) => name.startsWith('break-'))
        .sort(),
    ).toEqual(['break-alive', `break-${DEAD}`])
    for (const name of ['break-alive', `break-${DEAD}`]) rmSync(join(path, name))
  })
})

describe('single steps', () => {
  it('detect a name taken by another process, and keep its file when undone', () => {
    const { root } = place({ a: 'a', b: 'b', 'd/x': 'x' })
    const { access } = openRoot(root)
    const pins = openPins(access)
    afterwards(() => access.close())
    afterwards(() => pins.close())
    const ino = (path: string) => lstatSync(join(root, path)).ino
    expect(() => doStep(pins, { do: 'remove', path: at('a'), aside: [ROOT, temp(1)], ino: ino('b') })).toThrow(
      'another process changed it',
    )
    expect(() => doStep(pins, { do: 'mkdir', path: at('a') })).toThrow('another process changed it')
    expect(() => doStep(pins, { do: 'rmdir', path: at('d'), mode: 0o755 })).toThrow('ENOTEMPTY')
    // The step is done, but the process was killed before it removed the temporary name.
    linkSync(join(root, 'a'), join(root, temp(2)))
    doStep(pins, { do: 'create', path: at('a'), temp: [ROOT, temp(2)], ino: ino('a') }, 'again')
    const lost = { do: 'create', path: at('n'), temp: [ROOT, temp(4)], ino: 0 } as const
    expect(() => doStep(pins, lost), 'the staged file is gone').toThrow('another process changed it')
    expect(() => doStep(pins, lost, 'again')).toThrow('another process changed it')
    doStep(pins, { ...lost, path: at('a') }, 'again')
    const aside = { do: 'remove', path: at('b'), aside: [ROOT, temp(3)], ino: ino('b') } as const
    doStep(pins, aside)
    writeFileSync(join(root, 'b'), 'theirs')
    undoStep(pins, aside)
    rmSync(join(root, 'd'), { recursive: true })
    undoStep(pins, { do: 'rmdir', path: at('d'), mode: 0o750 })
    undoStep(pins, { do: 'rmdir', path: at('d'), mode: 0o750 })
    rmSync(join(root, temp(2)))
    expect(treeOf(root)).toEqual(
      new Map([
        ['a', 'file a'],
        ['b', 'file theirs'],
        ['d', 'directory'],
      ]),
    )
    const broken = () => {
      throw new Error('no system error')
    }
    return expect(meddling('mkdirSync', broken, () => doStep(pins, { do: 'mkdir', path: at('n') }))).rejects.toThrow(
      'no system error',
    )
  })

  it('distinguish unreadable from missing', () => {
    const { root } = place({ a: '' })
    expect(lstatAt(join(root, 'none'))).toBe(undefined)
    expect(() => lstatAt(join(root, 'x'.repeat(300)))).toThrow('ENAMETOOLONG')
  })

  it('work in directories that can be entered but not listed', async () => {
    const { root, backend } = place({ 'd/x': 'x' })
    const listing = (path: unknown, flags: unknown) => String(path).endsWith('/d') && Number(flags) < 0x200000
    await refusing('openSync', 'EACCES', listing, () => commit(backend, put('d/x', 'new'), put('d/y', 'y')))
    expect([...treeOf(root)]).toEqual([
      ['d', 'directory'],
      ['d/x', 'file new'],
      ['d/y', 'file y'],
    ])
  })

  it('remove a tree without following links put into it, on every platform', async () => {
    for (const platform of ['linux', 'darwin'] as const) {
      const { base, root } = place({ 't/a/b': 'b', 't/c': 'c', 'kept/x': 'x' })
      symlinkSync('../../kept', join(root, 't/a/link'))
      await onPlatform(platform, () => removeTree(join(root, 't')))
      removeTree(join(root, 'none'))
      expect([...treeOf(root).keys()]).toEqual(['kept', 'kept/x'])
      mkdirSync(join(root, 't'))
      const swap = (real: () => unknown, path: string) => {
        if (path === join(root, 't')) {
          renameSync(path, join(base, `t ${platform}`))
          symlinkSync('kept', path)
        }
        return real()
      }
      if (platform === 'linux') await meddling('openSync', swap, () => removeTree(join(root, 't')))
      expect(readFileSync(join(root, 'kept/x'), 'utf8')).toBe('x')
    }
    const { root } = place({ a: 'a' })
    await expect(refusing('unlinkSync', 'EPERM', /./, () => removeTree(join(root, 'a')))).rejects.toThrow('EPERM')
  })
})

describe('other platforms', () => {
  it.each(['darwin', 'win32'] as const)('%s: apply the same changes by other calls', async (platform) => {
    const { base, root } = place({ a: 'a', c: 'c', 'd/x': 'x' })
    // Too long for the path of a socket.
    const stateDir = join(base, 'state '.repeat(20).trim())
    await onPlatform('linux', () => mkdirSync(stateDir))
    const backend = await onPlatform(platform, () => nodeBackend(root, { stateDir }))
    expect(backend.capabilities.modes).toBe(platform === 'darwin')
    expect(backend.capabilities.caseSensitive).toBe(true)
    if (platform === 'win32') {
      // Only operations that need no named pipes.
      await onPlatform(platform, () => backend.list(ROOT))
      const [glance] = (await backend.statDirectories?.([ROOT], () => undefined)) ?? []
      expect([...(glance?.names ?? [])]).toEqual(['a', 'c', 'd'])
      expect(glance?.facts[1]).toBe(-1)
      expect(await backend.stat(at('a'))).not.toHaveProperty('mode')
      const { applied } = await commit(backend, put('a', 'new'))
      expect(applied[0]?.after).not.toHaveProperty('mode')
      await backend.close()
      return
    }
    const set = () => commit(backend, put('a', 'new'), ...move('c', 'd/c', 'c'), directory('e'))
    await onPlatform(platform, set)
    await onPlatform(platform, () => backend.close())
    expect([...treeOf(root).keys()]).toEqual(['a', 'd', 'd/c', 'd/x', 'e'])
  })

  it('win32: does not open directories or copy permission bits and owners', async () => {
    const { base } = place()
    const path = join(base, 'state')
    await onPlatform('win32', () => {
      const state = openState(path)
      state.claim()
      state.writeJournal('{}', true)
      expect(state.readJournal()).toBe('{}')
      expect(state.at('journal')).toBe(join(path, 'journal'))
      state.close()
    })
    const to = { type: 'file', bytes: new TextEncoder().encode('x'), mode: 0o700 } as const
    const old = { isFile: () => true, uid: -1, gid: -1 } as Stats
    const staged = join(base, 'staged')
    const unasked = () => refusing('fchmodSync', 'EPERM', /./, () => stage(staged, to, old, false))
    await onPlatform('win32', unasked)
    expect(readFileSync(staged, 'utf8')).toBe('x')
    rmSync(staged)
    await expect(unasked()).rejects.toThrow('EPERM')
    // A machine without a boot id has an empty one.
    expect(await refusing('readFileSync', 'ENOENT', /boot_id$/, () => bootId())).toBe('')
  })

  it('without /proc/self/fd check by path, and report missing features of a root', async () => {
    const { root, state } = place({ a: 'a' })
    const noLink = (where: RegExp) => (path: unknown) => where.test(String(path))
    const opened = () => nodeBackend(root, { stateDir: state })
    // Standard input may be closed, so /proc/self/fd/0 may be missing.
    const still = await refusing('readlinkSync', 'ENOENT', noLink(/fd\/0$/), opened)
    expect((await still.list(ROOT)).length).toBe(1)
    await still.close()
    const without = () => refusing('readdirSync', 'ENOENT', noLink(/^\/proc/), opened)
    const rechecked = await refusing('readlinkSync', 'ENOENT', noLink(/fd\/0$/), without)
    expect((await rechecked.list(ROOT)).length).toBe(1)
    await rechecked.close()
    await expect(refusing('openSync', 'EACCES', noLink(/root$/), opened)).rejects.toThrow(
      new TypeError('nodeBackend(): the root cannot be opened for reading'),
    )
  })

  it('with case-insensitive disks are detected, and spell names as stored', async () => {
    const { root } = place({ 'Read.Me': 'x', 'Dir/x': 'x', 1: '' })
    const fold = (path: string) => path.replace(/read\.me$/i, 'Read.Me').replace(/dir(?=\/|$)/i, 'Dir')
    const opened = openRoot(root, 'recheck')
    const insensitive = { ...opened, caseSensitive: false }
    const canonical = (path: string) => canonicalOnDisk(insensitive, path as LogicalPath, false)
    expect(canonical('Read.Me')).toBe('Read.Me')
    expect(canonical('none/below')).toBe('none/below')
    symlinkSync('.', join(root, 'here'))
    expect(canonical('here')).toBe('')
    mkdirSync(join(root, 'gone'))
    const pin = opened.access.pin(at('gone'))
    expect(pin.holds()).toBe(true)
    rmSync(join(root, 'gone'), { recursive: true })
    expect(pin.holds(), 'the directory no longer exists').toBe(false)
    pin.close()
    for (const altered of ['a.', 'con', 'NUL.txt', 'a~1', 'a?'])
      expect(() => canonical(altered)).toThrow('a name that this storage would alter')
    expect(await onPlatform('darwin', () => canonical('a~1'))).toBe('a~1')
    const { lstatSync: real } = await import('node:fs').then(({ default: fs }) => ({ lstatSync: fs.lstatSync }))
    const match = (_real: () => unknown, path: string, ...more: unknown[]) => real(fold(path), ...(more as []))
    expect(await meddling('lstatSync', match, () => canonical('READ.ME'))).toBe('Read.Me')
    expect(await meddling('lstatSync', match, () => openRoot(place({ 'Read.Me': '' }).root).caseSensitive)).toBe(false)
    await expect(refusing('readdirSync', 'EIO', /root$/, () => canonical('Read.Me'))).rejects.toThrow('EIO')
    // The path exists under a name that is not listed: the listed name of the same file is used, if there is one.
    const { base } = place()
    writeFileSync(join(base, 'elsewhere'), '')
    const alias = (_real: () => unknown, path: string, ...more: unknown[]) =>
      real(path.replace(/alias$/, 'Read.Me').replace(/.*ghost$/, join(base, 'elsewhere')), ...(more as []))
    expect(await meddling('lstatSync', alias, () => canonical('alias'))).toBe('Read.Me')
    expect(await meddling('lstatSync', alias, () => canonical('ghost'))).toBe('ghost')
    for (let nth = 0, isReached = true; isReached; nth++) {
      let count = 0
      const spelling = refusing(
        'lstatSync',
        'EIO',
        () => count++ === nth,
        () => canonical('Dir/x'),
      )
      const outcome = await Promise.resolve(spelling).catch(String)
      isReached = count > nth
      expect(outcome).toBe(isReached ? 'Error: EIO' : 'Dir/x')
    }
    // If no entry can be checked, the platform decides.
    const unknown = () => openRoot(root, 'recheck').caseSensitive
    const swapped = (path: unknown) => /rEAD|dIR|HERE|ROOT$/.test(String(path))
    expect(await refusing('lstatSync', 'EACCES', swapped, unknown)).toBe(true)
    for (const platform of ['darwin', 'win32'] as const)
      expect(await onPlatform(platform, () => refusing('lstatSync', 'EACCES', swapped, unknown))).toBe(false)
  })
})

/** The path of an open descriptor. */
function placeOf(fd: string): string {
  return readlinkSync(`/proc/self/fd/${fd}`)
}
