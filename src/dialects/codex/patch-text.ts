import { BEGIN_ENDING_LINES } from '../../patch/v4a.ts'

/**
 * Returns a patch as Codex reads it: without a heredoc around it, white space around markers (`  *** Update File: a.txt `) is
 * ignored, and updated files end with a newline. All other rows stay unchanged, and so do the numbers of the lines.
 */
export function normalizePatch(patch: string): string {
  const rows = patch.split('\n')
  const opening = rows.findIndex((row) => row.trim() !== '')
  if (HEREDOC.test(rows[opening]?.trim() ?? '')) {
    rows[opening] = ''
    const last = rows.findLastIndex((row) => row.trim() !== '')
    if (rows[last]?.trim() === 'EOF') rows[last] = ''
  }
  const begin = rows.findIndex((row) => row.trim() === '*** Begin Patch')
  if (begin === -1) return patch
  return rows.map((row, index) => (index === begin ? BEGIN_ENDING_LINES : markerOf(row))).join('\n')
}

const HEREDOC = /^<<(?:EOF|'EOF'|"EOF")$/
const MARKER = /^\*\*\* (?:(?:Add File|Delete File|Update File|Move to):(?: |$)|(?:End Patch|End of File)$)/

/** Returns a row without the white space around it if it is a marker. */
function markerOf(row: string): string {
  const text = row.trim()
  return MARKER.test(text) ? text : row
}

/** Returns a normalized patch with its relative paths below a directory. */
export function placePatch(patch: string, directory: string): string {
  if (directory === '.') return patch
  return patch.replace(
    /^(\*\*\* (?:Add File|Delete File|Update File|Move to): )(?!\/)/gm,
    `$1${directory.replaceAll('$', '$$$$')}/`,
  )
}
