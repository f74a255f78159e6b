import type { LogicalPath } from '../../paths/logical-path.ts'
import type { Classification } from '../classify/types.ts'
import { sha256, sha256Cached } from '../hash/sha256.ts'
import { noteWithoutSecrets } from '../secrets/find.ts'
import { noteBytesWithoutSecrets, type Redaction, redact } from '../secrets/index.ts'
import { type DecodedText, decodeText, type LineEnd, type TextFormat } from './encoding.ts'
import { countLines } from './lines.ts'

/** One version of a text file, as tools see it. Hash, redaction and line count are computed on first use. */
export interface TextDocument extends TextFormat {
  readonly bytes: Uint8Array
  /** Version of the bytes. */
  readonly sha256: string
  readonly eol: LineEnd
  /** The decoded text without BOM, including secrets. Never show it to a model. */
  readonly original: string
  /** The text for models, searches and edits, with marks in place of recognized secrets. */
  readonly text: string
  readonly redaction: Redaction
  readonly totalLines: number
  /** The kind of the file, by the classification of the name under which it was classified last. */
  classified: { readonly byName: Classification; readonly kind: string } | undefined
}

/**
 * Decodes bytes into a document.
 *
 * @param isStable whether the bytes never change, so that what is known of them can be kept
 * @throws ToolError `UNSUPPORTED_BINARY`, `UNSUPPORTED_ENCODING`
 */
export function createDocument(bytes: Uint8Array, path: LogicalPath, isStable = false): TextDocument {
  return new DecodedDocument(bytes, decodeText(bytes, path), isStable)
}

class DecodedDocument implements TextDocument {
  // Declared alone: the constructor defines them.
  declare readonly bytes: Uint8Array
  declare readonly encoding: TextDocument['encoding']
  declare readonly bom: boolean
  declare readonly eol: LineEnd
  declare readonly original: string
  classified: TextDocument['classified']
  readonly #isStable: boolean
  #sha256: string | undefined
  #redaction: Redaction | undefined
  #totalLines: number | undefined

  constructor(bytes: Uint8Array, { text, encoding, bom, eol }: DecodedText, isStable: boolean) {
    this.bytes = bytes
    this.encoding = encoding
    this.bom = bom
    this.eol = eol
    this.original = text
    this.#isStable = isStable
  }

  get sha256(): string {
    this.#sha256 ??= this.#isStable ? sha256Cached(this.bytes) : sha256(this.bytes)
    return this.#sha256
  }

  get redaction(): Redaction {
    if (this.#redaction === undefined) {
      this.#redaction = redact(this.original)
      // Bytes of ASCII are the same text.
      const isAscii = this.original.length === this.bytes.length
      if (this.#isStable && isAscii && this.#redaction.marks.length === 0) noteBytesWithoutSecrets(this.bytes)
    }
    return this.#redaction
  }

  get text(): string {
    const { text, marks } = this.redaction
    if (marks.length === 0) noteWithoutSecrets(text)
    return text
  }

  get totalLines(): number {
    this.#totalLines ??= countLines(this.text)
    return this.#totalLines
  }
}

/** A cache of documents by the identity of their bytes. */
export interface DocumentCache {
  /** Returns the document of these bytes. Only for a backend that never changes bytes after a read. */
  of(bytes: Uint8Array, path: LogicalPath): TextDocument
}

/** Creates a cache of the latest documents, up to `maxBytes` of memory. */
export function createDocumentCache(maxBytes: number): DocumentCache {
  const documents = new Map<Uint8Array, TextDocument>()
  let size = 0
  return {
    of(bytes, path) {
      const cached = documents.get(bytes)
      if (cached !== undefined) return cached
      const document = createDocument(bytes, path, true)
      size += memoryOf(bytes)
      documents.set(bytes, document)
      for (const [oldest] of documents) {
        if (size <= maxBytes || oldest === bytes) break
        documents.delete(oldest)
        size -= memoryOf(oldest)
      }
      return document
    },
  }
}

/** Estimates the memory of a document in bytes: its bytes, two bytes per unit of text, and a constant per entry. */
function memoryOf(bytes: Uint8Array): number {
  return bytes.length * 3 + 512
}
