import type { DoorRow } from './door-rows.ts'
import { startModelServer } from './model-server.ts'
import { blockOf, type Project, runProgram } from './run-row.ts'

/** The page with the lines of the frameworks. */
export const doorPage = 'docs/guide/sandboxes.md'

/** The columns of the table of the page. */
export const doorColumns = ['list', 'read', 'write', 'run', 'refuse', 'ask', 'undo', 'cancel'] as const

/** The answer to each column: `yes`, `–` if the framework has no such tool, or what came instead. */
export type DoorCells = Readonly<Record<(typeof doorColumns)[number], string>>

/** Before the lines of the page: who is asked. */
const before = `
const asked = []
let stop
const answer = ({ tool }) => {
  asked.push(tool)
  if (stop === undefined) return 'allow'
  stop.abort()
  return new Promise(() => {})
}`

/** After the lines of the page: undoes the change, and makes it again in a call that is cancelled. */
const after = (cancel: string) => `
const content = async () => (await workspace.files.readText('n.txt')).trim()
const written = await content()
const changes = workspace.auditRecords().filter(({ pathsWritten }) => pathsWritten?.includes('n.txt'))
for (const id of new Set(changes.map(({ toolCallId }) => toolCallId).reverse())) await workspace.undo(id)
const undone = await content()
stop = new AbortController()
try {${cancel}
} catch {}
const cancelled = [stop.signal.aborted, workspace.auditRecords().at(-1)?.code, await content()]
console.log('\\npassed ' + JSON.stringify({ asked, written, undone, cancelled }))
process.exit(0)`

/** What the program saw. */
interface Seen {
  readonly asked: readonly string[]
  readonly written: string
  readonly undone: string
  readonly cancelled: readonly unknown[]
}

/** Runs the lines of a row with a model that calls the tools of the framework. */
export async function runDoor(row: DoorRow, project: Project): Promise<DoorCells> {
  const { list, read, refuse, write, run } = row.calls
  const server = await startModelServer(
    [list, read, refuse, write, run].flatMap((call) => call ?? []),
    'It says 42.',
  )
  try {
    const code = blockOf(row, doorPage)
      .code.replace("memory({ 'n.txt': '41\\n' })", "memory({ 'n.txt': '41\\n', '.env': 'A=1\\n' })")
      .replace("approve: () => 'allow', // ask a person here", 'approve: answer,')
      .replace('await workspace.close()\n', '')
    const output = await runProgram(`${before}\n${code}\n${after(row.cancel)}`, project, server.env)
    const line = /^passed (.*)$/m.exec(output)?.[1]
    const seen = line === undefined ? undefined : (JSON.parse(line) as Seen)
    const cell = (isRight: boolean, value: unknown) =>
      isRight ? 'yes' : `no: ${JSON.stringify(seen === undefined ? output.slice(-2000) : value)}`
    const results = server.received().first
    const [listed = '', shown = '', refused = '', changed = '', printed = ''] = list ? results : ['', ...results]
    return {
      list: list === undefined ? '–' : cell(listed.includes('n.txt'), listed),
      read: cell(shown.includes('41'), shown),
      write: cell(seen?.written === '42' && !changed.includes('DENIED'), [seen?.written, changed]),
      run: run === undefined ? '–' : cell(printed.includes('42'), printed),
      refuse: cell((row.refused ?? /POLICY_DENIED_SECRET/).test(refused), refused),
      ask: cell((seen?.asked.length ?? 0) > 0, seen?.asked),
      undo: cell(seen?.undone === '41', seen?.undone),
      cancel: cell(JSON.stringify(seen?.cancelled) === '[true,"ABORTED","41"]', seen?.cancelled),
    }
  } finally {
    await server.close()
  }
}
