import { nameOf, type Path, parentOf } from '../../paths/logical-path.ts'
import type { DirectoryEntry } from '../../storage/backend.ts'
import type { StoredEntry } from '../../storage/plan-commit.ts'
import { wholeEntry, wholeNames } from '../../storage/stored-entry.ts'

/*
 * The tables of a workspace in a database: one row per entry, ordered by directory, and the contents of files in parts. Contents
 * are immutable and have numbers as keys.
 */

/** A value of a statement or of a row. SQLite returns bytes also as an `ArrayBuffer`, Postgres large numbers as text. */
export type SqlValue = Uint8Array | ArrayBuffer | string | number | bigint | null

/** A row, by the names of its columns. */
export type SqlRow = Readonly<Record<string, SqlValue>>

/** The two kinds of SQL that the statements are written in. */
export type SqlKind = 'sqlite' | 'postgres'

/** A statement with `?` for each of its values. */
export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** Small parts make it cheap to read a range of a large file. A Durable Object refuses rows over 2 MB. */
export const PART_BYTES = 256 * 1024

/** Maximum parts of one content: 16 GiB. */
const PARTS_PER_CONTENT = 2 ** 16

export const FORMAT = 1
const DIRECTORY_MODE = 0o755
const LINK_MODE = 0o777

const COLUMNS = ['parent', 'name', 'type', 'tag', 'at', 'mode', 'size', 'sha256', 'content', 'target']

/** A text in a row, behind a slash: drivers that decode rows by themselves may remove a byte order mark at its start. */
const read = (column: string) => `'/' || ${column} AS ${column}`
const ROW = [read('parent'), read('name'), ...COLUMNS.slice(2, -1), read('target')].join(', ')

/** Returns a text of a row without the slash before it. */
export function textOf(value: SqlValue | undefined): SqlValue | undefined {
  return typeof value === 'string' ? value.slice(1) : value
}

/** Returns the statements on the tables whose names begin with a prefix. */
export function tables(prefix: string, kind: SqlKind) {
  const [entries, parts, state] = ['entries', 'parts', 'state'].map((name) => `${prefix}_${name}`)
  const types =
    kind === 'sqlite'
      ? { text: 'TEXT', integer: 'INTEGER', time: 'NUMERIC', bytes: 'BLOB', end: ' WITHOUT ROWID' }
      : { text: 'TEXT COLLATE "C"', integer: 'BIGINT', time: 'DOUBLE PRECISION', bytes: 'BYTEA', end: '' }
  return {
    /** Statements that create the tables, unless they exist. */
    create: [
      `CREATE TABLE IF NOT EXISTS ${entries} (parent ${types.text} NOT NULL, name ${types.text} NOT NULL, ` +
        `type TEXT NOT NULL, tag ${types.integer} NOT NULL, at ${types.time} NOT NULL, mode INTEGER, ` +
        `size ${types.integer}, sha256 TEXT, content ${types.integer}, target TEXT, PRIMARY KEY (parent, name))${types.end}`,
      `CREATE TABLE IF NOT EXISTS ${parts} (id ${types.integer} PRIMARY KEY, bytes ${types.bytes} NOT NULL)`,
      `CREATE TABLE IF NOT EXISTS ${state} (id INTEGER PRIMARY KEY CHECK (id = 0), format INTEGER, next ${types.integer})`,
      `INSERT INTO ${state} VALUES (0, ${FORMAT}, 1) ON CONFLICT DO NOTHING`,
      `INSERT INTO ${entries} (parent, name, type, tag, at) VALUES ('', '', 'directory', 0, 0) ON CONFLICT DO NOTHING`,
    ],

    /** The format, and the next number for tags and contents. */
    state: `SELECT format, next FROM ${state}`,
    /** The same, for a transaction: no other one passes it in Postgres. A transaction of SQLite excludes others by itself. */
    lockedState: `SELECT format, next FROM ${state}${kind === 'postgres' ? ' FOR UPDATE' : ''}`,
    setNext: (next: number): Statement => ({ text: `UPDATE ${state} SET next = ?`, values: [next] }),

    entriesAt: (paths: readonly Path[]): Statement => ({
      text: `SELECT ${ROW} FROM ${entries} WHERE (parent, name) IN (${pairs(paths)})`,
      values: paths.flatMap(keyOf),
    }),
    /** The root is its own parent, with an empty name. */
    namesIn: (directory: Path): Statement => ({
      text: `SELECT ${read('name')}, type FROM ${entries} WHERE parent = ? AND name <> ''`,
      values: [directory],
    }),
    put: (rows: readonly (readonly [Path, StoredEntry<number>])[]): Statement => ({
      text:
        `INSERT INTO ${entries} (${COLUMNS.join(', ')}) VALUES ${rows.map(() => `(${marks(COLUMNS.length)})`).join(', ')} ` +
        `ON CONFLICT (parent, name) DO UPDATE SET ${COLUMNS.slice(2)
          .map((name) => `${name} = excluded.${name}`)
          .join(', ')}`,
      values: rows.flatMap(([path, entry]) => [...keyOf(path), ...valuesOf(entry)]),
    }),
    remove: (paths: readonly Path[]): Statement => ({
      text: `DELETE FROM ${entries} WHERE (parent, name) IN (${pairs(paths)})`,
      values: paths.flatMap(keyOf),
    }),

    partsAt: (ids: readonly number[]): Statement => ({
      // A larger one is none of ours, and must not fill the memory.
      text: `SELECT id, bytes FROM ${parts} WHERE id IN (${marks(ids.length)}) AND length(bytes) <= ${PART_BYTES}`,
      values: ids,
    }),
    putParts: (rows: readonly (readonly [number, Uint8Array])[]): Statement => ({
      text: `INSERT INTO ${parts} (id, bytes) VALUES ${rows.map(() => '(?, ?)').join(', ')}`,
      values: rows.flat(),
    }),
    removeContent: (content: number): Statement => ({
      text: `DELETE FROM ${parts} WHERE id >= ? AND id < ?`,
      values: [partId(content, 0), partId(content + 1, 0)],
    }),
  }
}

