/** The part of the streams of Node that all programs use. With the option `stream`, the streams have the types of its classes. */
export interface FsStream extends AsyncIterable<Uint8Array | string> {
  /** Adds a listener. */
  on(event: string, listener: (...args: never[]) => void): this
  /** Adds a listener for one event. */
  once(event: string, listener: (...args: never[]) => void): this
  /** Passes what is read to another stream, and returns that. */
  pipe<T extends object>(destination: T): T
  /** Writes a chunk. Returns false if the program should wait for `drain`. */
  write(chunk: Uint8Array | string): boolean
  /** Writes a last chunk, and ends the stream. */
  end(chunk?: Uint8Array | string): this
  /** Ends the stream at once. */
  destroy(error?: Error): this
  /** Ends the stream, after all that was written. The callback is called when it is closed. */
  close(callback?: () => void): void
}
