import { type CountedFile, diffStat } from './diff-stat.ts'
import type { LogEntry } from './provider.ts'

/** A commit with its changes as text. */
export interface PatchedCommit {
  readonly entry: LogEntry
  readonly diff: readonly (CountedFile & { readonly text: string })[]
}

/** Returns commits, oldest first, as the mails that `git am` takes and `git format-patch` writes: without those that change nothing. */
export function formatMails(commits: readonly PatchedCommit[]): string {
  const changing = commits.filter(({ diff }) => diff.length > 0)
  return changing.map((commit, index) => mailOf(commit, index + 1, changing.length)).join('')
}

function mailOf({ entry, diff }: PatchedCommit, number: number, count: number): string {
  const { commit, message, author } = entry
  const { subject, body } = partsOf(message)
  const prefix = count === 1 ? '[PATCH]' : `[PATCH ${String(number).padStart(String(count).length, '0')}/${count}]`
  const text = escaped(body)
  const headers = [
    `From ${commit} Mon Sep 17 00:00:00 2001`,
    `From: ${encoded(author.name)} <${author.email}>`,
    `Date: ${mailDate(author.at)}`,
    `Subject: ${prefix} ${encoded(subject)}`,
    ...(isAscii(text + diff.map((file) => file.text).join(''))
      ? []
      : ['MIME-Version: 1.0', 'Content-Type: text/plain; charset=UTF-8', 'Content-Transfer-Encoding: 8bit']),
  ]
  const stat = diffStat(diff)
  const patch = diff.map((file) => file.text).join('')
  return `${headers.join('\n')}\n\n${text}---\n${stat}\n${patch}-- \nwardspace\n\n`
}

/** The subject is the first paragraph, in one line, as in git. */
export function partsOf(message: string): { readonly subject: string; readonly body: string } {
  const [first = '', ...rest] = message
    .replace(/^\n+/, '')
    .trimEnd()
    .split(/\n[ \t]*\n/)
  return {
    subject: first
      .split('\n')
      .map((line) => line.trim())
      .join(' '),
    body: rest.join('\n\n').replace(/^\n+/, ''),
  }
}

/**
 * Indents the lines of a message that `git am` would take for the end of the message, for a patch, for another mail or for
 * headers: a message must not add changes.
 */
function escaped(body: string): string {
  if (body === '') return ''
  const lines = body.split('\n').map((line, index) => {
    const isMark = /^(---|diff -|Index: |>*From |-- $|@@ |\+\+\+ )/.test(line)
    const isHeader = index === 0 && /^[\w-]+[ \t]*:/.test(line)
    return isMark || isHeader ? ` ${line}` : line
  })
  return `${lines.join('\n')}\n\n`
}

function isAscii(text: string): boolean {
  return !/[^\x20-\x7e\s]/.test(text)
}

const MAX_ENCODED_BYTES = 45

/** Encodes a header as RFC 2047 does, in words of a bounded length, if it has other characters than those of ASCII. */
function encoded(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text) && !text.includes('=?')) return text
  const words: string[] = []
  let word = ''
  for (const character of text) {
    const bytes = [...new TextEncoder().encode(character)]
    const next = bytes.map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
    const plain = /^[A-Za-z0-9]$/.test(character) ? character : next
    if (word.length + plain.length > MAX_ENCODED_BYTES) {
      words.push(word)
      word = ''
    }
    word += plain
  }
  if (word !== '') words.push(word)
  return words.map((each) => `=?UTF-8?q?${each}?=`).join('\n ')
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function mailDate(at: number): string {
  const date = new Date(at)
  const time = date.toISOString().slice(11, 19)
  return `${DAYS[date.getUTCDay()]}, ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()} ${time} +0000`
}
