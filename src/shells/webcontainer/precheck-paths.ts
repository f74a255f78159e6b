import { classifyPath } from '../../files/classify/index.ts'
import { parsePath } from '../../paths/logical-path.ts'
import { analyzeCommand } from '../analysis/index.ts'
import type { ShellCommand } from '../types.ts'

/** Words of a line that are looked at. */
const MOST_WORDS = 500
/** Their words are what they say. */
const TALKERS: ReadonlySet<string> = new Set(['echo', 'printf', ':', 'true', 'false', 'export', 'cd'])

/**
 * Tries each protected file that a line plainly names, as its command would, so that the try is told and recorded: in the
 * container it finds nothing, and nobody sees it look. A name that is made only when the line runs is not known here.
 */
export async function recordProtectedReads({ line, cwd, files }: ShellCommand, root: string): Promise<void> {
  const { commands } = analyzeCommand(line, {}, { cwd, root, shell: 'bash' })
  const words = new Set<string>()
  for (const { name, args, cwd: place } of commands) {
    if (TALKERS.has(name) || place === undefined) continue
    for (const word of args) {
      if (words.size < MOST_WORDS && word !== null) {
        for (const path of pathsIn(word)) words.add(path.startsWith('/') ? path : join(place, path))
      }
    }
  }
  for (const word of words) {
    const path = word.startsWith(`${root}/`) ? word.slice(root.length + 1) : word
    if (!isProtected(path)) continue
    const stat = await files.stat(path, { noFollow: true }).catch(() => undefined)
    if (stat?.type === 'file') await files.read(path).catch(() => {})
  }
}

/** A word, and what follows in it where it sets an option. */
function pathsIn(word: string): string[] {
  const at = word.indexOf('=')
  return at === -1 ? [word] : [word, word.slice(at + 1)]
}

function join(cwd: string, path: string): string {
  return cwd === '' ? path : `${cwd}/${path}`
}

function isProtected(path: string): boolean {
  try {
    return classifyPath(parsePath(path)).protection === 'secret'
  } catch {
    return false
  }
}
