import fc from 'fast-check'
import { unzipSync, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import type { Backend } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { zipOf } from '../../playground/projects/export-zip.ts'
import { filesOf, type StoredFile } from '../../playground/projects/files-of.ts'
import { fill } from '../../playground/projects/fill.ts'
import { readZip } from '../../playground/projects/import-zip.ts'

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

async function allOf(backend: Backend): Promise<StoredFile[]> {
  const files: StoredFile[] = []
  for await (const file of filesOf(backend)) files.push(file)
  return files
}

async function imported(zip: Blob) {
  const backend = memory()
  const warnings = await fill(backend, await readZip(zip), {})
  const files = await allOf(backend)
  return { backend, warnings, files: Object.fromEntries(files.map((file) => [file.path, file])) }
}

/** Creates a zip with fflate, with permission bits and links as on Unix. */
function zipped(files: Record<string, [string | Uint8Array, number?]>): Blob {
  const entries = Object.entries(files).map(([path, [content, mode]]) => [
    path,
    [typeof content === 'string' ? bytesOf(content) : content, mode === undefined ? {} : { os: 3, attrs: mode << 16 }],
  ])
  return new Blob([zipSync(Object.fromEntries(entries))])
}

describe('a project from a zip', () => {
  it('keeps all bytes, names and permission bits', async () => {
    const binary = Uint8Array.from({ length: 70_000 }, (_, i) => (i * i) & 255)
    const { files, warnings } = await imported(
      zipped({
        'crlf.txt': ['a\r\nb\r\n'],
        'bom.txt': ['\ufeffa\n'],
        'with space/näme 漢字 🙂.txt': ['x'],
        empty: [''],
        'bin/data': [binary],
        'run.sh': ['#!/bin/sh\n', 0o100755],
        '.git/HEAD': ['ref: refs/heads/main\n'],
        '.env': ['TOKEN=1\n'],
        link: ['run.sh', 0o120777],
        'hollow/': [''],
      }),
    )
    expect(warnings).toEqual([])
    expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(files['bom.txt']?.bytes)).toBe('\ufeffa\n')
    expect(files['crlf.txt']?.bytes).toEqual(bytesOf('a\r\nb\r\n'))
    expect(files['bin/data']?.bytes).toEqual(binary)
    expect(files.empty?.bytes).toEqual(new Uint8Array())
    expect(files['run.sh']?.mode).toBe(0o755)
    expect(files.link?.target).toBe('run.sh')
    expect(files.hollow?.isDirectory).toBe(true)
    expect(Object.keys(files)).toContain('with space/näme 漢字 🙂.txt')
    expect(Object.keys(files)).toHaveLength(10)
  })

  it('skips absolute names, names that leave the root and links that lead outside, with a warning each', async () => {
    const { files, warnings } = await imported(
      zipped({
        'good.txt': ['good'],
        '../evil.txt': ['evil'],
        'a/../../evil.txt': ['evil'],
        '/etc/passwd': ['evil'],
        'C:\\evil.txt': ['evil'],
        out: ['../../outside', 0o120777],
        self: ['good.txt', 0o120777],
        'self/below.txt': ['through a link'],
      }),
    )
    expect(Object.keys(files).sort()).toEqual(['good.txt', 'self'])
    expect(warnings).toHaveLength(6)
    for (const warning of warnings) expect(warning).toMatch(/^Left out: /)
  })

  it('refuses a damaged or truncated zip and a file that is not a zip', async () => {
    const whole = new Uint8Array(await zipped({ 'a.txt': ['hello '.repeat(100)] }).arrayBuffer())
    for (const bytes of [new Uint8Array(), bytesOf('no zip'), whole.slice(0, -30), whole.slice(10)]) {
      await expect(imported(new Blob([bytes]))).rejects.toThrow('Cannot')
    }
    const torn = whole.slice()
    torn[40] = (torn[40] as number) ^ 0xff
    await expect(imported(new Blob([torn]))).rejects.toThrow()
  })

  it('stops at the declared size of an entry and at the total limit', async () => {
    const bomb = new Uint8Array(await zipped({ 'bomb.txt': ['0'.repeat(5_000_000)] }).arrayBuffer())
    const view = new DataView(bomb.buffer)
    const entry = bomb.length - 22 - 46 - 'bomb.txt'.length
    view.setUint32(entry + 24, 100, true)
    await expect(imported(new Blob([bomb]))).rejects.toThrow('larger than its declared size')
    view.setUint32(entry + 24, 600 * 1024 * 1024, true)
    await expect(imported(new Blob([bomb]))).rejects.toThrow('more than 512 MiB')
  })

  it('is removed when the import is cancelled', async () => {
    const files = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`f${i}`, ['x'] as [string]]))
    const stop = new AbortController()
    const task = { signal: stop.signal, onProgress: () => stop.abort(new Error('enough')) }
    const filling = readZip(zipped(files), task).then((source) => fill(memory(), source, task))
    await expect(filling).rejects.toThrow('enough')
  })
})

describe('a zip of a project', () => {
  it('restores the same project and is readable by another program', async () => {
    const name = fc.stringMatching(/^[\wä漢 🙂-]{1,8}$/u).filter((one) => one.trim() !== '')
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
    const file = fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(0o644, 0o755))
    await fc.assert(
      fc.asyncProperty(fc.dictionary(path, file, { maxKeys: 8 }), async (expected) => {
        const backend = memory()
        const inputs = Object.entries(expected).map(([at, [bytes, mode]]) => ({ path: at, bytes, mode }))
        await fill(backend, { files: inputs }, {})
        const before = await allOf(backend)
        const zip = await zipOf(backend)
        const after = Object.values((await imported(zip)).files)
        const plain = ({ path, bytes, mode }: (typeof before)[number]) => ({ path, bytes: [...bytes], mode })
        // Objects list numeric keys first.
        const inOrder = (files: typeof before) => files.map(plain).sort((a, b) => (a.path < b.path ? -1 : 1))
        expect(inOrder(after)).toEqual(inOrder(before))
        const other = unzipSync(new Uint8Array(await zip.arrayBuffer()))
        expect(Object.keys(other).sort()).toEqual(before.map(({ path }) => path).sort())
        for (const { path, bytes } of before) expect(other[path]).toEqual(bytes)
      }),
      { numRuns: 40 },
    )
  })
})
