import type { Success } from '../call/state/call.ts'
import type { ErrorCode, Failure } from '../errors.ts'

export type Act = (thought: string, name: string, input: Input) => Promise<Success | Failure>

export interface DemoResult {
  readonly done: number
  readonly refused: number
  /** Number of calls that should have been refused with a certain code, and were not. */
  readonly unexpected: number
  /** Artifact addresses of the diffs. */
  readonly diffs: readonly string[]
}

type Input = Readonly<Record<string, unknown>>

/** Results of earlier steps, by the `as` of the step. */
type Results = Readonly<Record<'files' | 'definitions' | 'file' | 'edit' | 'note', Success>>

/** One call of the scripted agent. */
interface Step {
  readonly thought: string
  readonly name: string
  readonly input: Input | ((results: Results) => Input)
  /** The error that the call must end with. Left out, it must succeed. */
  readonly refused?: ErrorCode
  /** Name under which later steps find the result. */
  readonly as?: keyof Results
}

/**
 * Plays a scripted agent: only its intentions are in the script. What it works on it finds with the tools, and every
 * refusal comes from the workspace.
 *
 * @throws Error if a call that must succeed is refused
 */
export async function playAgent(act: Act): Promise<DemoResult> {
  const results: Partial<Record<keyof Results, Success>> = {}
  const diffs: string[] = []
  let done = 0
  let refused = 0
  let unexpected = 0
  for (const { thought, name, input, refused: code, as } of steps) {
    const result = await act(thought, name, typeof input === 'function' ? input(results as Results) : input)
    if (code !== undefined) {
      refused += 1
      if (result.ok || result.code !== code) unexpected += 1
      continue
    }
    if (!result.ok) throw new Error(`${name} was refused: ${result.code} ${result.message}`)
    done += 1
    if (result.artifactUri !== undefined) diffs.push(result.artifactUri)
    if (as !== undefined) results[as] = result
  }
  return { done, refused, unexpected, diffs }
}

