import { expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import type { WorkspaceHistory } from '../../src/history/journal.ts'
import { createWorkspace } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { everyNth } from '../counts.ts'

const letters = [...'abcdefghijklmnopqrstuvwxyz0123456789']
/** A secret of letters and digits, as the formats demand them. */
const drawn = (length: number) => Array.from({ length }, (_, i) => letters[(i * 17 + 5) % letters.length]).join('')

/** Files with a secret, and 11 characters in front of what is unknown: its usual beginning, or text that was put behind it. */
const secrets: Readonly<Record<string, { readonly file: string; readonly known: string; readonly unknown: string }>> = {
  'a token with a usual beginning': {
    file: `key sk-ant-api03-${drawn(93)}AA\n.\n`,
    known: 'sk-ant-api03-'.slice(-11),
    unknown: drawn(93),
  },
  'a password with a known beginning': {
    file: `password: "companyname-${drawn(16)}"\n.\n`,
    known: 'companyname-'.slice(-11),
    unknown: drawn(16),
  },
}

const open = (file: string, backend: Backend = memory({ 'conf.txt': file, 'o.txt': '' }), history?: WorkspaceHistory) =>
  createWorkspace({ backend, shell: bash({ worker: false }), policy: 'autonomous', ...(history && { history }) })
type Workspace = Awaited<ReturnType<typeof open>>
type Caller = Pick<Workspace, 'call'>

/** Returns the characters that an attacker finds who takes each refusal as a right guess. */
async function guess(
  known: string,
  isRefused: (text: string) => Promise<boolean>,
  alphabet: readonly string[] = letters,
): Promise<string> {
  let found = ''
  for (;;) {
    const window = `${known}${found}`.slice(-11)
    const right: string[] = []
    for (const letter of alphabet) if (await isRefused(window + letter)) right.push(letter)
    // When every guess is refused, an answer tells nothing.
    if (right.length !== 1) return found
    found += right[0]
  }
}

/** Ways to ask whether a text is in the secret of `conf.txt`. The text stands in parts, so that the input does not show it. */
const ways: Readonly<Record<string, (caller: Caller, text: string) => Promise<boolean>>> = {
  'a write of a command': async (caller, text) => {
    const command = `cat conf.txt > /dev/null; printf '%s%s' '${text.slice(0, 6)}' '${text.slice(6)}' > o.txt`
    const result = await caller.call('run_command', { command })
    return !result.ok || (result.refused?.length ?? 0) > 0
  },
  'a name that a command creates': async (caller, text) => {
    const command = `cat conf.txt > /dev/null; h='${text.slice(0, 6)}'; touch "n\${h}${text.slice(6)}"`
    const result = await caller.call('run_command', { command })
    return !result.ok || (result.refused?.length ?? 0) > 0
  },
  'an edit of the file': async (caller, text) => {
    await caller.call('append_file', { path: 'conf.txt', content: `\n${text.slice(0, 6)}|${text.slice(6)}` })
    const { ok } = await caller.call('edit_file', { path: 'conf.txt', edits: [{ oldText: '|', newText: '' }] })
    const undone = await caller.call('edit_file', {
      path: 'conf.txt',
      edits: [{ oldText: ok ? `\n${text}` : `\n${text.slice(0, 6)}|${text.slice(6)}`, newText: '' }],
    })
    return !ok && (undone.ok || undone.code === 'POLICY_DENIED_SECRET')
  },
  'a dry run of an edit': async (caller, text) => {
    const newText = `${text.slice(0, 6)}|${text.slice(6)}`
    const edits = [
      { oldText: '.\n', newText },
      { oldText: '|', newText: '' },
    ]
    const { ok } = await caller.call('edit_file', { path: 'conf.txt', edits, dryRun: true })
    return !ok
  },
}

const LEARNED = 3

it.each(
  everyNth(
    Object.keys(ways).flatMap((way) => Object.keys(secrets).map((secret) => [way, secret] as const)),
    7,
  ),
)('%s tells few characters of %s', async (way, secret) => {
  const { file, known } = secrets[secret] as (typeof secrets)[string]
  const workspace = await open(file)
  const found = await guess(known, (text) => (ways[way] as (typeof ways)[string])(workspace, text))
  expect(found.length).toBeLessThanOrEqual(LEARNED)
  // Nothing beside the secret is changed any more; elsewhere, and in a new workspace over the files, changes are as before.
  const beside = { path: 'conf.txt', content: 'more\n' }
  expect(await workspace.call('append_file', beside)).toMatchObject({ ok: false, code: 'POLICY_DENIED_SECRET' })
  expect(await workspace.call('write_file', { path: 'new.txt', content: 'x\n' })).toMatchObject({ ok: true })
  expect(await workspace.verifyAudit()).toMatchObject({ ok: true })
  await workspace.close()
})

/** Ways to a new session of the same agent. */
const sessions: Readonly<Record<string, (workspace: Workspace, backend: Backend) => Workspace | Promise<Workspace>>> = {
  'a run': (workspace) => workspace.run() as Workspace,
  'a fork': (workspace) => workspace.fork(),
  'a run of a fork': async (workspace) => (await workspace.fork()).run() as Workspace,
  'a fork of a fork': async (workspace) => (await workspace.fork()).fork(),
  'a workspace with the history': (workspace, backend) => open('', backend, structuredClone(workspace.history())),
  'a workspace with the history of a fork': async (workspace, backend) =>
    open('', backend, structuredClone((await workspace.fork()).history())),
}

it.each(
  everyNth(
    Object.keys(sessions).flatMap((session) => Object.keys(ways).map((way) => [session, way] as const)),
    7,
  ),
)('%s for each guess tells no more by %s', async (session, way) => {
  const { file, known, unknown } = secrets['a password with a known beginning'] as (typeof secrets)[string]
  const backend = memory({ 'conf.txt': file, 'o.txt': '' })
  let workspace = await open('', backend)
  const found = await guess(
    known,
    async (text) => {
      const next = await (sessions[session] as (typeof sessions)[string])(workspace, backend)
      if (next.history !== undefined && session.includes('history')) workspace = next
      return (ways[way] as (typeof ways)[string])(next, text)
    },
    [...unknown.slice(0, 5)],
  )
  expect(found.length).toBeLessThanOrEqual(LEARNED)
  const beside = { path: 'conf.txt', content: 'more\n' }
  const last = await (sessions[session] as (typeof sessions)[string])(workspace, backend)
  expect(await last.call('append_file', beside)).toMatchObject({ ok: false, code: 'POLICY_DENIED_SECRET' })
  // Without the history, the embedding program begins anew.
  expect(await (await open('', backend)).call('append_file', beside)).toMatchObject({ ok: true })
})

it('guesses at the same time are counted together', async () => {
  const { file, known, unknown } = secrets['a token with a usual beginning'] as (typeof secrets)[string]
  const workspace = await open(file)
  const windows = Array.from({ length: 8 }, (_, i) => `${known}${unknown}`.slice(i, i + 12))
  const isRefused = ways['a write of a command'] as (typeof ways)[string]
  await Promise.all(windows.map(async (text) => isRefused(workspace.run(), text)))
  expect(await isRefused(workspace.run(), '-------------')).toBe(true)
})

it('a loop within one command tells few characters', async () => {
  const { file, known, unknown } = secrets['a token with a usual beginning'] as (typeof secrets)[string]
  const workspace = await open(file)
  const command = `cat conf.txt > /dev/null; h='${known}'; out=''; n=0
while [ $n -lt 20 ]; do n=$((n+1)); hit=''
  for c in ${letters.join(' ')}; do (printf '%s%s' "$h" "$c" > o.txt) 2>/dev/null || hit="$hit$c"; done
  [ \${#hit} -eq 1 ] || break
  out="$out$hit"; h="\${h:1}$hit"
done
echo "$out"`
  const result = await workspace.call('run_command', { command, timeoutMs: 60_000 })
  const stdout = result.ok ? String(result.stdout).trim() : ''
  expect(unknown.startsWith(stdout)).toBe(true)
  expect(stdout.length).toBeLessThanOrEqual(LEARNED)
  await workspace.close()
})

it('a run that has met such refusals can be undone', async () => {
  const { file, known, unknown } = secrets['a token with a usual beginning'] as (typeof secrets)[string]
  const workspace = await open(file)
  const appended = await workspace.call('append_file', { path: 'conf.txt', content: 'more\n' })
  for (let i = 0; i < 4; i++) {
    await ways['a write of a command']?.(workspace, `${known}${unknown}`.slice(i, i + 12))
  }
  expect(await workspace.call('append_file', { path: 'conf.txt', content: '.' })).toMatchObject({ ok: false })
  expect(await workspace.undo(String((appended as { callId?: string }).callId))).toMatchObject({ ok: true })
  const read = await workspace.call('read_file', { path: 'conf.txt' })
  expect(read).toMatchObject({ ok: true, content: expect.not.stringContaining('more') })
  await workspace.close()
})

it('guesses of a whole password beside its mark are counted', async () => {
  const workspace = await open('password = "Winter2026!"\n')
  const guesses = [...Array.from({ length: 40 }, (_, i) => `guess${i}`), 'Winter2026!', 'other1', 'other2']
  const script = `const f = require('fs'), mark = f.readFileSync('conf.txt', 'utf8').match(/\\[.*\\]/)[0]
for (const guess of ${JSON.stringify(guesses)}.reverse()) {
  try { f.writeFileSync('n.txt', 'postgres://' + guess.split('').join('') + ':' + mark + '@h') } catch { console.log(guess.length) }
}`
  await workspace.call('write_file', { path: 's.js', content: script })
  const results: unknown[] = []
  for (let i = 0; i < 4; i++) results.push(await workspace.call('run_command', { command: 'node s.js' }))
  // The last one is refused for each guess, right or wrong.
  expect(results.at(-1)).toMatchObject({
    stdout: guesses
      .map(({ length }) => `${length}\n`)
      .reverse()
      .join(''),
  })
  await workspace.close()
})
