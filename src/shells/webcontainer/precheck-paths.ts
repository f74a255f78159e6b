import { classifyPath } from '../../files/classify/index.ts'
import { parsePath } from '../../paths/logical-path.ts'
import { analyzeCommand } from '../analysis/index.ts'
import type { ShellCommand } from '../types.ts'

/** Maximum number of words that are checked per line. */
const MAX_WORDS = 500
/** Commands whose words are not names of files. */
const TEXT_COMMANDS: ReadonlySet<string> = new Set(['echo', 'printf', ':', 'true', 'false', 'export', 'cd'])

/**
 * Reads each protected file that a line names literally, as its command would, so that the refusal is listed and recorded.
 * The container does not contain these files, and access there is not observed. Names that are only known at run time are
 * not found.
 */
export async function recordProtectedReads({ line, cwd, files }: ShellCommand, root: string): Promise<void> {
  const { commands } = analyzeCommand(line, {}, { cwd, root, shell: 'bash' })
  const words = new Set<string>()
  for (const { name, args, cwd: directory } of commands) {
    if (TEXT_COMMANDS.has(name) || directory === undefined) continue
    for (const word of args) {
      if (words.size < MAX_WORDS && word !== null) {
        for (const path of pathsIn(word)) words.add(path.startsWith('/') ? path : join(directory, path))
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

/** Returns a word, and the part after its first `=`. */
function pathsIn(word: string): string[] {
  const equals = word.indexOf('=')
  return equals === -1 ? [word] : [word, word.slice(equals + 1)]
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