/** The statements of {@link tables}. */
export type Tables = ReturnType<typeof tables>

/** Returns the key of a part of a content. */
export function partId(content: number, part: number): number {
  return content * PARTS_PER_CONTENT + part
}

/** Returns the entry of a row. */
export function entryOf({ type, tag, at, mode, size, sha256, content, target }: SqlRow): StoredEntry<number> {
  const stat = { type, size: 0, mode: DIRECTORY_MODE, modifiedAt: numberOf(at), tag: String(tag) }
  if (type === 'directory') return wholeEntry({ type, stat })
  if (type === 'link') return wholeEntry({ type, stat: { ...stat, mode: LINK_MODE }, target: textOf(target) })
  const ofFile = { ...stat, size: numberOf(size), mode: numberOf(mode) }
  return wholeEntry({ type, stat: ofFile, sha256, content: numberOf(content) })
}

/** Postgres returns large numbers as text. */
function numberOf(value: SqlValue | undefined): number {
  return value == null || value === '' ? Number.NaN : Number(value)
}

/** Returns the entries of a directory from the rows of `namesIn`. */
export function namesOf(rows: readonly SqlRow[]): DirectoryEntry[] {
  return wholeNames(rows.map(({ name, type }) => ({ name: textOf(name), type })))
}

/** Returns bytes as a driver returned them as a plain `Uint8Array`. */
export function bytesOf(value: SqlValue | undefined): Uint8Array | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  if (!ArrayBuffer.isView(value)) return undefined
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
}

function keyOf(path: Path): [parent: string, name: string] {
  return [parentOf(path), nameOf(path)]
}

function valuesOf(entry: StoredEntry<number>): SqlValue[] {
  const { type, stat } = entry
  const ofFile = type === 'file' ? [stat.mode, stat.size, entry.sha256, entry.content] : [null, null, null, null]
  return [type, Number(stat.tag), stat.modifiedAt, ...ofFile, type === 'link' ? entry.target : null]
}

function marks(count: number): string {
  return Array(count).fill('?').join(', ')
}

/** A list of keys. SQLite takes row values as `VALUES` only. */
function pairs(paths: readonly Path[]): string {
  return `VALUES ${paths.map(() => '(?, ?)').join(', ')}`
}
