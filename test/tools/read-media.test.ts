import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memorySink } from '../../src/audit/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { announcedType, measureMedia } from '../../src/files/media/measure.ts'
import { type MediaType, mediaTypes } from '../../src/files/media/types.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/index.ts'
import { parseRecording, replay } from '../../src/workspace/replay.ts'
import { times } from '../counts.ts'
import { gif, jpeg, PNG_SIGNATURE, pdf, png, pngChunk, webp } from '../media.ts'
import type { Tree } from './setup.ts'

const bytes = (...parts: readonly (string | Uint8Array)[]) =>
  new Uint8Array(Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part))))

// Joined at run time, so that this file contains no token.
const TOKEN = ['ghp_', '16C7e42F292c6912E7710c838347Ae178B4a'].join('')

const open = (files: Tree, options: Partial<WorkspaceOptions> = {}) =>
  createWorkspace({ backend: memory(files), policy: 'autonomous', ...options })

async function read(file: Uint8Array | string, { path = 'a.dat', media = true as const, ...options } = {}) {
  const workspace = await open({ [path]: file }, options)
  return workspace.callTool('read_file', { path }, { media })
}

interface Sample {
  readonly name: string
  readonly file: Uint8Array
  readonly type: MediaType
  readonly size?: { readonly width: number; readonly height: number }
}

const size = { width: 640, height: 480 }
const small = { width: 64, height: 48 }
const samples: readonly Sample[] = [
  { name: 'PNG', file: png(640, 480), type: 'image/png', size },
  { name: 'JPEG', file: jpeg(640, 480, 'a comment'), type: 'image/jpeg', size },
  { name: 'GIF', file: gif(64, 48), type: 'image/gif', size: small },
  { name: 'GIF with a frame over its screen', file: gif(4, 4, small), type: 'image/gif', size: small },
  { name: 'WebP, lossy', file: webp('VP8 ', 640, 480), type: 'image/webp', size },
  { name: 'WebP, lossless', file: webp('VP8L', 640, 480), type: 'image/webp', size },
  { name: 'WebP, extended', file: webp('VP8X', 640, 480), type: 'image/webp', size },
  { name: 'PDF', file: pdf('Hello'), type: 'application/pdf' },
]

