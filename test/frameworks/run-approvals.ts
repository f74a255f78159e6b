import type { ApprovalRow } from './approval-rows.ts'
import { startModelServer } from './model-server.ts'
import { blockOf, type Project, runProgram } from './run-row.ts'

/** What happened: the requests with the ids of their calls, the texts of the results, and the file at the end. */
export interface Seen {
  readonly requests: readonly string[]
  readonly results: readonly string[]
  readonly content: string
  /** All output, to explain a failure. */
  readonly output: string
}

/** Returns the lines of a row, with the names of its version. */
export function approvalCode(row: ApprovalRow): string {
  return (row.renamed ?? []).reduce((code, [from, to]) => code.replace(from, to), blockOf(row).code)
}

/** Runs the lines of a row with a model that reads a file, changes it, and reads it again. */
export async function runApprovals(row: ApprovalRow, project: Project): Promise<Seen> {
  const read = { name: 'read_file', input: { path: 'n.txt' } }
  const edit = { name: 'edit_file', input: { path: 'n.txt', oldText: '41', newText: '42' } }
  const server = await startModelServer([read, edit, read], 'It says 42.')
  try {
    const after = `console.log('content ' + (await workspace.files.readText('n.txt')))\nprocess.exit(0)`
    const output = await runProgram(`${approvalCode(row)}\n${after}`, project, server.env)
    return {
      requests: [...output.matchAll(/^edit_file (\S+)$/gm)].map(([, id]) => id ?? ''),
      results: server.received().first,
      content: /^content (.*)$/m.exec(output)?.[1] ?? '',
      output,
    }
  } finally {
    await server.close()
  }
}
