import { deflateSync } from 'node:zlib'
import { crc32 } from '../src/util/crc32.ts'

// Images and documents as small as their formats allow, made by code.

const ascii = (text: string) => Buffer.from(text, 'latin1')

function uint(value: number, bytes: number, littleEndian = false): Buffer {
  const buffer = Buffer.alloc(bytes)
  if (littleEndian) buffer.writeUIntLE(value, 0, bytes)
  else buffer.writeUIntBE(value, 0, bytes)
  return buffer
}

const join = (...parts: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(parts))

/** Returns a chunk of a PNG file with its checksum. */
export function pngChunk(name: string, data: Uint8Array): Uint8Array {
  const body = Buffer.concat([ascii(name), data])
  return join(uint(data.length, 4), body, uint(crc32(body), 4))
}

export const PNG_SIGNATURE = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Returns a grey PNG image, with a comment if there is one. `pixels`: the size that the data has, if it is another. */
export function png(width: number, height: number, comment = '', pixels = { width, height }): Uint8Array {
  const rows = Buffer.alloc((pixels.width + 1) * pixels.height)
  return join(
    PNG_SIGNATURE,
    pngChunk('IHDR', join(uint(width, 4), uint(height, 4), new Uint8Array([8, 0, 0, 0, 0]))),
    ...(comment === '' ? [] : [pngChunk('tEXt', join(ascii('Comment\0'), ascii(comment)))]),
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', new Uint8Array()),
  )
}

function segment(marker: number, data: Uint8Array): Uint8Array {
  return join(new Uint8Array([0xff, marker]), uint(data.length + 2, 2), data)
}

/** Returns a JPEG image whose structure is whole. Its compressed data has a stuffed zero and a restart. */
export function jpeg(width: number, height: number, comment = ''): Uint8Array {
  return join(
    new Uint8Array([0xff, 0xd8]),
    segment(0xe0, join(ascii('JFIF\0'), new Uint8Array([1, 1, 0, 0, 1, 0, 1, 0, 0]))),
    segment(0xfe, ascii(comment)),
    segment(0xc0, join(new Uint8Array([8]), uint(height, 2), uint(width, 2), new Uint8Array([1, 1, 0x11, 0]))),
    segment(0xda, new Uint8Array([1, 1, 0, 0, 63, 0])),
    new Uint8Array([0x12, 0xff, 0x00, 0x34, 0xff, 0xd0, 0x56, 0xff, 0xff, 0xd9]),
  )
}

/** Returns a GIF image. `frame`: the size of its one frame, if it is another. */
export function gif(width: number, height: number, frame = { width, height }): Uint8Array {
  const le = (value: number) => uint(value, 2, true)
  return join(
    ascii('GIF89a'),
    ...[le(width), le(height), new Uint8Array([0x80, 0, 0, 0, 0, 0, 255, 255, 255])],
    new Uint8Array([0x21, 0xf9, 4, 0, 0, 0, 0, 0]),
    ...[new Uint8Array([0x2c, 0, 0, 0, 0]), le(frame.width), le(frame.height), new Uint8Array([0])],
    new Uint8Array([2, 2, 0x44, 0x01, 0, 0x3b]),
  )
}

/** Returns a WebP image in one of its three forms. */
export function webp(form: 'VP8 ' | 'VP8L' | 'VP8X', width: number, height: number): Uint8Array {
  const chunk = (name: string, data: Uint8Array) =>
    join(ascii(name), uint(data.length, 4, true), data, new Uint8Array(data.length % 2))
  const lossy = chunk(
    'VP8 ',
    join(new Uint8Array([0, 0, 0, 0x9d, 0x01, 0x2a]), uint(width, 2, true), uint(height, 2, true), new Uint8Array(3)),
  )
  const lossless = chunk('VP8L', join(new Uint8Array([0x2f]), uint((width - 1) | ((height - 1) << 14), 4, true)))
  const extended = join(
    chunk('VP8X', join(new Uint8Array(4), uint(width - 1, 3, true), uint(height - 1, 3, true))),
    lossy,
  )
  const body = { 'VP8 ': lossy, VP8L: lossless, VP8X: extended }[form]
  return join(ascii('RIFF'), uint(body.length + 4, 4, true), ascii('WEBP'), body)
}

/** Returns a PDF document with one page and a text. `trailer`: further entries of its trailer. */
export function pdf(text: string, trailer = ''): Uint8Array {
  const content = `BT /F1 12 Tf 10 10 Td (${text}) Tj ET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 50] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  // Most writers put bytes beyond ASCII into the second line, so that the file counts as binary.
  let file = '%PDF-1.4\n%\xe2\xe3\xcf\xd3\n'
  const offsets = objects.map((object, index) => {
    const offset = file.length
    file += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const start = file.length
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`)
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries.join('')}`
  file += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`
  return new Uint8Array(ascii(file))
}