describe('read_file of media', () => {
  it.each(samples)(
    '%s: returns the bytes with their type and size, under any name',
    async ({ file, type: mimeType, size }) => {
      for (const path of ['a.dat', 'a.txt', 'b.png', 'c.pdf', 'none']) {
        const result = await read(file, { path })
        const type = size === undefined ? 'document' : 'image'
        const media = { type, mimeType, sizeBytes: file.length, ...size, data: Buffer.from(file).toString('base64') }
        expect(result).toMatchObject({
          ok: true,
          path,
          content: '',
          kind: 'BINARY',
          truncated: false,
          warnings: [],
          media,
        })
        expect(Object.keys((result as unknown as { media: object }).media)).toEqual(Object.keys(media))
      }
    },
  )

  it.each(samples)(
    '%s: is refused as before for a caller that takes none, or other types',
    async ({ file, type: mimeType }) => {
      const workspace = await open({ 'a.dat': file })
      const refusal = await workspace.callTool('read_file', { path: 'a.dat' })
      expect(refusal).toMatchObject({
        ok: false,
        hint: expect.stringMatching(/^The (file is not text|text cannot be read)/),
      })
      for (const media of [false, [], mediaTypes.filter((type) => type !== mimeType)]) {
        expect(await workspace.callTool('read_file', { path: 'a.dat' }, { media })).toEqual(refusal)
      }
      expect(await workspace.callTool('read_file', { path: 'a.dat' }, { media: [mimeType] })).toMatchObject({
        ok: true,
      })
    },
  )

  it('refuses media that the caller cannot name', async () => {
    const workspace = await open({ 'a.png': png(1, 1) })
    const result = await workspace.callTool('read_file', { path: 'a.png' }, { media: ['image/bmp'] as never })
    expect(result).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('media[0]') })
  })

  it('leaves out what follows the end of an image', async () => {
    for (const { file, type: mimeType } of samples.filter(({ type }) => type.startsWith('image/'))) {
      const hidden = bytes(file, 'PK\x03\x04<script>')
      const result = await read(hidden)
      const media = { mimeType, sizeBytes: hidden.length, data: Buffer.from(file).toString('base64') }
      expect(result).toMatchObject({ media, warnings: ['Left out: 12 bytes after its end'] })
    }
  })

  it.each(samples)(
    '$name: a file that is cut anywhere is no image, and names what is wrong',
    async ({ file, type }) => {
      for (let length = 0; length < file.length - (type === 'application/pdf' ? 1 : 0); length++) {
        if (length > 70 && length < file.length - 70 && length % 7 !== 0) continue
        const cut = file.slice(0, length)
        if (announcedType(cut) === type) expect([length, measureMedia(type, cut)]).toEqual([length, expect.any(String)])
      }
      const half = await read(file.slice(0, file.length - 8))
      expect(half).toMatchObject({
        ok: false,
        code: 'UNSUPPORTED_BINARY',
        message: expect.stringMatching(/: it is cut off$/),
      })
    },
  )

  const broken: readonly (readonly [string, Uint8Array])[] = [
    [
      'a PNG without header',
      bytes(PNG_SIGNATURE, pngChunk('IDAT', new Uint8Array(4)), pngChunk('IEND', new Uint8Array())),
    ],
    ['a PNG without data', bytes(PNG_SIGNATURE, png(2, 2).slice(8, 33), pngChunk('IEND', new Uint8Array()))],
    ['a PNG with a wrong checksum', png(2, 2).map((byte, at) => (at === 30 ? byte ^ 1 : byte))],
    ['a PNG without pixels', png(0, 2)],
    ['a JPEG without pixels', jpeg(2, 0)],
    ['a JPEG without scan', bytes(new Uint8Array([0xff, 0xd8, 0xff, 0xd9]))],
    [
      'a JPEG with a segment that ends before it begins',
      bytes(new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xd9])),
    ],
    ['a GIF without frame', bytes('GIF89a', new Uint8Array([1, 0, 1, 0, 0, 0, 0, 0x3b]))],
    ['a GIF with an unknown block', bytes('GIF89a', new Uint8Array([1, 0, 1, 0, 0, 0, 0, 0x99]))],
    [
      'a WebP with a chunk over its end',
      bytes('RIFF', new Uint8Array([14, 0, 0, 0]), 'WEBPVP8L', new Uint8Array([99, 0, 0, 0]), '  '),
    ],
    ['a WebP without image', bytes('RIFF', new Uint8Array([4, 0, 0, 0]), 'WEBP')],
    ['an encrypted PDF', pdf('a', '/Encrypt 9 0 R')],
    ['a PDF without its end', bytes('%PDF-1.7\n', new Uint8Array([0xff, 0xfe, 0]), '\n')],
  ]
  it.each(broken)('refuses %s', async (_, file) => {
    const result = await read(file, { path: 'a.png' })
    expect(result).toMatchObject({
      ok: false,
      code: 'UNSUPPORTED_BINARY',
      message: expect.stringMatching(/^Cannot show "a.png" as /),
    })
  })

  it('reads as a text what only begins like media, or has the name of media', async () => {
    for (const text of [
      'GIF89a is a format\n',
      '%PDF-1.4 is how a document begins\n',
      'RIFF....WEBP\n',
      'plain\n',
      '<svg/>',
    ]) {
      for (const path of ['a.png', 'a.svg', 'a.pdf']) {
        const result = await read(text, { path })
        expect(result).toMatchObject({ ok: true, content: text })
        expect(result).not.toHaveProperty('media')
      }
    }
    // A PDF of letters alone is a text for those who take no documents.
    const letters = Buffer.from(pdf('Hello').filter((byte) => byte < 0x80))
    expect(await read(letters)).toMatchObject({ media: { mimeType: 'application/pdf' } })
    expect(await read(letters, { media: ['image/png'] as never })).toMatchObject({ content: letters.toString() })
  })

  it('takes linear time and never throws, whatever the bytes are', () => {
    const starts = samples.map(({ file }) => file)
    fc.assert(
      fc.property(
        fc.constantFrom(...starts),
        fc.array(fc.tuple(fc.nat(700), fc.nat(255)), { maxLength: 12 }),
        (file, edits) => {
          const changed = Uint8Array.from(file)
          for (const [at, byte] of edits) if (at < changed.length) changed[at] = byte
          for (const type of mediaTypes) {
            const found = measureMedia(type, changed)
            if (typeof found !== 'string') expect(found.end).toBeLessThanOrEqual(changed.length)
          }
        },
      ),
      { numRuns: times(250, 200_000) },
    )
  })
})

