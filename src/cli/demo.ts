import { performance } from 'node:perf_hooks'
import { styleText } from 'node:util'
import { type MemoryEntry, memory } from '../backends/memory/index.ts'
import { nodeBackend } from '../backends/node/index.ts'
import { overlay } from '../backends/overlay/index.ts'
import type { Success } from '../call/state/call.ts'
import type { Failure } from '../errors.ts'
import { ancestorsOf, type Path, ROOT } from '../paths/logical-path.ts'
import type { ApprovalAnswer, ApprovalRequest } from '../policy/approval.ts'
import { approvalText } from '../policy/approval-text.ts'
import type { LabelPolicy } from '../policy/labels.ts'
import type { Backend, Change } from '../storage/backend.ts'
import { visibleFiles } from '../storage/walk.ts'
import { createWorkspace, type Workspace } from '../workspace/create-workspace.ts'
import { askInTerminal } from './ask.ts'
import { playAgent } from './demo-agent.ts'
import { parseOptions } from './options.ts'
import { reportTables } from './report-tables.ts'
import { oneRoot } from './roots.ts'

const MOST_FILES = 20_000
const LARGEST_FILE = 4 * 1024 * 1024

/** Added to the copy where the project has none, so that there is something to protect. */
const planted: Readonly<Record<string, string>> = {
  '.env': 'DATABASE_PASSWORD=not-a-real-one\n',
  'dist/bundle.js': '/* made by the build */\nvar answer=42;\n',
  'people/salaries.csv': 'name,salary\nAnn,70000\n',
  'README.md': '# A project\n\nThis project has no readme of its own.\nThe demo has planted this one.\n',
}

/** What is read about people may not flow to where everybody reads. */
const labels: LabelPolicy = {
  sources: [{ label: 'confidential', paths: ['people/**'] }],
  sinks: [{ name: 'published pages', ceiling: 'public', paths: ['site/**'] }],
}

/** `wardspace demo [DIR]`: an agent at work on a real project, given as DIR under an overlay, else on a copy in memory; the disk
 * is only read. */
export async function demo(words: string[]): Promise<number> {
  const { values, positionals } = parseOptions(words, 1)
  const directory = positionals[0] ?? oneRoot(values.root)
  const started = performance.now()
  const [backend, where] = positionals[0] === undefined ? await copied(directory, started) : await above(directory)
  const terminal = values.ask === true ? askInTerminal() : undefined
  const workspace = await createWorkspace({
    backend,
    policy: { preset: 'autonomous', labels, requireApprovalIf: ['deletesFile'] },
    mode: 'plan',
    approve: terminal?.approve ?? person,
    run: { actor: 'demo agent', task: { text: 'Look around, make a small change, and try what is not allowed' } },
  })
  say(`\n${styleText('bold', 'Wardspace')}  ${where}; the disk stays as it is.\n`)
  const result = await playAgent(narrated(workspace))
  say(`\n${styleText('bold', 'What changed')}\n`)
  for (const uri of result.diffs) {
    const diff = await workspace.call('read_file', { path: uri })
    /* v8 ignore else -- @preserve: the run that made an artifact can read it */
    if (diff.ok) say(colored(String(diff.content)))
  }
  const audit = workspace.verifyAudit()
  say(`\n${styleText('bold', 'The report of the run, from its audit')}\n\n${reportTables(workspace.report(), audit)}\n`)
  terminal?.close()
  await workspace.close()
  return audit.ok && result.unexpected === 0 ? 0 : 1
}

/** Who approves in the demo: plans, and the deletion of what the agent has made itself. */
function person(request: ApprovalRequest): ApprovalAnswer {
  const isOwn = request.accesses.every(({ asked }) => asked.startsWith('notes/'))
  for (const line of ['A person is asked:', ...approvalText(request).split('\n').slice(0, 12)]) {
    say(`      ${styleText('magenta', cut(line))}\n`)
  }
  say(`      ${styleText('magenta', isOwn ? '→ allowed, once' : '→ denied: mend it, do not delete it')}\n`)
  return isOwn
    ? { allow: 'once', by: 'the person of the demo' }
    : { deny: 'mend it, do not delete it', by: 'the person of the demo' }
}

