import type { OutputListener } from '../live-output.ts'
import type { PersonInput } from '../person-input.ts'

/** One script to run: a file, or code from the command line. */
export interface Script {
  /** A file, or code of the command line. `prints`: prints the value of the code. */
  readonly main:
    | { readonly kind: 'file'; readonly path: string }
    | { readonly kind: 'code'; readonly text: string; readonly prints: boolean; readonly isModule: boolean }
  /** Whether it runs as a test file, by `node --test`. */
  readonly isTest: boolean
  /** A regular expression: runs only tests whose name matches. */
  readonly namePattern?: string
  readonly args: readonly string[]
  /** An absolute path, like all paths here. */
  readonly cwd: string
  /** The path of the workspace: the home directory of a user whose environment names none. */
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  /** One character per byte. */
  readonly stdin: string
}

/** Where the output of a script goes as it comes, and where its input comes from, if it has no `stdin`. */
export interface ScriptStreams {
  readonly onOutput?: OutputListener | undefined
  readonly input?: Pick<PersonInput, 'next'> | undefined
}

export interface ScriptResult {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  readonly tests?: TestReport
}

/** The results of the tests of one file. */
export interface TestReport {
  readonly totals: Readonly<Record<'tests' | 'suites' | 'pass' | 'fail' | 'cancelled' | 'skipped' | 'todo', number>>
  readonly failures: readonly { readonly name: string; readonly file: string; readonly text: string }[]
}

/** The files that a script sees. Errors have a system's code (`ENOENT`). */
export interface ScriptFiles {
  readFileBuffer(path: string): Promise<Uint8Array>
  writeFile(path: string, bytes: Uint8Array): Promise<void>
  appendFile(path: string, bytes: Uint8Array): Promise<void>
  stat(path: string): Promise<ScriptStat>
  lstat(path: string): Promise<ScriptStat>
  readdir(path: string): Promise<string[]>
  mkdir(path: string, options?: { recursive?: boolean }): Promise<void>
  rm(path: string, options?: { recursive?: boolean; force?: boolean }): Promise<void>
  mv(from: string, to: string): Promise<void>
  cp(from: string, to: string, options?: { recursive?: boolean }): Promise<void>
  chmod(path: string, mode: number): Promise<void>
  symlink(target: string, path: string): Promise<void>
  readlink(path: string): Promise<string>
  realpath(path: string): Promise<string>
}

export interface ScriptStat {
  readonly isFile: boolean
  readonly isDirectory: boolean
  readonly isSymbolicLink: boolean
  readonly mode: number
  readonly size: number
  readonly mtime: Date
}
