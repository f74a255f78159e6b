import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished, TestRunner } from 'vitest'
import { type MemoryBackend, type MemoryEntry, memory } from '../../src/backends/memory/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { outputOf } from '../run-program.ts'

/** The environment of git in tests: no configuration of the machine, and always the same author and time. */
export const environment = {
  ...process.env,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
  // Otherwise every commit starts a second process, which looks for work.
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'maintenance.auto',
  GIT_CONFIG_VALUE_0: 'false',
}

/** Creates a directory that exists until the end of the test, or else of the suite. */
export function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'wardspace-git-'))
  const remove = () => rmSync(directory, { recursive: true, force: true })
  if (TestRunner.getCurrentTest() === undefined) afterAll(remove)
  else onTestFinished(remove)
  return directory
}

/** Runs the real git. */
export function git(cwd: string, ...args: string[]): string {
  return gitWith(cwd, '', ...args)
}

export function gitWith(cwd: string, input: string | Uint8Array, ...args: string[]): string {
  return outputOf('git', args, { cwd, env: environment, input }).toString()
}

export function newRepository(): string {
  const directory = temporary()
  git(directory, 'init', '-q', '-b', 'main')
  // In its only section.
  appendFileSync(join(directory, '.git/config'), '\tautocrlf = false\n')
  return directory
}

export function commitAll(directory: string, message = 'x'): string {
  git(directory, 'add', '-A', '-f')
  git(directory, 'commit', '-q', '--allow-empty', '-m', message)
  return git(directory, 'rev-parse', 'HEAD').trim()
}

/** Everything in a directory as entries of a memory backend, `.git` included unless left out. */
export function entriesOf(directory: string, withGit = true): Record<string, MemoryEntry> {
  const entries: Record<string, MemoryEntry> = {}
  const visit = (path: string) => {
    for (const entry of readdirSync(join(directory, path), { withFileTypes: true })) {
      const child = path === '' ? entry.name : `${path}/${entry.name}`
      if (child === '.git' && !withGit) continue
      if (entry.isDirectory()) visit(child)
      else if (entry.isSymbolicLink()) entries[child] = { link: readlinkSync(join(directory, child)) }
      else {
        const bytes = new Uint8Array(readFileSync(join(directory, child)))
        entries[child] = { bytes, mode: lstatSync(join(directory, child)).mode & 0o777 }
      }
    }
  }
  visit('')
  return entries
}

export function loaded(directory: string): MemoryBackend {
  return memory(entriesOf(directory))
}

/** The tree that git creates by applying a patch to a base commit, without writing files. */
export function treeAfterApply(directory: string, base: string, patch: string): string {
  const index = join(temporary(), 'index')
  const run = (input: string, ...args: string[]) =>
    outputOf('git', args, { cwd: directory, env: { ...environment, GIT_INDEX_FILE: index }, input })
      .toString()
      .trim()
  run('', 'read-tree', base)
  if (patch !== '') run(patch, 'apply', '--cached', '--whitespace=nowarn', '-')
  return run('', 'write-tree')
}

/** The tree that git creates from the working directory, without ignored files. */
export function treeOfFiles(directory: string): string {
  const index = join(temporary(), 'index')
  const run = (...args: string[]) =>
    outputOf('git', args, { cwd: directory, env: { ...environment, GIT_INDEX_FILE: index } })
      .toString()
      .trim()
  run('read-tree', 'HEAD')
  run('add', '-A', '.')
  return run('write-tree')
}

/** Writes all files of a backend to disk, so that the real git can read them. */
export async function onDisk(backend: Backend): Promise<string> {
  const directory = temporary()
  const visit = async (path: string) => {
    for (const { name, type } of await backend.list(path as Path)) {
      const child = (path === '' ? name : `${path}/${name}`) as Path
      if (type === 'directory') {
        mkdirSync(join(directory, child))
        await visit(child)
      } else writeFileSync(join(directory, child), (await backend.read(child)).bytes)
    }
  }
  await visit('')
  return directory
}
