import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { codex } from '../../src/dialects/codex/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'

async function patched(files: Record<string, string>, patch: string, tool: 'apply_patch' | 'shell' = 'apply_patch') {
  const workspace = await createWorkspace({
    backend: memory(files),
    policy: 'autonomous',
    dialect: codex(),
    shell: bash(),
  })
  const input = tool === 'shell' ? { command: ['apply_patch', patch] } : patch
  const answer = await workspace.call(tool as 'apply_patch', input as never)
  const tree: Record<string, string> = {}
  for (const { path } of await workspace.files.list()) tree[path] = (await workspace.files.read(path)).content
  return { answer, tree }
}

const files = { 'a.txt': 'one\ntwo', 'b.txt': 'gone\n' }
const patch = (pad: (row: string) => string) =>
  [
    pad('*** Begin Patch'),
    pad('*** Update File: a.txt'),
    pad('*** Move to: d.txt'),
    '@@',
    ' one',
    '-two',
    '+TWO',
    pad('*** End of File'),
    pad('*** Add File: c.txt'),
    '+*** End Patch',
    pad('*** Delete File: b.txt'),
    pad('*** End Patch'),
  ].join('\n')

describe("codex' apply_patch", () => {
  const paddings = [' T', '  T', '\tT', 'T ', 'T\t', '  T  ', 'T\r', ' T \r']
  it.each(paddings.flatMap((padding) => ['apply_patch', 'shell'].map((tool) => [padding, tool] as const)))(
    'takes markers padded as %j in %s',
    async (padding, tool) => {
      const text = patch((row) => padding.replace('T', row))
      const { answer, tree } = await patched(files, text, tool as 'apply_patch')
      expect(answer).toMatchObject({ isError: false })
      expect(tree).toEqual({ 'd.txt': 'one\nTWO\n', 'c.txt': '*** End Patch\n' })
    },
  )

  it.each(['<<EOF\nP\nEOF', "<<'EOF'\nP\nEOF\n", '<<"EOF"\nP\nEOF'])('takes a patch in a heredoc: %j', async (form) => {
    const { tree } = await patched(
      files,
      form.replace('P', () => patch((row) => row)),
    )
    expect(tree).toEqual({ 'd.txt': 'one\nTWO\n', 'c.txt': '*** End Patch\n' })
  })

  it.each([
    ['one\ntwo', '-one\n+1', '1\ntwo\n'],
    ['one\ntwo', '-two\n+2\n+3', 'one\n2\n3\n'],
    ['one', '+two', 'one\ntwo\n'],
    ['one\r\ntwo', '-two\n+2', 'one\r\n2\r\n'],
    ['one\ntwo', '-two', 'one\n'],
    ['one', '-one', ''],
    ['one\n', '-one\n+1', '1\n'],
  ])('ends an updated file with a newline: %j with %j', async (old, rows, text) => {
    const { tree } = await patched(
      { 'a.txt': old },
      `*** Begin Patch\n*** Update File: a.txt\n@@\n${rows}\n*** End Patch`,
    )
    expect(tree).toEqual({ 'a.txt': text })
  })

  it('keeps the line numbers of a patch in its errors', async () => {
    const { answer } = await patched(files, '  *** Begin Patch\n*** Update File: a.txt\n@@\n?x\n*** End Patch')
    expect(JSON.stringify(answer)).toContain('line 4')
  })

  it('refuses an absolute path', async () => {
    const { answer, tree } = await patched(files, '*** Begin Patch\n *** Add File: /etc/evil\n+x\n*** End Patch')
    expect(JSON.stringify(answer)).toContain('PATH_REJECTED')
    expect(tree).toEqual(files)
  })

  const rows = '*** Begin Patch\n*** Add File: n $1.txt\n+costs `$1` \\ now\n*** End Patch'
  const shell = async (command: readonly string[], more: object = {}) => {
    const workspace = await createWorkspace({
      backend: memory(files),
      policy: 'autonomous',
      dialect: codex(),
      shell: bash(),
    })
    const answer = await workspace.call('shell', { command, ...more } as never)
    const { entries } = (await workspace.run().own.call('list_directory', { maxDepth: 5 })) as unknown as {
      entries: readonly { path: string; type: string }[]
    }
    const paths = entries.filter(({ type }) => type === 'file').map(({ path }) => path)
    await workspace.close()
    return { ...answer, paths: paths.filter((path) => !(path in files)) }
  }
  const flags = [['-lc'], ['-c'], ['-l', '-c'], ['--login', '-c']]
  const heredocs = ["<<'EOF'\nP\nEOF", '<<"PATCH"\nP\nPATCH\n', '<<EOF\nP\nEOF', "<< 'EOF'\nP\nEOF \n"]
  it.each(
    ['bash', 'sh', '/bin/bash'].flatMap((program) =>
      flags.flatMap((flag) =>
        ['apply_patch', 'applypatch'].flatMap((name) =>
          heredocs.map((heredoc) => [
            ...[program, ...flag],
            `${name} ${heredoc.replace('\nP\n', () => `\n${rows}\n`)}`,
          ]),
        ),
      ),
    ),
  )('applies the patch of a script: %s %s %s', async (...command) => {
    expect(await shell(command.filter((word) => typeof word === 'string'))).toMatchObject({
      isError: false,
      paths: ['n $1.txt'],
    })
  })

  it.each([
    ['cd d && ', 'd/n $1.txt'],
    ["cd 'd $2' &&", 'd $2/n $1.txt'],
    ['cd "d/e" && ', 'd/e/n $1.txt'],
    ['cd /workspace/d && ', 'd/n $1.txt'],
    ['cd /workspace && ', 'n $1.txt'],
    ['cd . && ', 'n $1.txt'],
  ])('applies a patch below the directory of %s', async (cd, path) => {
    const script = `${cd}apply_patch <<'EOF'\n${rows}\nEOF`
    expect(await shell(['bash', '-lc', script])).toMatchObject({ isError: false, paths: [path] })
  })

  it.each(['cd .. && ', 'cd /etc && ', 'cd d/../.. && '])('refuses a patch after %s', async (cd) => {
    const { output, isError, paths } = await shell(['bash', '-lc', `${cd}apply_patch <<'EOF'\n${rows}\nEOF`])
    expect({ output, isError, paths }).toEqual({
      output: expect.stringContaining('PATH_REJECTED'),
      isError: true,
      paths: [],
    })
  })

  it.each([
    [['apply_patch', 'a', 'b']],
    [['bash', '-lc', `ls; apply_patch <<'EOF'\n${rows}\nEOF`]],
    [['bash', '-lc', `apply_patch '${rows}'`]],
  ])('names the tool where the shell lacks the program: %j', async (command) => {
    const { output, isError } = await shell(command)
    expect({ output, isError }).toEqual({ output: expect.stringContaining('apply_patch is a tool'), isError: true })
  })

  it('runs what follows the heredoc as a command', async () => {
    const { paths } = await shell([
      'bash',
      '-lc',
      `apply_patch <<'EOF'\n${rows}\nEOF\necho x > y.txt\ncat <<'EOF'\nEOF`,
    ])
    expect(paths).toEqual(['y.txt'])
  })

  it('refuses a time limit beside the patch of a script', async () => {
    const { output, paths } = await shell(['bash', '-lc', `apply_patch <<'EOF'\n${rows}\nEOF`], { timeout_ms: 5 })
    expect({ output, paths }).toEqual({ output: expect.stringContaining('timeout_ms'), paths: [] })
  })
})
