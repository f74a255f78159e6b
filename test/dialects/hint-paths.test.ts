import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import { mcpFilesystem } from '../../src/dialects/mcp-filesystem/index.ts'
import { createWorkspace } from '../../src/index.ts'

describe('the hint for a target that is a directory', () => {
  it.each([
    [{ '/workspace': '' }, '/workspace/a.txt', '/workspace/docs', '/workspace/docs/a.txt'],
    [{ '/srv/app': 'app', '/srv/docs': 'docs' }, '/srv/app/b.txt', '/srv/docs', '/srv/docs/b.txt'],
    [{ '/workspace': '' }, 'a.txt', 'docs', '/workspace/docs/a.txt'],
  ])('names the path below it as the dialect writes it: %j %s', async (roots, source, destination, path) => {
    const files = { 'a.txt': 'a\n', 'app/b.txt': 'b\n', 'docs/x.md': 'x\n' }
    const workspace = await createWorkspace({
      backend: memory(files),
      policy: 'autonomous',
      dialect: mcpFilesystem(roots as Record<string, string>),
    })
    const { output } = await workspace.call('move_file', { source, destination })
    expect(output).toContain(`use the whole path "${path}"`)
  })
})

describe('the virtual roots of a dialect', () => {
  it.each(Object.entries(dialects))('are checked by %s, in a message without internal names', (_, open) => {
    const wrong = [5, 'x', null, ['/workspace'], { '/workspace': 5 }, { workspace: '' }, { '/x': '../y' }]
    for (const roots of wrong) {
      expect(() => open(roots as never)).toThrow(TypeError)
      expect(() => open(roots as never)).toThrow(/^The virtual root(?!.*\()/)
    }
  })
})
