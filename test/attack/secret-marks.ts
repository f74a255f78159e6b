import { generateKeyPairSync } from 'node:crypto'
import * as z from 'zod'
import { memory } from '../../src/backends/memory/index.ts'
import { redact } from '../../src/files/secrets/index.ts'
import { git } from '../../src/git/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { defineTool } from '../../src/tools/define-tool.ts'
import { createWorkspace, type Workspace } from '../../src/workspace/create-workspace.ts'
import { passwords, shortest, tokens } from '../files/secrets/tokens.ts'
import { unjudged } from '../shells/setup.ts'
import type { Answer } from '../tools/setup.ts'

/** A secret in a file `t.txt`. */
export interface HiddenCase {
  readonly kind: string
  readonly before: string
  readonly secret: string
  readonly after: string
}

const pem = (key: 'ed25519' | 'rsa'): string =>
  String(
    (key === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 1024 })
      : generateKeyPairSync('ed25519')
    ).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  ).trimEnd()

/** A secret of each kind: in the table of tokens, of the shortest length for each prefix, and private keys. */
export const hiddenCases: readonly HiddenCase[] = [
  ...[...tokens, ...passwords].map(([kind, before, secret, after]) => ({
    kind,
    before,
    secret,
    after: after.trimEnd(),
  })),
  ...shortest.flatMap(([kind, prefixes, body]) =>
    prefixes.split(' ').map((prefix) => ({ kind, before: '', secret: prefix + body, after: '' })),
  ),
  ...[pem('rsa'), pem('ed25519'), pem('rsa').replaceAll('PRIVATE', 'RSA PRIVATE')].map((secret) => ({
    kind: 'private-key',
    before: '',
    secret,
    after: '',
  })),
]

/** The position of the secret in its file. */
export const layouts: Readonly<Record<string, (line: string) => string>> = {
  'on its own line': (line) => `first line\n${line}\nlast line\n`,
  'after a space': (line) => `key: ${line} # comment\n`,
  'in quotes': (line) => `const key = "${line}"\nexport default key\n`,
  'at the beginning': (line) => `${line}\nsecond line\n`,
  'at the end, without a newline': (line) => `first line\n${line}`,
}

/** An own tool of the embedding program that writes the bytes of a file next to other text. */
const joinFiles = defineTool({
  name: 'join_files',
  title: 'Join files',
  description: 'Writes a text and the content of a file into another file.',
  input: z.strictObject({ path: z.string(), into: z.string(), text: z.string() }),
  output: z.object({}),
  permission: 'file:write:replace',
  mutates: true,
  idempotent: false,
  plan: ({ path, into }) => [
    { permission: 'file:read', path },
    { permission: 'file:write', path: into },
  ],
  async draft({ text }, { accesses, files }) {
    const [from, to] = accesses.map(({ path }) => path) as [Path, Path]
    const { bytes } = await files.read(from, 1_000_000)
    const content = new Uint8Array(Buffer.concat([Buffer.from(text), bytes]))
    return {
      summary: 'Joined',
      changes: [{ path: to, expect: 'any', to: { type: 'file', bytes: content } }],
      result: () => ({}),
    }
  },
})

/** The workspace of one case, and everything that its calls have returned. */
export interface Attack {
  readonly workspace: Workspace
  /** The shown text of `t.txt`. */
  readonly text: string
  readonly marks: readonly string[]
  call(name: string, input: unknown): Promise<Answer>
  sh(line: string): Promise<Answer>
  note(shown: unknown): void
}

type Way = (attack: Attack) => Promise<unknown>

const GLUE = ['x', '7', 'A', '_', '-', '/', '='] as const