describe('the bounds of media', () => {
  it.each([
    ['imageBytes', { imageBytes: 60 }, png(3, 2), 'FILE_TOO_LARGE', /68 bytes are over the limit imageBytes of 60$/],
    [
      'documentBytes',
      { documentBytes: 99 },
      pdf('x'),
      'FILE_TOO_LARGE',
      /bytes are over the limit documentBytes of 99$/,
    ],
    ['imageSide', {}, png(8001, 1), 'LIMIT_EXCEEDED', /8001 pixels on one side are over the limit imageSide of 8000$/],
    [
      'imagePixels',
      {},
      png(8000, 5001, '', { width: 1, height: 1 }),
      'LIMIT_EXCEEDED',
      /8000 x 5001 pixels are over the limit imagePixels of 40000000$/,
    ],
    ['a huge size', {}, png(0xffffffff, 0xffffffff, '', { width: 1, height: 1 }), 'LIMIT_EXCEEDED', /imageSide/],
  ] as const)('%s: is named with its value', async (_, limits, file, code, message) => {
    expect(await read(file, { path: 'a', limits } as never)).toMatchObject({
      ok: false,
      code,
      message: expect.stringMatching(message),
      hint: 'Work without its content, or on a smaller copy of it.',
    })
  })

  it('leaves media whole in a result that is limited otherwise', async () => {
    const file = jpeg(10, 10, '-'.repeat(60_000))
    const result = await read(file, { limits: { projectionBytes: 4096 } } as never)
    expect(result).toMatchObject({ truncated: false, media: { data: Buffer.from(file).toString('base64') } })
  })

  it('counts the bytes of a run, and reads nothing of a file over the limit', async () => {
    const file = png(3, 2)
    const workspace = await open({ 'a.png': file }, { limits: { bytesReadPerRun: 2 * (file.length + 64) } })
    const call = () => workspace.callTool('read_file', { path: 'a.png' }, { media: true })
    expect([(await call()).ok, (await call()).ok]).toEqual([true, true])
    expect(await call()).toMatchObject({ code: 'LIMIT_EXCEEDED', limit: 'bytesReadPerRun' })
  })
})

describe('what is hidden in media', () => {
  it.each([
    ['PNG', png(1, 1, `token ${TOKEN}`)],
    ['JPEG', jpeg(1, 1, `token ${TOKEN}`)],
    ['PDF', pdf(`token ${TOKEN}`)],
    ['bytes after an image', bytes(png(1, 1), TOKEN)],
    ['UTF-16', jpeg(1, 1, [...TOKEN].join('\0'))],
  ])('refuses a secret in the bytes: %s', async (_, file) => {
    const sink = memorySink()
    const result = await read(file, { audit: sink } as never)
    expect(result).toMatchObject({ code: 'POLICY_DENIED_SECRET', message: expect.stringContaining('(github-token)') })
    expect(JSON.stringify([result, sink.records()])).not.toContain(TOKEN)
  })

  it('refuses a file that its name protects, and one that policy hides', async () => {
    const workspace = await open(
      { '.env.png': png(1, 1), 'keys/id_rsa': png(1, 1), 'secrets.png': png(1, 1), 'private/a.png': png(1, 1) },
      { policy: { preset: 'autonomous', deniedPaths: ['private/**'] } },
    )
    const code = async (path: string) => (await workspace.callTool('read_file', { path }, { media: true })).code
    expect(await code('.env.png')).toBe('POLICY_DENIED_SECRET')
    expect(await code('keys/id_rsa')).toBe('POLICY_DENIED_SECRET')
    expect(await code('secrets.png')).toBe('POLICY_DENIED_SECRET')
    expect(await code('private/a.png')).toBe('POLICY_DENIED')
  })

  it('holds rules about binary files for images with the name of a text', async () => {
    const rule = (action: 'deny' | 'ask') => ({
      policy: {
        preset: 'autonomous' as const,
        rules: [{ name: 'pictures', action, permissions: ['file:read' as const], kinds: ['BINARY' as const] }],
      },
    })
    expect(await read(png(1, 1), { path: 'a.txt', ...rule('deny') } as never)).toMatchObject({ code: 'POLICY_DENIED' })
    expect(await read('text', { path: 'a.txt', ...rule('deny') } as never)).toMatchObject({ ok: true })
    const workspace = await open({ 'a.txt': png(1, 1) }, rule('ask'))
    const asked = await workspace.callTool('read_file', { path: 'a.txt' }, { media: true })
    expect(asked).toMatchObject({ code: 'APPROVAL_REQUIRED' })
    const resumed = await workspace.resume(String(asked.approvalId), 'allow', { media: true })
    expect(resumed).toMatchObject({ ok: true, media: { mimeType: 'image/png' } })
  })

  it('raises the label of the run', async () => {
    const workspace = await open(
      { 'a.png': png(1, 1) },
      { policy: { preset: 'autonomous', labels: { sources: [{ label: 'confidential', paths: ['a.png'] }] } } as never },
    )
    expect(await workspace.callTool('read_file', { path: 'a.png' }, { media: true })).toMatchObject({
      label: 'confidential',
    })
    expect(workspace.taint.label()).toBe('confidential')
  })
})

