/** A string that holds a zero character travels as its UTF-16 code units: the engine's strings end at a zero. */
export type HostText = string | ArrayBuffer

/** What the host (`engine.ts`) installs on `globalThis` before it evaluates the guest. */
export interface HostFunctions {
  /** Calls a file operation with its arguments as JSON. Returns bytes, or `{ value }` or `{ error }` as JSON. */
  readonly __host: (operation: string, args: string) => string | ArrayBuffer
  /** Writes or appends to a file. Returns `{}` or `{ error }` as JSON. */
  readonly __write: (path: string, bytes: ArrayBuffer, isAppended: boolean) => string
  /** Writes to standard output (1) or standard error (2). */
  readonly __out: (fd: number, text: HostText) => void
  /** Waits for the next part of the standard input. */
  readonly __input: () => ArrayBuffer | undefined
  readonly __encode: (text: HostText, encoding: string) => ArrayBuffer
  readonly __decode: (bytes: ArrayBuffer, encoding: string) => HostText
  /** Returns the hash in hexadecimal. */
  readonly __sha256: (bytes: ArrayBuffer) => string
  /** Ends the script; the engine stops at its next check. */
  readonly __exit: (code: number) => void
  /** Reports the results of the tests as JSON (`TestReport`). */
  readonly __tests: (report: string) => void
  /** Compiles the text of a CommonJS module to the function that Node wraps it in. */
  readonly __compile: (source: string, path: string) => (...args: unknown[]) => void
  /** `Facts` as JSON. */
  readonly __facts: string
}

/** The script's surroundings. */
export interface Facts {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly root: string
  readonly env: Record<string, string>
  /** Whether a person enters the standard input. */
  readonly isTerminal: boolean
  readonly namePattern?: string
}

/** An error of a file operation, as the host reports it. */
export interface HostError {
  readonly message: string
  readonly code?: string
  readonly syscall?: string
  readonly path?: string
}

/** What the host's resolver finds for a module name. */
export type ResolvedModule =
  | { readonly builtin: string; readonly path?: undefined }
  | { readonly builtin?: undefined; readonly path: string; readonly format: 'commonjs' | 'module' | 'json' }

export type EntryType = 'file' | 'directory' | 'link'

export interface HostStat {
  readonly type: EntryType
  readonly size: number
  readonly mode: number
  readonly mtimeMs: number
}

/** The arguments and result of each file operation (`file-calls.ts`). */
export interface Operations {
  read: [[path: string], ArrayBuffer]
  stat: [[path: string], HostStat]
  lstat: [[path: string], HostStat]
  access: [[path: string], undefined]
  readdir: [[path: string], { readonly name: string; readonly type: EntryType }[]]
  mkdir: [[path: string, isDeep: boolean], string | undefined]
  rm: [[path: string, recursive: boolean, force: boolean], undefined]
  rmdir: [[path: string, recursive: boolean], undefined]
  unlink: [[path: string], undefined]
  rename: [[from: string, to: string], undefined]
  copy: [[from: string, to: string, recursive: boolean], undefined]
  symlink: [[target: string, path: string], undefined]
  readlink: [[path: string], string]
  realpath: [[path: string], string]
  chmod: [[path: string, mode: number], undefined]
  resolve: [[name: string, from: string, kind: 'require'], ResolvedModule]
}