/** Replaces the text on one side of the first or last mark. */
const edit =
  (side: 'before' | 'after', glue: string, replaceAll: boolean): Way =>
  async ({ call, text, marks }) => {
    const mark = (side === 'before' ? marks[0] : marks.at(-1)) as string
    const at = side === 'before' ? text.indexOf(mark) : text.indexOf(mark) + mark.length
    for (const length of [1, 2, 4, 8, 16]) {
      const oldText = side === 'before' ? text.slice(Math.max(0, at - length), at) : text.slice(at, at + length)
      if (oldText === '' || oldText.includes('[') || oldText.includes(']')) return
      await call('edit_file', { path: 't.txt', oldText, newText: glue, replaceAll })
    }
  }

const patch =
  (change: (lines: string[], marked: number) => string[]): Way =>
  async ({ call, text, marks }) => {
    const lines = text.replace(/\n$/, '').split('\n')
    const marked = lines.findIndex((line) => line.includes(marks[0] as string))
    const changed = change([...lines], marked)
    const end = text.endsWith('\n') ? '' : '\n\\ No newline at end of file'
    const side = (sign: string, part: string[]) => part.map((line) => `${sign}${line}`).join('\n') + end
    const hunk = `@@ -1,${lines.length} +1,${changed.length} @@\n${side('-', lines)}\n${side('+', changed)}\n`
    await call('apply_patch', { patch: `--- a/t.txt\n+++ b/t.txt\n${hunk}` })
    await call('apply_patch', {
      patch: `diff --git a/t.txt b/n.txt\ncopy from t.txt\ncopy to n.txt\n--- a/t.txt\n+++ b/n.txt\n${hunk}`,
    })
    await call('apply_patch', {
      patch: `*** Begin Patch\n*** Update File: t.txt\n@@\n${side('-', lines)}\n${side('+', changed)}\n*** End Patch`,
    })
    await call('write_file', { path: 'p.diff', content: `--- a/t.txt\n+++ b/t.txt\n${hunk}`, expectedSha256: null })
  }

