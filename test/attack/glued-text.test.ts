import { expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { redact } from '../../src/files/secrets/index.ts'
import { createWorkspace, type Workspace } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { part, times } from '../counts.ts'
import { type HiddenCase, hiddenCases } from './secret-marks.ts'

/** Text directly behind a mark: letters, digits and signs of tokens, short and long. */
const glues = ['x', '7A', '-', '_', 'x7A'.repeat(5), '0123456789abcdef', 'AAAA_BBBB-CCCC', '.abc', '@']

const shell = bash({ worker: false })
const FILE = 't.txt'

/** Ways to put a text behind the last mark of a file. `atEnd`: the mark must be the end of the file. */
const ways: Readonly<
  Record<string, { readonly atEnd?: true; run(workspace: Workspace, mark: string, glue: string): Promise<unknown> }>
> = {
  edit_file: {
    run: (workspace, _, glue) =>
      workspace.call('edit_file', { path: FILE, edits: [{ oldText: '\nlast', newText: `${glue}\nlast` }] }),
  },
  append_file: { atEnd: true, run: (workspace, _, content) => workspace.call('append_file', { path: FILE, content }) },
  'sed in bash': {
    run: (workspace, mark, glue) => sh(workspace, `sed -i 's/${mark.slice(1, -1)}\\]/&${glue}/' ${FILE}`),
  },
  '>> in bash': { atEnd: true, run: (workspace, _, glue) => sh(workspace, `printf %s '${glue}' >> ${FILE}`) },
  'a copy in bash': {
    atEnd: true,
    run: (workspace, _, glue) => sh(workspace, `cp ${FILE} n.txt; printf %s '${glue}' >> n.txt`),
  },
  'a copy by sed': {
    run: (workspace, mark, glue) => sh(workspace, `sed 's/${mark.slice(1, -1)}\\]/&${glue}/' ${FILE} > n.txt`),
  },
  'a copy by node': {
    run: (workspace, mark, glue) =>
      sh(
        workspace,
        `node -e "const f=require('fs');f.writeFileSync('n.txt',f.readFileSync('${FILE}','utf8').replace('${mark}','${mark}${glue}'))"`,
      ),
  },
  'files.batch': {
    atEnd: true,
    run: (workspace, _, glue) => workspace.files.batch((files) => files.append(FILE, glue)).catch(() => {}),
  },
}
const sh = (workspace: Workspace, command: string) => workspace.call('run_command', { command })

/** Passwords that are shorter than a piece of which others are recognized. */
const short: readonly HiddenCase[] = ['hUnt3r', 'hUnt3r2x', 'hUnt3r2xyZ7'].flatMap((secret) =>
  ['DB_PASSWORD=', '?password=', 'postgres://u:'].map((before) => ({
    ...{ kind: 'password', before, secret, after: before.endsWith(':') ? '@h' : '' },
  })),
)

const cases = part(
  Object.keys(ways).flatMap((way, index) =>
    [...short, ...hiddenCases].flatMap((hidden, position) =>
      glues
        .filter(
          (_, at) =>
            (short.includes(hidden) && at % times(59, 1) === 0) ||
            (index + position * 5 + at * 3) % times(307, 1) === 0,
        )
        .map((glue) => ({ way, hidden, glue })),
    ),
  ),
)

/** Returns the secrets of a text that contain the given one with other text, or a part of it that shows. */
function altered(text: string, secret: string): string[] {
  return redact(text)
    .marks.map(({ originalStart, originalEnd }) => text.slice(originalStart, originalEnd))
    .filter((hidden) => hidden !== secret && hidden.includes(secret))
}

async function glued({ before, secret, after }: HiddenCase, way: string, glue: string): Promise<string[]> {
  const { atEnd, run } = ways[way] as (typeof ways)[string]
  const content = atEnd ? `first\n${before}${secret}` : `first\n${before}${secret}${after}\nlast\n`
  const last = redact(content).marks.at(-1)
  // The shown text after some secrets is not the end of the file, or they are recognized by it.
  if (last === undefined || (!atEnd && after !== '')) return []
  const backend = memory({ [FILE]: content })
  const workspace = await createWorkspace({ backend, policy: 'autonomous', shell: { ...shell, async close() {} } })
  await run(workspace, last.mark, glue)
  const hidden = content.slice(last.originalStart, last.originalEnd)
  const found: string[] = []
  for (const path of [FILE, 'n.txt']) {
    const stored = await backend.read(path as never).catch(() => undefined)
    if (stored !== undefined) found.push(...altered(new TextDecoder().decode(stored.bytes), hidden))
  }
  await workspace.close()
  return found
}

it(`text behind a mark never becomes a part of the secret, in any of ${cases.length} cases`, async () => {
  const wrong: string[] = []
  for (const { way, hidden, glue } of cases) {
    const found = await glued(hidden, way, glue)
    if (found.length > 0) wrong.push(`${hidden.kind}, ${way}: ${JSON.stringify(glue)}`)
  }
  expect(wrong).toEqual([])
})

it('a run may write a longer secret that it knows', async () => {
  const token = `ghp_${'aB3dE6gH9jK2'.repeat(3)}`
  const workspace = await createWorkspace({ backend: memory({ [FILE]: `a ${token}\n` }), policy: 'autonomous' })
  const content = `a ${token}x\n`
  const { sha256 } = (await workspace.call('read_file', { path: FILE })) as { sha256?: string }
  const input = { path: FILE, content, expectedSha256: String(sha256) }
  expect(await workspace.call('write_file', input)).toMatchObject({ ok: true })
  await workspace.close()
})
