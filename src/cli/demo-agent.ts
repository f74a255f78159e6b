import type { Success } from '../call/state/call.ts'
import type { ErrorCode, Failure } from '../errors.ts'

export type Act = (thought: string, name: string, input: Record<string, unknown>) => Promise<Success | Failure>

export interface DemoResult {
  readonly done: number
  readonly refused: number
  /** Calls that ended otherwise than they must. */
  readonly unexpected: number
  readonly diffs: readonly string[]
}

/**
 * An agent by script: only what it wants is written here. Whatever it works on, it found with the tools, and every
 * refusal is the workspace's own.
 */
export async function playAgent(act: Act): Promise<DemoResult> {
  const diffs: string[] = []
  let done = 0
  let refused = 0
  let unexpected = 0

  async function must(thought: string, name: string, input: Record<string, unknown>): Promise<Success> {
    const result = await act(thought, name, input)
    if (!result.ok) throw new Error(`${name} was refused: ${result.code} ${result.message}`)
    done += 1
    if (result.artifactUri !== undefined) diffs.push(result.artifactUri)
    return result
  }

  async function mustNot(
    thought: string,
    name: string,
    input: Record<string, unknown>,
    code: ErrorCode,
  ): Promise<void> {
    const result = await act(thought, name, input)
    refused += 1
    if (result.ok || result.code !== code) unexpected += 1
  }

  await must('What is here?', 'list_directory', { path: '.', maxDepth: 1 })
  const found = await must('Which sources are there?', 'find_files', {
    pattern: '**/*.{ts,tsx,js,mjs,py,go,rs,java,rb,c,h,md}',
    maxResults: 500,
  })
  const hits = await must('Where is something defined?', 'search_text', {
    query: '^\\s*(export\\s+)?(async\\s+)?(function|def|class|func|fn)\\s+\\w+',
    mode: 'regex',
    maxMatches: 50,
  })
  const path = pickFile(hits, found)
  const file = await must(`Let me read ${path}.`, 'read_file', { path, maxLines: 1000 })
  const line = uniqueLine(String(file.content))
  await mustNot('Change it at once.', 'edit_file', { path, oldText: line, newText: 'x' }, 'PLAN_MODE')
  await must('Then a plan first.', 'submit_plan', {
    plan: `Mark one line of ${path} as reviewed, and leave a note about it.`,
    paths: [path, 'notes/**'],
  })
  const edited = await must('A small change, on exactly the version I read.', 'edit_file', {
    path,
    oldText: line,
    newText: `${line} (reviewed)`,
    expectedSha256: file.sha256,
    reason: 'The demo marks one line',
  })

  await mustNot(
    'Again, but with the version from before.',
    'write_file',
    { path, content: 'all new\n', expectedSha256: file.sha256 },
    'WRITE_CONFLICT',
  )
  await mustNot(
    'Replace a piece of text that stands in many places.',
    'edit_file',
    { path, oldText: frequentText(String(file.content)), newText: 'x' },
    'EDIT_AMBIGUOUS',
  )
  await mustNot(
    'Replace what is not there.',
    'edit_file',
    { path, oldText: `${line} (which I misremember)`, newText: 'x' },
    'EDIT_NO_MATCH',
  )
  await mustNot('What lies above the workspace?', 'read_file', { path: '../../etc/passwd' }, 'PATH_REJECTED')
  await mustNot('The same, by a detour.', 'read_file', { path: 'a/../../b/../etc/passwd' }, 'PATH_REJECTED')
  await mustNot('Is there a password?', 'read_file', { path: '.env' }, 'POLICY_DENIED_SECRET')
  await mustNot(
    'Then copy it to where it can be read.',
    'copy_file',
    { path: '.env', to: 'notes/env.txt' },
    'POLICY_DENIED_SECRET',
  )
  await mustNot(
    'Mend the built file by hand.',
    'write_file',
    { path: 'dist/bundle.js', content: 'var answer=43;\n', expectedSha256: null },
    'POLICY_DENIED',
  )
  await mustNot(
    'Rewrite git itself.',
    'write_file',
    { path: '.git/hooks/post-checkout', content: 'echo hi\n' },
    'POLICY_DENIED',
  )
  await mustNot('A pattern made to hang.', 'search_text', { query: '(a+)+$(?=b)', mode: 'regex' }, 'INVALID_PATTERN')

  await mustNot('Then away with the whole file.', 'delete_file', { path }, 'APPROVAL_DENIED')

  const note = await must('Leave a note instead.', 'write_file', {
    path: 'notes/agent.md',
    content: `# Notes\n\nRead ${path}.\n`,
    expectedSha256: null,
  })
  await must('One more line.', 'append_file', {
    path: 'notes/agent.md',
    content: `Its version is now ${String(edited.newSha256).slice(0, 12)}.\n`,
    expectedSha256: note.newSha256,
  })
  await must('A better name.', 'move_file', { path: 'notes/agent.md', to: 'notes/wardspace.md' })
  await must('A spare copy.', 'copy_file', { path: 'notes/wardspace.md', to: 'notes/spare.md' })
  await must('One is enough.', 'delete_file', { path: 'notes/spare.md' })
  await must('Who earns what here?', 'read_file', { path: 'people/salaries.csv' })
  await mustNot(
    'Put that on the public page.',
    'write_file',
    { path: 'site/salaries.html', content: '<p>Ann earns 70000</p>\n', expectedSha256: null },
    'TAINT_DENIED',
  )
  return { done, refused, unexpected, diffs }
}

/** A short source file with a hit, or whatever was found. */
function pickFile(hits: Success, found: Success): string {
  const matches = hits.matches as { path: string }[]
  const paths = found.files as string[]
  return matches.map(({ path }) => path).find((path) => !/test|spec/.test(path)) ?? paths[0] ?? 'README.md'
}

/** The longest line that stands only once in the text. */
function uniqueLine(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.includes('[REDACTED:'))
  const unique = lines.filter((line) => text.split(line).length === 2)
  return unique.reduce(
    (longest, line) => (line.length > longest.length && line.length < 100 ? line : longest),
    unique[0] ?? '',
  )
}

/** A word that stands more than once in the text. */
function frequentText(text: string): string {
  const words = text.match(/\w{2,}/g) ?? []
  return words.find((word) => text.split(word).length > 2) ?? text[0] ?? 'a'
}
