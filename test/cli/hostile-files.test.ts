import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { audit } from '../../src/cli/audit.ts'
import { loadConfig } from '../../src/cli/config.ts'
import { dialectOf } from '../../src/cli/dialect.ts'
import { replay } from '../../src/cli/replay.ts'
import { report } from '../../src/cli/report.ts'
import { tokenOf } from '../../src/cli/token.ts'
import { directoryParking } from '../../src/policy/directory-parking.ts'

let home = ''
let root = ''

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'wardspace-hostile-files-'))
  root = join(home, 'root')
  mkdirSync(root)
  writeFileSync(join(home, 'outside.json'), '{ "preset": "autonomous" }')
})

afterEach(() => {
  vi.restoreAllMocks()
  rmSync(home, { recursive: true, force: true })
})

/** Functions that create a special or extremely large file, by kind. */
const makers: Readonly<Record<string, (path: string) => void>> = {
  'a link to /dev/zero': (path) => symlinkSync('/dev/zero', path),
  'a link to a link to /dev/zero': (path) => {
    symlinkSync('/dev/zero', join(home, 'zero'))
    symlinkSync(join(home, 'zero'), path)
  },
  'a link to /dev/stdin': (path) => symlinkSync('/dev/stdin', path),
  'a link to /dev/tty': (path) => symlinkSync('/dev/tty', path),
  'a FIFO': (path) => void execFileSync('mkfifo', [path]),
  'a link to a FIFO': (path) => {
    execFileSync('mkfifo', [join(home, 'fifo')])
    symlinkSync(join(home, 'fifo'), path)
  },
  'a directory': (path) => mkdirSync(path),
  'a link to itself': (path) => symlinkSync(path, path),
  'a dangling link': (path) => symlinkSync(join(home, 'nothing'), path),
  'a file of ten gigabytes': (path) => {
    writeFileSync(path, '')
    truncateSync(path, 10 * 1024 ** 3)
  },
}

/** Links to regular files. They are refused unless the user names them. */
const linkMakers: Readonly<Record<string, (path: string) => void>> = {
  'a link to a file outside': (path) => symlinkSync('../outside.json', path),
  'a link to a file of the system': (path) => symlinkSync('/etc/hostname', path),
}

const names = ['wardspace.config.json', 'wardspace.config.toml', 'wardspace.config.yaml', 'wardspace.config.yml']

describe.each(Object.entries({ ...makers, ...linkMakers }))('a configuration that is %s', (kind, make) => {
  it('is refused if it is found in the root', async () => {
    for (const name of names) {
      make(join(root, name))
      await expect(loadConfig(root, undefined)).rejects.toThrow(/^Cannot read the policy file "/)
      await expect(loadConfig(root, undefined)).rejects.toBeInstanceOf(TypeError)
      rmSync(join(root, name), { recursive: true, force: true })
      for (const extra of ['zero', 'fifo']) rmSync(join(home, extra), { force: true })
    }
  })

  it('is refused if its path is passed, unless it is a link to a policy', async () => {
    const file = join(home, 'named.json')
    make(file)
    if (kind === 'a link to a file outside') rmSync(file)
    if (kind === 'a link to a file outside') symlinkSync('outside.json', file)
    const loading = loadConfig(root, file)
    if (kind === 'a link to a file outside') expect((await loading).policy).toMatchObject({ preset: 'autonomous' })
    else await expect(loading).rejects.toBeInstanceOf(TypeError)
  })
})

describe.each(Object.entries(makers))('a file that is %s', (kind, make) => {
  it('is refused as a dialect, recording or parked call', async () => {
    make(join(home, 'mine.mjs'))
    if (kind !== 'a file of ten gigabytes') {
      await expect(dialectOf(join(home, 'mine.mjs'))).rejects.toThrow(/^Cannot load the dialect/)
    }
    await expect(replay([join(home, 'mine.mjs'), '--root', root])).rejects.toThrow(/^Cannot read the recording/)
    rmSync(join(home, 'mine.mjs'), { recursive: true, force: true })
    for (const extra of ['zero', 'fifo']) rmSync(join(home, extra), { force: true })
    const parked = join(home, 'parked')
    mkdirSync(parked)
    make(join(parked, 'a.json'))
    // A dangling link is like a file that another process has just taken.
    if (kind === 'a dangling link') expect(directoryParking(parked).list()).toEqual([])
    else expect(directoryParking(parked).list).toThrow(/^Cannot read the parked call/)
  })

  it('is refused as an audit file', async () => {
    const file = join(home, 'audit.jsonl')
    make(file)
    vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const codes = await Promise.all([audit(['verify', file]), report([file])].map((run) => run.catch(() => 2)))
    expect(codes.every((code) => code !== 0)).toBe(true)
  })
})

describe('a token file', () => {
  it('is read up to the maximum length of a token', () => {
    const roots = [{ at: '', directory: root }]
    for (const kind of ['a link to /dev/zero', 'a directory', 'a link to itself', 'a file of ten gigabytes'] as const) {
      const file = join(home, `token of ${kind.replaceAll('/', '')}`)
      makers[kind]?.(file)
      expect(() => tokenOf(file, {}, roots)).toThrow(/^Cannot read the token file/)
    }
    writeFileSync(join(home, 'token'), 'correct-horse-battery\n')
    expect(tokenOf(join(home, 'token'), {}, roots).token).toBe('correct-horse-battery')
  })
})
