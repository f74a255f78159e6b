import type { ErrorCode } from '../../errors.ts'
import { sha256 } from '../../files/hash/sha256.ts'
import type { Backend, EntryState, Expectation } from '../../storage/backend.ts'
import { check, refused, same } from '../assert.ts'
import {
  at,
  type BackendCase,
  bytesOf,
  change,
  commit,
  directory,
  file,
  link,
  needs,
  snapshot,
  WRONG_SHA,
} from './case.ts'

/**
 * Every expectation for every existing state and every target state. A row has the outcome for the targets file, directory,
 * link and deletion: `ok`, or the error code.
 */
const table: Readonly<Record<Present, Readonly<Partial<Record<Expected, Row>>>>> = {
  'a missing path': {
    any: ['ok', 'ok', 'ok', 'ok'],
    absent: ['ok', 'ok', 'ok', 'ok'],
    'another sha256': all('WRITE_CONFLICT'),
    'another tag': all('WRITE_CONFLICT'),
  },
  'a file': {
    any: ['ok', 'ALREADY_EXISTS', 'ok', 'ok'],
    absent: all('ALREADY_EXISTS'),
    'its sha256': ['ok', 'ok', 'ok', 'ok'],
    'another sha256': all('WRITE_CONFLICT'),
    'its tag': ['ok', 'ok', 'ok', 'ok'],
    'another tag': all('WRITE_CONFLICT'),
  },
  'an empty directory': {
    any: ['IS_DIRECTORY', 'ok', 'IS_DIRECTORY', 'ok'],
    absent: all('ALREADY_EXISTS'),
    'another sha256': all('WRITE_CONFLICT'),
    'its tag': ['ok', 'ok', 'ok', 'ok'],
    'another tag': all('WRITE_CONFLICT'),
  },
  'a full directory': {
    any: ['IS_DIRECTORY', 'ok', 'IS_DIRECTORY', 'DIRECTORY_NOT_EMPTY'],
    absent: all('ALREADY_EXISTS'),
    'another sha256': all('WRITE_CONFLICT'),
    'its tag': ['DIRECTORY_NOT_EMPTY', 'ok', 'DIRECTORY_NOT_EMPTY', 'DIRECTORY_NOT_EMPTY'],
    'another tag': all('WRITE_CONFLICT'),
  },
  'a link': {
    any: ['ok', 'ALREADY_EXISTS', 'ok', 'ok'],
    absent: all('ALREADY_EXISTS'),
    'another sha256': all('WRITE_CONFLICT'),
    'its tag': ['ok', 'ok', 'ok', 'ok'],
    'another tag': all('WRITE_CONFLICT'),
  },
}

type Present = 'a missing path' | 'a file' | 'an empty directory' | 'a full directory' | 'a link'
type Expected = 'any' | 'absent' | 'its sha256' | 'another sha256' | 'its tag' | 'another tag'
type Outcome = 'ok' | ErrorCode
type Row = readonly [file: Outcome, directory: Outcome, link: Outcome, deletion: Outcome]

const targets: readonly EntryState[] = [file('target'), directory, link('elsewhere'), null]

/** One case for each existing state and expectation. */
export const matrixCases: readonly BackendCase[] = Object.entries(table).flatMap(([present, rows]) =>
  Object.entries(rows).map(
    ([expected, row]): BackendCase => ({
      name: `commit over ${present}, expecting ${expected}: ${outcomesOf(row)}`,
      ...(present === 'a link' ? { unless: needs('links') } : {}),
      async test({ backend }) {
        for (const [i, to] of targets.entries()) {
          if (to?.type === 'link' && !backend.capabilities.links) continue
          const path = `p${i}`
          await prepare(backend, path, present as Present)
          const before = await snapshot(backend)
          const expect = await expectation(backend, path, expected as Expected)
          const label = `target ${to?.type ?? 'deletion'}`
          const outcome = row[i] as Outcome
          if (outcome === 'ok') {
            await commit(backend, change(path, to, expect))
            same((await backend.stat(at(path)))?.type, to?.type, label)
          } else {
            const error = await refused(outcome, label, () => commit(backend, change(path, to, expect)))
            same(error.details.path, path, `path of the refusal for ${label}`)
            same(await snapshot(backend), before, `tree after ${label}`)
          }
        }
      },
    }),
  ),
)

/** `file ok, directory ALREADY_EXISTS, …`, or a single outcome if all targets have the same one. */
function outcomesOf(row: Row): string {
  const [first] = row
  if (row.every((outcome) => outcome === first)) return `${first} for every target`
  return ['file', 'directory', 'link', 'deletion'].map((target, i) => `${target} ${row[i]}`).join(', ')
}

async function prepare(backend: Backend, path: string, present: Present): Promise<void> {
  if (present === 'a file') await commit(backend, change(path, file('present')))
  if (present === 'a link') await commit(backend, change(path, link('somewhere')))
  if (present === 'an empty directory') await commit(backend, change(path, directory))
  if (present === 'a full directory') await commit(backend, change(path, directory), change(`${path}/in`, file('x')))
}

async function expectation(backend: Backend, path: string, expected: Expected): Promise<Expectation> {
  if (expected === 'any' || expected === 'absent') return expected
  if (expected === 'its sha256') return { sha256: sha256(bytesOf('present')) }
  if (expected === 'another sha256') return WRONG_SHA
  if (expected === 'another tag') return { tag: 'another tag' }
  const stat = await backend.stat(at(path))
  check(stat !== undefined, `stat of ${path}: expected the committed entry, got undefined`)
  return { tag: stat.tag }
}

function all(code: ErrorCode): Row {
  return [code, code, code, code]
}