const steps: readonly Step[] = [
  { thought: 'What is here?', name: 'list_directory', input: { path: '.', maxDepth: 1 } },
  {
    thought: 'Which sources are there?',
    name: 'find_files',
    input: { pattern: '**/*.{ts,tsx,js,mjs,py,go,rs,java,rb,c,h,md}', maxResults: 500 },
    as: 'files',
  },
  {
    thought: 'Where is something defined?',
    name: 'search_text',
    input: {
      query: '^\\s*(export\\s+)?(async\\s+)?(function|def|class|func|fn)\\s+\\w+',
      mode: 'regex',
      maxMatches: 50,
    },
    as: 'definitions',
  },
  {
    thought: 'Let me read a source file.',
    name: 'read_file',
    input: (results) => ({ path: pickFile(results), maxLines: 1000 }),
    as: 'file',
  },
  {
    thought: 'Change it at once.',
    name: 'edit_file',
    input: (results) => ({ ...lineOf(results), newText: 'x' }),
    refused: 'PLAN_MODE',
  },
  {
    thought: 'Then a plan first.',
    name: 'submit_plan',
    input: (results) => ({
      plan: `Mark one line of ${pickFile(results)} as reviewed, and leave a note about it.`,
      paths: [pickFile(results), 'notes/**'],
    }),
  },
  {
    thought: 'A small change, on exactly the version I read.',
    name: 'edit_file',
    input: (results) => {
      const { path, oldText } = lineOf(results)
      const expectedSha256 = results.file.sha256
      return { path, oldText, newText: `${oldText} (reviewed)`, expectedSha256, reason: 'The demo marks one line' }
    },
    as: 'edit',
  },
  {
    thought: 'Again, but with the version from before.',
    name: 'write_file',
    input: (results) => ({ path: pickFile(results), content: 'all new\n', expectedSha256: results.file.sha256 }),
    refused: 'WRITE_CONFLICT',
  },
  {
    thought: 'Replace a text that occurs many times.',
    name: 'edit_file',
    input: (results) => ({
      path: pickFile(results),
      oldText: frequentText(String(results.file.content)),
      newText: 'x',
    }),
    refused: 'EDIT_AMBIGUOUS',
  },
  {
    thought: 'Replace a text that is not there.',
    name: 'edit_file',
    input: (results) => {
      const { path, oldText } = lineOf(results)
      return { path, oldText: `${oldText} (which I misremember)`, newText: 'x' }
    },
    refused: 'EDIT_NO_MATCH',
  },
  {
    thought: 'What is above the workspace?',
    name: 'read_file',
    input: { path: '../../etc/passwd' },
    refused: 'PATH_REJECTED',
  },
  {
    thought: 'The same, by a detour.',
    name: 'read_file',
    input: { path: 'a/../../b/../etc/passwd' },
    refused: 'PATH_REJECTED',
  },
  { thought: 'Is there a password?', name: 'read_file', input: { path: '.env' }, refused: 'POLICY_DENIED_SECRET' },
  {
    thought: 'Then copy it to where it can be read.',
    name: 'copy_file',
    input: { path: '.env', to: 'notes/env.txt' },
    refused: 'POLICY_DENIED_SECRET',
  },
  {
    thought: 'Change the built file by hand.',
    name: 'write_file',
    input: { path: 'dist/bundle.js', content: 'var answer=43;\n', expectedSha256: null },
    refused: 'POLICY_DENIED',
  },
  {
    thought: 'Rewrite git itself.',
    name: 'write_file',
    input: { path: '.git/hooks/post-checkout', content: 'echo hi\n' },
    refused: 'POLICY_DENIED',
  },
  {
    thought: 'A pattern made to hang.',
    name: 'search_text',
    input: { query: '(a+)+$(?=b)', mode: 'regex' },
    refused: 'INVALID_PATTERN',
  },
  {
    thought: 'Then delete the whole file.',
    name: 'delete_file',
    input: (results) => ({ path: pickFile(results) }),
    refused: 'APPROVAL_DENIED',
  },
  {
    thought: 'Leave a note instead.',
    name: 'write_file',
    input: (results) => ({
      path: 'notes/agent.md',
      content: `# Notes\n\nRead ${pickFile(results)}.\n`,
      expectedSha256: null,
    }),
    as: 'note',
  },
  {
    thought: 'One more line.',
    name: 'append_file',
    input: ({ edit, note }) => ({
      path: 'notes/agent.md',
      content: `Its version is now ${String(edit.newSha256).slice(0, 12)}.\n`,
      expectedSha256: note.newSha256,
    }),
  },
  { thought: 'A better name.', name: 'move_file', input: { path: 'notes/agent.md', to: 'notes/wardspace.md' } },
  { thought: 'A spare copy.', name: 'copy_file', input: { path: 'notes/wardspace.md', to: 'notes/spare.md' } },
  { thought: 'One is enough.', name: 'delete_file', input: { path: 'notes/spare.md' } },
  { thought: 'Who earns what here?', name: 'read_file', input: { path: 'people/salaries.csv' } },
  {
    thought: 'Put that on the public page.',
    name: 'write_file',
    input: { path: 'site/salaries.html', content: '<p>Ann earns 70000</p>\n', expectedSha256: null },
    refused: 'TAINT_DENIED',
  },
]

/** Returns a source file, other than a test, that defines something; otherwise the first file. */
function pickFile({ definitions, files }: Results): string {
  const matches = definitions.matches as { path: string }[]
  const paths = files.files as string[]
  return matches.map(({ path }) => path).find((path) => !/test|spec/.test(path)) ?? paths[0] ?? 'README.md'
}

/** Returns the file and the longest line of up to 100 characters that occurs once in it. */
function lineOf(results: Results): { path: string; oldText: string } {
  const text = String(results.file.content)
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.includes('[REDACTED:'))
  const unique = lines.filter((line) => text.split(line).length === 2)
  const oldText = unique.reduce(
    (longest, line) => (line.length > longest.length && line.length < 100 ? line : longest),
    unique[0] ?? '',
  )
  return { path: pickFile(results), oldText }
}

/** Returns a word that occurs more than once in the text. */
function frequentText(text: string): string {
  const words = text.match(/\w{2,}/g) ?? []
  return words.find((word) => text.split(word).length > 2) ?? text[0] ?? 'a'
}
