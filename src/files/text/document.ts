import type { LogicalPath } from '../../paths/logical-path.ts'
import { sha256, sha256Cached } from '../hash/sha256.ts'
import { type Redaction, redact } from '../secrets/index.ts'
import { decodeText, type LineEnd, type TextFormat } from './encoding.ts'
import { countLines } from './lines.ts'

/** One version of a text file, as tools see it. */
export interface TextDocument extends TextFormat {
  readonly bytes: Uint8Array
  /** Version of the bytes. */
  readonly sha256: string
  readonly eol: LineEnd
  /** Decoded, without BOM, secrets and all: never for a model. */
  readonly original: string
  /** What a model, a search and an edit see: recognised secrets stand as marks. */
  readonly text: string
  readonly redaction: Redaction
  readonly totalLines: number
}

/**
 * Decodes bytes into a document. Hashing, redaction and line count are done when first asked for.
 *
 * @throws ToolError `UNSUPPORTED_BINARY`, `UNSUPPORTED_ENCODING`
 */
export function createDocument(bytes: Uint8Array, path: LogicalPath, versionOf = sha256): TextDocument {
  const { text: original, encoding, bom, eol } = decodeText(bytes, path)
  let version: string | undefined
  let redaction: Redaction | undefined
  let lines: number | undefined
  return {
    bytes,
    encoding,
    bom,
    eol,
    original,
    get sha256() {
      version ??= versionOf(bytes)
      return version
    },
    get redaction() {
      redaction ??= redact(original)
      return redaction
    },
    get text() {
      return this.redaction.text
    },
    get totalLines() {
      lines ??= countLines(this.text)
      return lines
    },
  }
}

export interface DocumentCache {
  /** The document of these very bytes: only for a backend that never changes bytes it has handed out. */
  of(bytes: Uint8Array, path: LogicalPath): TextDocument
}

/** Keeps the documents last used, up to a bound on the bytes they were made from. */
export function createDocumentCache(maxBytes: number): DocumentCache {
  const kept = new Map<Uint8Array, TextDocument>()
  let size = 0
  return {
    of(bytes, path) {
      const known = kept.get(bytes)
      if (known !== undefined) return known
      const document = createDocument(bytes, path, sha256Cached)
      size += cost(bytes)
      kept.set(bytes, document)
      for (const [oldest] of kept) {
        if (size <= maxBytes || oldest === bytes) break
        kept.delete(oldest)
        size -= cost(oldest)
      }
      return document
    },
  }
}

/** Bytes that a document holds on to: its text takes up to two bytes a unit, and each entry something of its own. */
function cost(bytes: Uint8Array): number {
  return bytes.length * 3 + 512
}
