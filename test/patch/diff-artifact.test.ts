import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createArtifacts } from '../../src/audit/artifacts.ts'
import { storeFullOutput } from '../../src/call/store-full-output.ts'
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../../src/index.ts'
import { commitAll, git, gitWith, loaded, newRepository, temporary } from '../git/repositories.ts'
import type { Answer } from '../tools/setup.ts'

const password = 'correct-horse-battery-staple'
const token = 'ghp_0123456789abcdefghijABCDEFGHIJ456789'

/** Changes of many files, including a protected file and one that contains a token. */
function changed(): string {
  const directory = newRepository()
  const write = (path: string, text: string) => writeFileSync(join(directory, path), text)
  mkdirSync(join(directory, 'src'))
  for (let i = 0; i < 40; i++) write(`src/${i}.ts`, `${lines(i).join('\n')}\n`)
  write('.env', 'PASSWORD=old\n')
  commitAll(directory)
  for (let i = 0; i < 40; i++)
    write(
      `src/${i}.ts`,
      `${lines(i)
        .map((line) => `${line} // changed`)
        .join('\n')}\n`,
    )
  write('.env', `PASSWORD=${password}\n`)
  return directory
}

const lines = (file: number) => Array.from({ length: 50 }, (_, line) => `const line${line} = ${file}`)

const open = (directory: string, options: Partial<WorkspaceOptions> = {}) =>
  createWorkspace({ backend: loaded(directory), policy: 'autonomous', ...options })

/** The complete artifact, read in ranges like a model would. */
async function readWhole(workspace: Workspace, path: string): Promise<string> {
  let text = ''
  for (let startLine = 1; ; ) {
    const range: Answer = await workspace.call('read_file', { path, startLine, maxLines: 700 })
    if (!range.ok) throw new Error(range.message)
    text += range.content
    if (!range.truncated) return text
    startLine = range.endLine + 1
  }
}

describe('a truncated diff', () => {
  it('is stored completely, and git apply accepts it when it is read in ranges', async () => {
    const directory = changed()
    const workspace = await open(directory)
    const cut: Answer = await workspace.call('diff_workspace', { maxBytes: 5000 })
    if (!cut.ok || cut.artifactUri === undefined) throw new Error('nothing was kept')
    expect(cut.truncated).toBe(true)
    expect(cut.warnings.join('\n')).toContain(cut.artifactUri)
    const whole = await readWhole(workspace, cut.artifactUri)
    expect(createHash('sha256').update(whole).digest('hex')).toBe(cut.diffSha256)
    expect(whole.startsWith(cut.diff)).toBe(true)
    const clone = temporary()
    git(clone, 'clone', '-q', directory, '.')
    gitWith(clone, whole, 'apply', '-')
    gitWith(clone, '', 'add', '-A')
    git(directory, 'add', '-A', ':!.env')
    expect(git(clone, 'write-tree')).toBe(git(directory, 'write-tree'))
    expect(workspace.auditRecords().at(-2)?.toolName).toBe('read_file')
    const recorded = workspace.auditRecords().filter(({ toolName }) => toolName === 'diff_workspace')
    expect(recorded.at(-1)?.artifactUris).toEqual([cut.artifactUri])
    await workspace.close()
  })

  it('contains no secret', async () => {
    const directory = changed()
    writeFileSync(join(directory, 'src/0.ts'), `const t = '${token}'\n`)
    const workspace = await open(directory)
    const cut: Answer = await workspace.call('diff_workspace', { maxBytes: 100 })
    if (!cut.ok) throw new Error(cut.message)
    const whole = await readWhole(workspace, String(cut.artifactUri))
    expect(whole).toContain('[REDACTED:')
    for (const secret of [password, token, '.env']) expect(whole).not.toContain(secret)
    await workspace.close()
  })

  it('is bound to the request and the run', async () => {
    const workspace = await open(changed())
    const cut: Answer = await workspace.call('diff_workspace', { maxBytes: 1000, paths: ['src/1.ts', 'src/2.ts'] })
    if (!cut.ok) throw new Error(cut.message)
    const whole = await readWhole(workspace, String(cut.artifactUri))
    expect([...whole.matchAll(/^diff --git a\/(\S+)/gm)].map(([, path]) => path)).toEqual(['src/1.ts', 'src/2.ts'])
    const other = workspace.run({ id: 'other' })
    expect(await other.call('read_file', { path: String(cut.artifactUri) })).toMatchObject({ code: 'NOT_FOUND' })
    await workspace.close()
  })

  it('is not stored if it was not truncated or only the stat was requested', async () => {
    const directory = changed()
    const workspace = await open(directory)
    for (const input of [{ maxBytes: 1_000_000 }, { statOnly: true, maxBytes: 1 }]) {
      const answer = await workspace.call('diff_workspace', input)
      expect(answer).toMatchObject({ ok: true, truncated: false })
      // A result that is too long for a model may be stored as another kind of artifact.
      expect(answer.ok && answer.artifactUri?.endsWith('.diff')).toBeFalsy()
    }
    await workspace.close()
  })

  it('is reported as not kept if the run exceeds its artifact limit', () => {
    const warnings: string[] = []
    const artifacts = createArtifacts('run', { maxBytes: 10 })
    expect(storeFullOutput('x'.repeat(11), 'diff', artifacts, warnings)).toBeUndefined()
    expect(warnings).toEqual([expect.stringContaining('not kept')])
  })
})