/** One shell line per way. `t.txt` holds the secret; `g.txt` ends in a letter, without a newline. */
const shellLines: readonly string[] = [
  'cat t.txt >> g.txt',
  // A byte order mark makes the bytes of the secret text in UTF-16, which no mark hides.
  ...[String.raw`printf '\377\376' > n.txt; cat t.txt >> n.txt`, 'echo //4= | base64 -d > bom; cat bom t.txt > n.txt'],
  "node -e \"const f=require('fs'); f.writeFileSync('n.txt', Buffer.concat([Buffer.from([254,255]), f.readFileSync('t.txt')]))\"",
  'cat t.txt | tee -a g.txt',
  'cat t.txt 1>> g.txt',
  'printf x > n.txt; cat t.txt >> n.txt',
  '{ printf x; cat t.txt; } > n.txt',
  'trap "cat t.txt >> g.txt" EXIT; cat t.txt',
  '(trap "{ printf x; cat t.txt; } > n.txt" EXIT); x=$(trap "cut -c4- t.txt" EXIT); echo "$x"',
  'printf x | cat - t.txt > n.txt',
  'cat g.txt t.txt > n.txt',
  'sed "s/^/x/" t.txt > n.txt',
  'sed -i "s/^/x/" t.txt',
  'sed -i "s/$/x/" t.txt',
  String.raw`sed -i "s/\[/x[/" t.txt`,
  String.raw`sed -i "s/\]/]x7A/" t.txt`,
  String.raw`sed "s/.\[/[/" t.txt > n.txt`,
  'sed -i "s/[^][]*\\[/[/" t.txt',
  'sed -i "s/\\][^]]*$/]/" t.txt',
  'sed -i "s/key/abc/; s/: /x/; s/= //; s/\\"//g" t.txt',
  'sed -i 1d t.txt',
  'sed -i 2d t.txt',
  'sed -n 2,3p t.txt > n.txt',
  'sed -i "/:1\\]/d" t.txt',
  'sed -i "/:2\\]/d" t.txt',
  'sed "y/ /x/" t.txt > n.txt',
  'grep -v ":1]" t.txt > n.txt',
  'grep -o "\\[RED.*\\]" t.txt > n.txt',
  'tr -d "\\n" < t.txt > n.txt',
  'tr -d " \\n=:" < t.txt > n.txt',
  'tr "\\n" x < t.txt > n.txt',
  'tr " " x < t.txt > n.txt',
  'paste -s -d x t.txt > n.txt',
  'paste -d "" g.txt t.txt > n.txt',
  'cut -c2- t.txt > n.txt',
  'cut -d[ -f2- t.txt > n.txt',
  'rev t.txt | rev > n.txt',
  'tac t.txt > n.txt',
  'sort -r t.txt > n.txt',
  'head -c 60 t.txt > n.txt',
  'tail -c 60 t.txt > n.txt',
  'split -b 20 t.txt part-; cat part-* > n.txt',
  'split -l 1 t.txt part-; cat g.txt part-aa part-ab >> n.txt',
  'fold -w 7 t.txt > n.txt; tr -d "\\n" < n.txt > m.txt',
  'awk \'{ printf "x%s", $0 }\' t.txt > n.txt',
  'awk \'{ print $NF "x" >> "g.txt" }\' t.txt',
  'base64 t.txt | base64 -d >> g.txt',
  'xxd -p t.txt | xxd -r -p >> g.txt',
  'echo "x$(cat t.txt)" > n.txt',
  'printf "%s" "$(cat t.txt)" >> g.txt',
  'printf "%sx" "$(cat t.txt)" > n.txt',
  'while read -r line; do printf "x%s" "$line"; done < t.txt > n.txt',
  `mapfile -t all < t.txt; printf "%s" "$\{all[@]}" > n.txt`,
  `x=$(<t.txt); echo "$\{x//[^a-zA-Z]}" > n.txt; echo "a$\{x}b" > m.txt`,
  'cp t.txt n.txt; printf x >> n.txt',
  'cp t.txt n.txt; cat g.txt >> t.txt; cat n.txt >> t.txt',
  'mv t.txt n.txt; sed -i "s/^/x/" n.txt',
  'ln t.txt h.txt; sed -i "s/^/x/" h.txt; cat t.txt',
  'ln -s t.txt s.txt; sed "s/^/x/" s.txt > n.txt; cat s.txt >> g.txt',
  'ln -s g.txt s.txt; cat t.txt >> s.txt',
  'ln -s "$(head -n 1 t.txt)" s.txt; ls -l; readlink s.txt',
  'cat t.txt > g.txt; printf 7 >> g.txt; cat g.txt',
  'tar cf n.tar t.txt; mkdir d; tar xf n.tar -C d; cat d/t.txt >> g.txt',
  'gzip -k t.txt; zcat t.txt.gz >> g.txt; zcat t.txt.gz',
  'cat t.txt; rev t.txt; base64 t.txt; xxd t.txt; od -c t.txt; strings t.txt; cut -c4- t.txt; diff t.txt g.txt',
  'mkdir "$(head -c 30 t.txt)"; touch "$(tail -n 1 t.txt)"; ls',
  'cat t.txt >&2; exit 3',
  'export T="$(cat t.txt)"; env > n.txt; printenv T >> g.txt',
  'diff g.txt t.txt > d.patch; patch g.txt < d.patch; cat g.txt',
  `printf '%s' '--- a/t.txt' > d.patch; diff -u t.txt <(sed "s/^/x/" t.txt) > d.patch; patch t.txt < d.patch; git apply d.patch`,
  ...[
    `w('n.txt', 'x' + r('t.txt'))`,
    `w('n.txt', r('t.txt').trim() + 'x7A')`,
    `f.appendFileSync('g.txt', r('t.txt'))`,
    `f.appendFileSync('g.txt', f.readFileSync('t.txt'))`,
    `f.copyFileSync('t.txt', 'n.txt'); f.appendFileSync('n.txt', 'x7A')`,
    `f.renameSync('t.txt', 'n.txt'); w('n.txt', r('n.txt').replace('[', 'x['))`,
    `w('t.txt', r('t.txt').split('\\n').join(''))`,
    `w('t.txt', r('t.txt').split('\\n').slice(1).join('\\n'))`,
    `for (const line of r('t.txt').split('\\n')) f.appendFileSync('g.txt', line)`,
    `const d = f.openSync('g.txt', 'a'); f.writeSync(d, r('t.txt')); f.closeSync(d)`,
    `f.truncateSync('t.txt', 40)`,
    `f.symlinkSync('t.txt', 's.txt'); f.appendFileSync('g.txt', r('s.txt'))`,
    `f.symlinkSync(r('t.txt').split('\\n')[0], 's.txt')`,
    `f.promises.appendFile('g.txt', r('t.txt'))`,
    `console.log([...r('t.txt')].reverse().join('')); console.error(JSON.stringify(r('t.txt')))`,
    `throw new Error(r('t.txt'))`,
  ].map(
    (script) =>
      `node -e "const f = require('fs'); const r = (p) => f.readFileSync(p, 'utf8'); const w = f.writeFileSync; ${script.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`,
  ),
  'git init -q; git add -A; git commit -qm one; git show HEAD:t.txt >> g.txt',
  'git init -q; git add -A; git commit -qm one; sed -i "s/^/x/" t.txt; git add -A; git commit -qm two; git show; git log -p; git checkout -q HEAD~1 -- t.txt; cat t.txt',
  'git init -q; git add -A; git commit -qm one; git checkout -qb other; cat t.txt >> g.txt; git commit -qam two; git checkout -q main; git diff main other',
  'git init -q; git add -A; git commit -qm "$(cat t.txt)"; git log; rm t.txt; git diff; git restore t.txt; git show HEAD:t.txt | tail -c 50 > n.txt',
]