/** A copy of the files in memory. */
async function copied(directory: string, started: number): Promise<[Backend, string]> {
  const files = await load(directory)
  const count = Object.keys(files).length
  const took = (performance.now() - started).toFixed(0)
  return [memory(files), `${count} files of ${directory} copied into memory in ${took} ms`]
}

/** The directory itself, with an overlay in memory that takes all changes. */
async function above(directory: string): Promise<[Backend, string]> {
  const draft = overlay(nodeBackend(directory))
  for (const [name, text] of Object.entries(planted)) {
    const path = name as Path
    if ((await draft.stat(path)) !== undefined) continue
    const changes: Change[] = [{ path, expect: 'absent', to: { type: 'file', bytes: new TextEncoder().encode(text) } }]
    for (const parent of ancestorsOf(path)) changes.push({ path: parent, expect: 'any', to: { type: 'directory' } })
    await draft.commit(changes, { durability: 'relaxed' })
  }
  return [draft, `an overlay over ${directory} takes all changes`]
}

async function load(directory: string): Promise<Record<string, MemoryEntry>> {
  const disk = nodeBackend(directory)
  try {
    const filters = { includeHidden: false, includeIgnored: false }
    const paths = await visibleFiles(disk, ROOT, { filters, see: () => true, enter: () => true, revision: 'demo' })
    const files: Record<string, MemoryEntry> = {}
    for (const path of paths.slice(0, MOST_FILES)) {
      const stat = await disk.stat(path)
      if (stat?.type === 'file' && stat.size <= LARGEST_FILE) files[path] = (await disk.read(path)).bytes
    }
    for (const [path, text] of Object.entries(planted)) files[path] ??= text
    return files
  } finally {
    await disk.close()
  }
}

/** A workspace's call that prints what was asked, what came of it, and how long it took. */
function narrated(workspace: Workspace) {
  let number = 0
  return async (thought: string, name: string, input: Record<string, unknown>): Promise<Success | Failure> => {
    number += 1
    say(
      `\n${styleText('dim', String(number).padStart(2))}  ${styleText('italic', thought)}\n    ${styleText('cyan', name)} ${shown(input)}\n`,
    )
    const started = performance.now()
    const result = await workspace.callTool(name, input)
    const time = styleText('dim', `${(performance.now() - started).toFixed(2)} ms`)
    if (result.ok) {
      say(`    ${styleText('green', '✓ allowed')}  ${result.summary}  ${time}\n`)
      for (const line of glimpse(result)) say(`      ${styleText('dim', line)}\n`)
    } else {
      say(
        `    ${styleText('red', `✗ ${result.code}`)}  ${result.message}  ${time}\n      ${styleText('yellow', `→ ${result.hint}`)}\n`,
      )
    }
    for (const warning of result.ok ? result.warnings : []) say(`      ${styleText('yellow', `! ${warning}`)}\n`)
    return result
  }
}

/** A few lines of what the agent sees. */
function glimpse(result: Success): string[] {
  const { content, matches, entries, files, diff } = result
  if (typeof diff === 'string') return diff.split('\n').slice(4, 12)
  if (typeof content === 'string') return content.split('\n').slice(0, 5).map(cut)
  if (Array.isArray(matches))
    return matches.slice(0, 4).map((m) => cut(`${m.path}:${m.line}: ${String(m.snippet).trim()}`))
  if (Array.isArray(entries))
    return [cut(entries.map((e) => (e.type === 'directory' ? `${e.path}/` : e.path)).join('  '))]
  if (Array.isArray(files)) return [cut(files.join('  '))]
  return []
}

function cut(line: string): string {
  return line.length > 110 ? `${line.slice(0, 109)}…` : line
}

function shown(input: Record<string, unknown>): string {
  return Object.entries(input)
    .map(([field, value]) => `${styleText('dim', `${field}:`)} ${cut(JSON.stringify(value)).slice(0, 60)}`)
    .join('  ')
}

function colored(diff: string): string {
  return diff
    .split('\n')
    .map((line) =>
      line.startsWith('+') ? styleText('green', line) : line.startsWith('-') ? styleText('red', line) : line,
    )
    .map((line) => `  ${line}\n`)
    .join('')
}

function say(text: string): void {
  process.stdout.write(text)
}
