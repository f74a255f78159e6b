import { zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { MAX_SHARED_BYTES, sharedProject, shareLink } from '../../playground/projects/share-link.ts'
import { fillFrom } from '../../playground/projects/sources.ts'
import { sharedFiles } from '../../playground/session/shared-files.ts'
import { isLong } from '../counts.ts'
import { button, filesOnDisk, importFiles, projectButton, settled } from './person.ts'
import { usePlayground } from './shared.ts'

const playground = usePlayground()

async function share(files: Readonly<Record<string, string | Uint8Array>>) {
  const backend = memory(files)
  const viewer = await createWorkspace({ backend: { ...backend, close: async () => {} }, policy: 'readOnly' })
  return sharedFiles({ backend }, (tool, input) => viewer.callTool(tool, input))
}

async function opened(link: string) {
  const shared = sharedProject(new URL(link).hash)
  const backend = memory({})
  if (shared === undefined) throw new Error('No project')
  const warnings = await fillFrom(backend, { kind: 'zip', file: shared.zip, maxBytes: MAX_SHARED_BYTES }, {})
  return { name: shared.name, backend, warnings }
}

const linkTo = (zip: Uint8Array) => `https://x/#project=YQ.${Buffer.from(zip).toString('base64url')}`

describe('a link with a project', () => {
  it('contains every file but secrets and what git ignores', async () => {
    const shared = await share({
      'a é.txt': 'a\r\n',
      'src/deep/b.js': 'let b\n',
      '.gitignore': 'out\n',
      'out/c.js': 'c',
      '.env': 'KEY=secret\n',
      id_rsa: 'secret',
      'data.bin': Uint8Array.from([0, 255, 1]),
    })
    expect(Object.keys(shared?.files ?? {}).sort()).toEqual(['.gitignore', 'a é.txt', 'data.bin', 'src/deep/b.js'])
    const link = shareLink('https://x/play/?sample=a#old', 'Näme', shared?.files ?? {})
    expect(link).toMatch(/^https:\/\/x\/play\/#project=[\w-]+\.[\w-]+$/)
    expect(Buffer.from(link.split('.')[1] ?? '', 'base64url').includes('secret')).toBe(false)
    const { name, backend, warnings } = await opened(link)
    expect([name, warnings]).toEqual(['Näme', []])
    for (const [path, bytes] of Object.entries(shared?.files ?? {})) {
      expect((await backend.read(path as never)).bytes, path).toEqual(bytes)
    }
  })

  it.runIf(isLong)('is not made of a project that is too large', async () => {
    expect(await share(Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`f${at}`, 'x'])))).toBeUndefined()
    expect(await share({ 'a.txt': 'x'.repeat(MAX_SHARED_BYTES + 1) })).toBeUndefined()
  })

  it('cannot fill the storage, leave the project, or do anything if it is broken', async () => {
    await expect(opened(linkTo(zipSync({ bomb: new Uint8Array(MAX_SHARED_BYTES + 1) })))).rejects.toThrow(
      'more than 8 MiB',
    )
    const { backend, warnings } = await opened(
      linkTo(zipSync({ '../../evil': new Uint8Array(1), '.git/config': new Uint8Array(1), ok: new Uint8Array(1) })),
    )
    expect((await backend.list('' as never)).map(({ name }) => name)).toContain('ok')
    expect(warnings.join()).toContain('evil')
    expect(await backend.stat('evil' as never)).toBeUndefined()
    for (const hash of ['#project=%.%', '#project=YQ.A', '#project=', '#project=YQ.AAAA']) {
      await expect((async () => opened(`https://x/${hash}`))(), hash).rejects.toThrow()
    }
    expect(sharedProject('#other')).toBeUndefined()
  })

  it.runIf(isLong)('is made in the page and opens as a project of its own, and the address loses it', async () => {
    const page = await playground.sample('price-list', { storage: 'memory' })
    await importFiles(page, 'mine', { 'a.txt': 'one\n', 'src/b.txt': 'two\n', '.env': 'A=1\n' })
    await projectButton(page).click()
    await button(page, 'As a link').click()
    const link = await page.getByLabel('Link that contains the project').inputValue()
    await page.getByRole('dialog').getByText('The link is not complete').waitFor()
    await page.keyboard.press('Escape')
    const other = await page.context().newPage()
    await other.goto(link)
    await projectButton(other, 'mine').waitFor()
    await settled(other)
    expect(await filesOnDisk(other)).toEqual({ 'a.txt': 'one\n', 'src/b.txt': 'two\n' })
    expect(new URL(other.url()).hash).toBe('')
    await other.evaluate(() => {
      location.hash = '#project=YQ.broken'
    })
    await other.getByText(/Cannot (read|open) the/).waitFor()
    await projectButton(other, 'mine').waitFor()
  })
})