describe('the records of media', () => {
  it('has the version and the path, and no bytes; the run has not seen a text', async () => {
    const sink = memorySink()
    const workspace = await open({ 'a.dat': png(3, 2) }, { audit: sink })
    const result = await workspace.callTool('read_file', { path: 'a.dat' }, { media: true })
    expect(sink.records().at(-1)).toMatchObject({ pathsRead: ['a.dat'] })
    expect(JSON.stringify(sink.records())).toContain(String(result.sha256))
    expect(JSON.stringify(sink.records())).not.toContain('iVBOR')
    const replaced = await workspace.call('write_file', { path: 'a.dat', content: 'text' })
    expect(replaced).toMatchObject({ code: 'WRITE_CONFLICT' })
  })

  it('leaves out media that the run has, with ifChanged, until they change', async () => {
    const workspace = await open({ 'a.png': png(3, 2), 'b.txt': 'one\n' })
    const call = (path: string, media = true) => workspace.callTool('read_file', { path, ifChanged: true }, { media })
    const first = await call('a.png')
    expect(await call('a.png')).toMatchObject({ unchangedSince: first.callId, content: '' })
    await workspace.files.write('a.png', png(4, 2))
    expect(await call('a.png')).toMatchObject({ media: { width: 4 } })
    // Media are not lines of the same version.
    const letters = pdf('x').filter((byte) => byte < 0x80)
    await workspace.files.write('c.pdf', letters)
    expect((await call('c.pdf')).unchangedSince).toBeUndefined()
    expect((await call('c.pdf', false)).unchangedSince).toBeUndefined()
  })

  it('gives a hook the media, which it can withhold', async () => {
    const hooks = {
      postToolResponse: ({ result }: { readonly result: Readonly<Record<string, unknown>> }) => {
        expect(result.media).toMatchObject({ mimeType: 'image/png' })
        return { ...result, media: { ...(result.media as object), data: '' } }
      },
    }
    expect(await read(png(1, 1), { hooks } as never)).toMatchObject({ ok: true, media: { data: '' } })
  })

  it('is recorded by hash, and replayed', async () => {
    const lines: string[] = []
    const files = { 'a.png': png(3, 2) }
    const workspace = await open(files, { record: (line) => void lines.push(line) })
    await workspace.callTool('read_file', { path: 'a.png' }, { media: true })
    await workspace.callTool('read_file', { path: 'a.png' }, { media: ['image/gif'] })
    await workspace.close()
    expect(lines.join()).toMatch(/"data":"sha256:[0-9a-f]{64}"/)
    expect(lines.join()).not.toContain('iVBOR')
    const entries = parseRecording(lines.join('\n'))
    expect(await replay(entries, { backend: memory(files) })).toEqual({ ok: true, steps: 2 })
    const other = await replay(entries, { backend: memory({ 'a.png': png(3, 3) }) })
    expect(other).toMatchObject({ ok: false, steps: 0 })
  })

  it('says that it has no lines', async () => {
    const workspace = await open({ 'a.png': png(3, 2) })
    const result = await workspace.callTool('read_file', { path: 'a.png', startLine: 5, maxLines: 9 }, { media: true })
    expect(result).toMatchObject({
      ok: true,
      warnings: ['It is shown whole: it has no lines'],
      startLine: 1,
      endLine: 0,
    })
  })
})
