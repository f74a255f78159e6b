import { counted } from '../util/counted.ts'

/** A changed file with its counts. */
export interface CountedFile {
  readonly path: string
  readonly insertions: number
  readonly deletions: number
}

/** ` 2 files changed, 3 insertions(+), 1 deletion(-)`, as git counts. */
export function changeSummary(diff: readonly Pick<CountedFile, 'insertions' | 'deletions'>[]): string {
  const total = (name: 'insertions' | 'deletions') => diff.reduce((sum, file) => sum + file[name], 0)
  const [insertions, deletions] = [total('insertions'), total('deletions')]
  const parts = [`${counted(diff.length, 'file')} changed`]
  if (insertions > 0 || deletions === 0) parts.push(`${counted(insertions, 'insertion')}(+)`)
  if (deletions > 0 || insertions === 0) parts.push(`${counted(deletions, 'deletion')}(-)`)
  return ` ${parts.join(', ')}\n`
}

/** A line for each file with the number of its changed lines, and the summary. Empty without changes. */
export function diffStat(changes: readonly CountedFile[]): string {
  if (changes.length === 0) return ''
  const width = Math.max(...changes.map(({ path }) => path.length))
  const rows = changes.map(({ path, insertions, deletions }) => {
    const all = insertions + deletions
    const scale = Math.min(1, 50 / Math.max(1, all))
    const signs = '+'.repeat(Math.ceil(insertions * scale)) + '-'.repeat(Math.ceil(deletions * scale))
    return ` ${path.padEnd(width)} | ${all}${signs === '' ? '' : ` ${signs}`}\n`
  })
  return rows.join('') + changeSummary(changes)
}
