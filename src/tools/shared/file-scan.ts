import type { Secret } from '../../files/secrets/formats.ts'
import { SecretScan } from '../../files/secrets/scan.ts'
import { type Path, quote } from '../../paths/logical-path.ts'
import type { Backend, Stat } from '../../storage/backend.ts'
import { largeBounds } from '../../storage/large-bounds.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { byteText } from '../../util/native-bytes.ts'
import { createPacer } from '../../util/pacer.ts'
import { runInTurns } from '../../util/steps.ts'

/** Where a search reads its file. */
interface ScanReads {
  readonly reads: Pick<Backend, 'read'>
  readonly path: Path
  readonly signal: AbortSignal | undefined
}

/** The search of one version of a large file for secrets, as far as it was needed. Offsets are those of bytes. */
export class FileScan {
  readonly tag: string
  readonly #size: number
  readonly #scan = new SecretScan()
  readonly #pause = createPacer()
  #at = 0
  #running: Promise<unknown> = Promise.resolve()

  constructor({ size, tag }: Pick<Stat, 'size' | 'tag'>) {
    this.tag = tag
    this.#size = size
  }

  /** The offset before which all secrets are known. */
  get settled(): number {
    return this.#scan.settled
  }

  /** Searches bytes of the file that were not searched yet. All bytes before `start` must have been added. */
  add(bytes: Uint8Array, start: number): Promise<void> {
    return this.#inTurn(() => this.#add(bytes, start))
  }

  /**
   * Returns the secrets of which a part is in a range. Reads the file from where the search has come to. The signal ends it between two
   * parts, and others go on from there.
   *
   * @throws ToolError `ABORTED`
   */
  async between(
    { reads, path, signal }: ScanReads,
    { start, end }: { readonly start: number; readonly end: number },
  ): Promise<readonly Secret[]> {
    while (this.settled < end && this.#at < this.#size) {
      throwIfAborted(signal, `Reading ${quote(path)} was cancelled`, { path })
      const from = this.#at
      const range = { start: from, end: Math.min(this.#size, from + largeBounds.partBytes), tag: this.tag }
      // Not in turn: others must not wait for a storage that does not answer.
      await this.add((await reads.read(path, range)).bytes, from)
    }
    return this.#scan.between(start, end)
  }

  /** Returns the secrets of which a part is in a range, as far as the search has come. */
  known(start: number, end: number): readonly Secret[] {
    return this.#scan.between(start, end)
  }

  async #add(bytes: Uint8Array, start: number): Promise<void> {
    const end = start + bytes.length
    if (end <= this.#at) return
    await runInTurns(this.#scan.add(byteText(bytes.subarray(this.#at - start)), end === this.#size), this.#pause)
    this.#at = end
    // The search of a part without secrets has no steps.
    await this.#pause()
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const result = this.#running.then(act, act)
    this.#running = result
    return result
  }
}

/** The searches of the files that were read last, by path. */
export type FileScans = Map<string, FileScan>

/** Each may hold a part of its file, and where its secrets are. */
const MAX_SCANS = 32

/** Returns the search of a version, which may have begun before. */
export function scanOf(scans: FileScans, path: Path, version: Pick<Stat, 'size' | 'tag'>): FileScan {
  const before = scans.get(path)
  const scan = before?.tag === version.tag ? before : new FileScan(version)
  scans.delete(path)
  scans.set(path, scan)
  if (scans.size > MAX_SCANS) scans.delete(scans.keys().next().value as string)
  return scan
}
