import type { Path } from '../../../../src/paths/logical-path.ts'
import { bash } from '../../../../src/shells/bash/index.ts'
import { createCommandFiles } from '../../../../src/shells/shared/command-files.ts'
import type { Disk } from './disk.ts'
import { byReference, handedOver, type Remote } from './wire.ts'

export interface SpawnRequest {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly terminal?: { cols: number; rows: number }
}

export interface ProcessesOptions {
  readonly disk: Disk
  /** The working directory. */
  readonly home: Path
  /** Whether the shell has `trap`. */
  readonly hasTrap: boolean
  /** A shell without variables, so that a line cannot report its status. */
  readonly isDull: boolean
  emit(event: string, ...args: unknown[]): void
}

/** Processes of a stand-in: lines of bash() in a thread, over unguarded files. */
export function createProcesses({ disk, home, hasTrap, isDull, emit }: ProcessesOptions) {
  const shell = bash({ worker: () => new Worker('/thread.js', { type: 'module' }) })
  const kills = new Set<() => void>()

  async function line(text: string, cwd: Path, env: Readonly<Record<string, string>>, signal: AbortSignal) {
    const files = createCommandFiles({
      backend: disk.backend,
      judge: () => {},
      requireAllowed: () => {},
      visibility: () => ({ see: () => true, enter: () => true, revision: 'all' }),
      signal,
      onRead: () => {},
      limits: { treeEntries: 100_000, fileBytes: 256 * 1024 * 1024 },
    })
    return shell.run({ line: text, cwd, env, timeoutMs: 3_600_000, signal, files, now: Date.now })
  }

  function spawn(request: SpawnRequest, output: Remote | undefined): object {
    const { command, args, env = {} } = request
    const cwd = (request.cwd === undefined ? home : `${home}/${request.cwd.replace(/\/+$/, '')}`) as Path
    let size = request.terminal ?? { cols: 80, rows: 24 }
    const stop = new AbortController()
    let end: (code: number) => void = () => {}
    const onExit = new Promise<number>((resolve) => {
      end = resolve
    })
    const encoder = new TextEncoder()
    let sending: Promise<unknown> = Promise.resolve()
    /** A terminal ends lines with CRLF; the LF may arrive separately. */
    function print(text: string): void {
      const terminalText = text.replaceAll('\n', '\r\n')
      const cut = terminalText.indexOf('\r\n') + 1
      for (const part of [terminalText.slice(0, cut), terminalText.slice(cut)]) {
        if (part !== '') sending = sending.then(() => output?.(handedOver(encoder.encode(part))))
      }
    }
    function exit(code: number): void {
      kills.delete(kill)
      sending = sending.then(() => output?.(null))
      end(code)
    }
    let isStubborn = false
    function kill(): void {
      if (isStubborn) return
      stop.abort()
      exit(137)
    }
    kills.add(kill)

    /** Replaces what this shell lacks, and programs that bash() does not have. */
    function runnable(script: string): string {
      const [before, programs] = splitScript(script)
      const replaced = programs
        .replace(/^emit .*$/gm, 'true')
        .replace(/\bserve \d+\b/g, 'sleep 36000')
        .replaceAll('terminal-size', `echo ${size.cols}x${size.rows}`)
      const whole = before === '' ? replaced : `${before}eval ${quoted(replaced)}`
      const trapped = hasTrap ? whole : whole.replace(/^trap /gm, 'no-trap ')
      return isDull ? trapped.replaceAll('$?', '').replace(/^wardspace_status=.*$/gm, 'false') : trapped
    }

    async function run(script: string): Promise<void> {
      const [, programs] = splitScript(script)
      const emitted = /^emit (\S+) (.*)$/m.exec(programs)
      if (emitted !== null) emit(emitted[1] ?? '', ...(JSON.parse(emitted[2] ?? '[]') as unknown[]))
      const served = /\bserve (\d+)\b/.exec(programs)
      const port = Number(served?.[1])
      const url = `https://${port}--stand-in.localhost/`
      if (served !== null) {
        emit('port', port, 'open', url)
        emit('server-ready', port, url)
      }
      isStubborn = /\bstubborn\b/.test(programs)
      if (isStubborn) return
      if (/^listen$/m.test(programs)) {
        print('listening\n')
        return
      }
      try {
        const { stdout, stderr, exitCode } = await line(runnable(script), cwd, env, stop.signal)
        if (stop.signal.aborted) return
        print(`${stdout}${stderr}`)
        exit(exitCode)
      } catch (error) {
        // A loop that bash() ends by its limits would run forever in a real container.
        if (stop.signal.aborted || (error as { code?: string }).code === 'LIMIT_EXCEEDED') return
        print(`${(error as Error).message}\n`)
        exit(126)
      } finally {
        if (served !== null) emit('port', port, 'close', url)
      }
    }

    /** Without a script, the shell reads lines from its terminal, as does a program that reads input. */
    let typed = ''
    let isListening = false
    let turn: Promise<unknown> = Promise.resolve()
    async function type(text: string): Promise<void> {
      typed += text
      for (let at = typed.search(/[\n\u0004]/); at !== -1; at = typed.search(/[\n\u0004]/)) {
        const one = typed.slice(0, at)
        const isEnd = typed[at] === '\u0004' || one === 'exit'
        typed = typed.slice(at + 1)
        turn = turn.then(async () => {
          if (isEnd) return exit(0)
          if (isListening) return print(`heard ${one}, ${size.cols}x${size.rows}\n`)
          const { stdout, stderr } = await line(one, cwd, env, stop.signal)
          print(`${stdout}${stderr}`)
        })
      }
    }

    if (command === 'jsh' && args[0] === '-c') {
      const script = args[1] ?? ''
      isListening = /^listen$/m.test(splitScript(script)[1])
      void run(script)
    } else if (command !== 'jsh') void run([command, ...args.map(quoted)].join(' '))
    return byReference({
      onExit,
      write: (text: string) => type(text),
      kill,
      resize(dimensions: { cols: number; rows: number }) {
        size = dimensions
      },
    })
  }

  return {
    spawn,
    async close() {
      for (const kill of kills) kill()
      await shell.close()
    },
  }
}

/** Splits a script before the `eval` at its end, and returns what it evaluates, or the script if it has none. */
function splitScript(script: string): [before: string, programs: string] {
  const evaluation = /^eval '([\s\S]*)'$/m.exec(script)
  if (evaluation === null) return ['', script]
  return [script.slice(0, evaluation.index), (evaluation[1] ?? '').replaceAll("'\\''", "'")]
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
