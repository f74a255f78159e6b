import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface ProgramOptions {
  readonly cwd: string
  /** All variables; otherwise those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly input?: string | Uint8Array
}

interface EndedProgram {
  readonly status: number
  readonly stdout: Buffer
  readonly stderr: Buffer
}

/**
 * Runs a program to its end, as `spawnSync` does, but from a small shell that waits for requests. The process of the
 * tests is so large that to copy it for each program takes longer than most programs.
 */
export function runProgram(file: string, args: readonly string[], options: ProgramOptions): EndedProgram {
  shell ??= startShell()
  const { at, variables, requests, answers } = shell
  const { cwd, env = process.env, input = '' } = options
  const settings = [...new Set([...Object.keys(variables), ...Object.keys(env)])]
    .filter((name) => env[name] !== variables[name])
    .map((name) => (env[name] === undefined ? `unset ${name}` : `export ${name}=${quoted(env[name])}`))
  const command = `exec ${[file, ...args].map(quoted).join(' ')}`
  writeFileSync(at('stdin'), input)
  writeFileSync(
    at('request'),
    `(${[...settings, `cd ${quoted(cwd)}`].join(' && ')} && ${command}) < "$0/stdin" > "$0/stdout" 2> "$0/stderr" 3<&- 4>&-\n`,
  )
  writeSync(requests, '\n')
  const answer = Buffer.alloc(16)
  const status = Number.parseInt(answer.toString('latin1', 0, readSync(answers, answer)), 10)
  if (Number.isNaN(status)) throw new Error('The shell that runs programs has ended')
  return { status, stdout: readFileSync(at('stdout')), stderr: readFileSync(at('stderr')) }
}

/** What a program prints. As `execFileSync`, throws if the program fails. */
export function outputOf(file: string, args: readonly string[], options: ProgramOptions): Buffer {
  const ended = runProgram(file, args, options)
  if (ended.status === 0) return ended.stdout
  throw Object.assign(new Error(`Command failed: ${[file, ...args].join(' ')}\n${ended.stderr}`), ended)
}

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

interface Shell {
  readonly at: (name: string) => string
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly requests: number
  readonly answers: number
}

let shell: Shell | undefined

/** A shell that ends, and removes its directory, when this process has ended. */
function startShell(): Shell {
  const directory = mkdtempSync(join(tmpdir(), 'wardspace-programs-'))
  const at = (name: string) => join(directory, name)
  execFileSync('mkfifo', [at('requests'), at('answers')])
  const loop = 'while read -r _; do . "$0/request"; echo $? >&4; done <&3; rm -rf "$0"'
  const options = { stdio: 'ignore', detached: true } as const
  spawn('sh', ['-c', `exec 3< "$0/requests" 4> "$0/answers"; ${loop}`, directory], options).unref()
  return {
    at,
    variables: { ...process.env },
    requests: openSync(at('requests'), 'w'),
    answers: openSync(at('answers'), 'r'),
  }
}
