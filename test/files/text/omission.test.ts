import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../src/backends/memory/index.ts'
import { placeholderAt } from '../../../src/files/text/omission.ts'
import { createWorkspace } from '../../../src/index.ts'

const texts = [
  '... rest of code unchanged',
  '... rest of the code remains the same ...',
  '... existing code ...',
  '... (existing imports)',
  '…remaining methods…',
  '[... rest of UserService ...]',
  '... other methods stay the same',
  'rest of the file unchanged',
  'existing code here',
  'the rest of the function stays the same',
  '...',
]
const comments = [
  ...['// T', '# T', '/* T */', '<!-- T -->', '{/* T */}', '-- T', '; T', '% T', '(* T *)', '  // T', '\t# T', '//T'],
]
const bare = [
  '... rest of code unchanged',
  '... existing code ...',
  '[... same as before ...]',
  '... remaining lines ...',
]

const ordinary = [
  ...[
    '...',
    '…',
    '  ...rest,',
    '...existing',
    '...rest.props,',
    '...other)',
    '// unchanged',
    '# the rest',
    '// existing',
  ],
  ...[
    'f(...rest)',
    "import x from './existing.ts'",
    '// ... existing callers depend on this one',
    '{ ...same }',
    '---',
  ],
  ...[
    'const { a, ...rest } = b',
    '// { ... }',
    '- the rest of the code is unchanged',
    '# Existing files',
    '// TODO ...',
  ],
  ...['return [...previous, ...other]', '...(await existing()),', '  ...', '/**', '# loading ...', 'echo "..."', ''],
]

describe('a placeholder for omitted text', () => {
  it.each(comments.flatMap((comment) => texts.map((text) => comment.replace('T', text))))('is %j', (line) => {
    expect(placeholderAt(['a', line, 'b'])).toBe(1)
  })

  it.each(bare)('is %j without a comment', (line) => {
    expect(placeholderAt([line])).toBe(0)
  })

  it.each(ordinary)('is not %j', (line) => {
    expect(placeholderAt([line])).toBe(-1)
  })

  it('is not found in any source file', () => {
    const root = join(import.meta.dirname, '../../../src')
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.[a-z]+$/.test(name))
    expect(files.length).toBeGreaterThan(300)
    const hits = files.filter((name) => placeholderAt(readFileSync(join(root, name), 'utf8').split('\n')) !== -1)
    expect(hits).toEqual([])
  })
})

describe('an edit with a placeholder', () => {
  const old = 'function a() {\n  one()\n  two()\n}\n'
  const line = '  // ... rest of code unchanged'
  const open = (text = old) => createWorkspace({ backend: memory({ 'a.ts': text }), policy: 'autonomous' })
  const sha256 = async (workspace: Awaited<ReturnType<typeof open>>) => {
    const info = await workspace.call('read_file', { path: 'a.ts' })
    return info.ok ? info.sha256 : ''
  }

  it.each(['edit_file', 'edits', 'replace_range', 'apply_patch', 'unified'])('is refused by %s', async (way) => {
    const workspace = await open()
    const expectedSha256 = await sha256(workspace)
    const edit = { oldText: '  one()\n', newText: `${line}\n` }
    const answer =
      way === 'edit_file'
        ? await workspace.call('edit_file', { path: 'a.ts', ...edit })
        : way === 'edits'
          ? await workspace.call('edit_file', { path: 'a.ts', edits: [{ oldText: 'two', newText: '2' }, edit] })
          : way === 'replace_range'
            ? await workspace.call('replace_range', {
                path: 'a.ts',
                startLine: 2,
                endLine: 3,
                newText: line,
                expectedSha256,
              })
            : await workspace.call('apply_patch', {
                patch:
                  way === 'apply_patch'
                    ? `*** Begin Patch\n*** Update File: a.ts\n-  one()\n+${line}\n*** End Patch`
                    : `--- a/a.ts\n+++ b/a.ts\n@@ -1,3 +1,3 @@\n function a() {\n-  one()\n+${line}\n   two()\n`,
              })
    expect(answer).toMatchObject({
      ok: false,
      code: /patch|unified/.test(way) ? 'INVALID_PATCH' : 'INVALID_INPUT',
      message: expect.stringContaining('placeholder'),
      hint: expect.stringContaining('in full'),
    })
    expect(await workspace.call('read_file', { path: 'a.ts' })).toMatchObject({ content: old })
  })

  it('is applied if the old text has one', async () => {
    const workspace = await open(old.replace('  one()', line))
    const answer = await workspace.call('edit_file', {
      path: 'a.ts',
      oldText: `${line}\n  two()`,
      newText: `  two()\n${line}`,
    })
    expect(answer).toMatchObject({ ok: true })
  })
})