/** The ways to reveal a part of a hidden secret, by name. */
export const ways: Readonly<Record<string, Way>> = {
  ...Object.fromEntries(
    (['before', 'after'] as const).flatMap((side) =>
      ['', ...GLUE].flatMap((glue) =>
        [false, true].map((all) => [
          `edit_file ${side} the mark: ${JSON.stringify(glue)}${all ? ', everywhere' : ''}`,
          edit(side, glue, all),
        ]),
      ),
    ),
  ),
  'edit_file deletes each mark': async ({ call, marks }) => {
    for (const mark of marks) await call('edit_file', { path: 't.txt', oldText: mark, newText: '' })
  },
  'edit_file deletes the last marks': async ({ call, marks }) => {
    for (const mark of [...marks].reverse()) await call('edit_file', { path: 't.txt', oldText: mark, newText: 'x' })
  },
  'edit_file joins lines': async ({ call, text, marks }) => {
    const at = text.indexOf(marks[0] as string)
    const line = text.slice(text.lastIndexOf('\n', at - 2) + 1, at)
    await call('edit_file', { path: 't.txt', oldText: line, newText: 'joined' })
    await call('edit_file', { path: 't.txt', oldText: '\n', newText: '', replaceAll: true })
    await call('edit_file', { path: 't.txt', oldText: '\n', newText: '7', replaceAll: true })
  },
  'edit_file cuts into a mark': async ({ call, marks }) => {
    const mark = marks[0] as string
    await call('edit_file', { path: 't.txt', oldText: mark.slice(0, 12), newText: '' })
    await call('edit_file', { path: 't.txt', oldText: mark, newText: `x${mark}` })
    await call('edit_file', {
      path: 't.txt',
      edits: [
        { oldText: mark, newText: 'a' },
        { oldText: 'a', newText: mark },
      ],
    })
  },
  'replace_range of each line': async ({ call, text }) => {
    const count = text.split('\n').length
    for (let line = 1; line <= count; line++) {
      const { sha256 } = await call('read_file', { path: 't.txt' })
      await call('replace_range', {
        path: 't.txt',
        startLine: line,
        endLine: line,
        newText: 'x',
        expectedSha256: sha256,
      })
    }
  },
  'append_file to the last line': async ({ call }) => {
    for (const content of ['x', '7', '_', '-more', '\nx']) await call('append_file', { path: 't.txt', content })
  },
  'apply_patch before the mark': patch((all, at) => all.with(at, `x${all[at]}`)),
  'apply_patch after the mark': patch((all, at) => all.with(at, `${all[at]}x7A`)),
  'apply_patch removes the text before the mark': patch((all, at) =>
    all.with(at, `x${(all[at] as string).slice((all[at] as string).indexOf('['))}`),
  ),
  'apply_patch removes the first marked line': patch((all, at) => all.toSpliced(at, 1)),
  'apply_patch removes the line after it': patch((all, at) => all.toSpliced(at + 1, 1)),
  'apply_patch joins': patch((all) => [all.join('')]),
  'apply_patch, its last line only': patch((all) => all.slice(-1)),
  'copy_file and edit_file': async (attack) => {
    await attack.call('copy_file', { path: 't.txt', to: 'n.txt' })
    await attack.call('delete_file', { path: 't.txt' })
    await attack.call('move_file', { path: 'n.txt', to: 't.txt' })
    await edit('before', 'x', false)(attack)
    await edit('after', 'x', false)(attack)
  },
  'write_file of the shown text': async ({ call, text }) => {
    await call('write_file', { path: 'n.txt', content: `x${text}`, expectedSha256: null })
    const { sha256 } = await call('read_file', { path: 't.txt' })
    await call('write_file', { path: 't.txt', content: `x${text}`, expectedSha256: sha256 })
  },
  ...Object.fromEntries(shellLines.map((line) => [line, ({ sh }: Attack) => sh(line)])),
  'an own tool that reads bytes': async ({ call }) => {
    for (const text of ['x', '7', 'a b', '']) await call('join_files', { path: 't.txt', into: 'n.txt', text })
    await call('join_files', { path: 't.txt', into: 't.txt', text: 'x' })
  },
  'undo of each call': async ({ workspace, note, ...attack }) => {
    const results = [
      await attack.sh('cat t.txt >> g.txt'),
      await attack.sh('printf x > t.txt'),
      await attack.call('append_file', { path: 'g.txt', content: '7' }),
      await attack.sh('mv g.txt t.txt'),
    ]
    for (const { callId } of results.filter(({ callId }) => callId !== undefined))
      note(await workspace.undo(callId as string))
    for (const { callId } of results.reverse()) if (callId !== undefined) note(await workspace.undo(callId as string))
  },
  rollback: async ({ workspace, note, sh }) => {
    const checkpoint = await workspace.checkpoint()
    await sh('cat t.txt >> g.txt; sed -i "s/^/x/" t.txt')
    await sh('sed -i 1d t.txt')
    note(await workspace.rollback(checkpoint.id))
  },
  'fork and its commit': async ({ workspace, note }) => {
    const fork = await workspace.fork()
    const inFork = (name: string, input: unknown) => fork.callTool(name, input).then(note)
    await inFork('run_command', { command: 'cat t.txt >> g.txt; sed -i "s/^/x/" t.txt; cat t.txt g.txt' })
    await inFork('run_command', { command: 'cat t.txt g.txt; git diff' })
    await inFork('append_file', { path: 't.txt', content: 'x' })
    await inFork('read_file', { path: 't.txt' })
    await inFork('diff_workspace', {})
    note(await fork.commit())
    note(fork.auditRecords())
    await fork.close()
  },
  start_command: async ({ call }) => {
    for (const command of ['cat t.txt >> g.txt; cat t.txt g.txt', 'sed -i "s/^/x/" t.txt; cat t.txt; rev t.txt']) {
      const { id } = await call('start_command', { command })
      for (let i = 0; i < 200; i++) {
        const { state } = await call('check_command', { id })
        if (state !== 'running') break
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
  },
}

/**
 * Runs one way against one secret, then searches everything that is visible: results, files by every tool, records,
 * report and recording. Returns the revealed pieces of the secret, twelve characters each.
 */
export async function revealed({ before, secret, after }: HiddenCase, layout: string, way: Way): Promise<string[]> {
  const content = (layouts[layout] as (line: string) => string)(before + secret + after)
  const { text, marks } = redact(content)
  const pieces = new Set(secret.split('\n').flatMap(windowsOf))
  // Skips layouts in which the secret is not hidden, or partly visible from the start.
  if (marks.length === 0 || [...pieces].some((piece) => text.includes(piece))) return []
  const outputs: string[] = []
  const note = (value: unknown) => outputs.push(JSON.stringify(value) ?? '')
  const backend = memory({ 't.txt': content, 'g.txt': 'a text that ends in a letter' })
  const recording: string[] = []
  const workspace = await createWorkspace({
    policy: 'autonomous',
    backend,
    shell: unjudged(bash()),
    git: git(),
    extraTools: [joinFiles],
    record: (line) => void recording.push(line),
  })
  const call = async (name: string, input: unknown): Promise<Answer> => {
    const answer = (await workspace.callTool(name, input)) as Answer
    note(answer)
    return answer
  }
  const sh = (command: string) => call('run_command', { command })
  try {
    await way({ workspace, text, marks: marks.map(({ mark }) => mark), call, sh, note })
    await look({ workspace, call, sh, note }, [...pieces])
    note(recording)
  } finally {
    await workspace.close()
  }
  const all = outputs.join('\n')
  return [...pieces].filter((piece) => all.includes(JSON.stringify(piece).slice(1, -1)))
}

/** Runs ordinary calls on the file of a secret. In their input, `MARKED` is the shown text with the secret. */
export async function perform(
  { before, secret, after }: HiddenCase,
  calls: readonly (readonly [name: string, input: object])[],
): Promise<Answer[]> {
  const line = before + secret + after
  const content = `first line\n${line}\nlast line\n`
  const marked = redact(content).text.slice('first line\n'.length, -'\nlast line\n'.length)
  const workspace = await createWorkspace({
    policy: 'autonomous',
    backend: memory({ 't.txt': content }),
    shell: unjudged(bash()),
    git: git(),
  })
  try {
    const answers: Answer[] = []
    for (const [name, input] of calls) {
      const filled = Object.entries(input).map(([field, value]) => [field, value === 'MARKED' ? marked : value])
      answers.push((await workspace.callTool(name, Object.fromEntries(filled))) as Answer)
    }
    return answers
  } finally {
    await workspace.close()
  }
}

/** Reads every file by every tool, and the records. */
async function look(
  { workspace, call, sh, note }: Pick<Attack, 'workspace' | 'call' | 'sh' | 'note'>,
  pieces: readonly string[],
): Promise<void> {
  const { files = [] } = await call('find_files', { pattern: '**', includeHidden: true })
  for (const path of files as string[]) {
    const { artifactUri } = await call('read_file', { path })
    if (artifactUri !== undefined) await call('read_file', { path: artifactUri })
  }
  await call('list_directory', { maxDepth: 5 })
  await call('search_text', { query: '[a-zA-Z0-9]{6}', mode: 'regex', contextLines: 3 })
  await call('search_text', { query: pieces[0]?.slice(0, 6) ?? 'x' })
  await call('diff_workspace', {})
  await sh('cat * 2>/dev/null; tail -qc +3 * 2>/dev/null; git diff; git status; git log -p')
  const records = workspace.auditRecords()
  note(records)
  for (const { artifactUris = [] } of records) for (const uri of artifactUris) await call('read_file', { path: uri })
  note(await workspace.report())
}

function windowsOf(text: string): string[] {
  if (text.length <= 12) return text.length < 6 ? [] : [text]
  return Array.from({ length: text.length - 11 }, (_, at) => text.slice(at, at + 12))
}
