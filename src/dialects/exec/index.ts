import * as z from 'zod/mini'
import type { ToolOutput } from '../../tools/index.ts'
import { call, createPathMapping, defineDialectTool, limitOr, readWhole } from '../define.ts'
import { createDialectFactory, type DialectFactory } from '../runtime/dialect-factory.ts'
import type { Answer, DialectError } from '../runtime/types.ts'

const NOTHING_RUNS = 'Nothing here can run this; work without it.'

/**
 * `exec.write`, `exec.read`, `exec.run` and `exec.ls`, for agents that write, run and fix code. They are made for a separate
 * workspace, which `execWorkspace` of `wardspace/dialects/exec-workspace` opens. Results are plain data; an error is
 * `{ error: { code, message, hint } }`.
 *
 * @param roots virtual roots of its paths. Default: none, paths are relative to the root of the workspace
 */
export const exec: DialectFactory = createDialectFactory('exec()', {}, (roots) => ({
  name: 'exec',
  description: 'exec.write, exec.read, exec.run and exec.ls over files of their own',
  pathMapping: createPathMapping(roots),
  tools,
  hints: {
    WRITE_CONFLICT:
      'Read the file with exec.read, and repeat the change on what it shows; change one that is too large for that with exec.run.',
    IS_DIRECTORY: 'Name a file; use exec.ls for a directory.',
    FILE_TOO_LARGE: 'Look at a part of it with exec.run, such as head -n 100.',
    NOT_FOUND: 'Look with exec.ls at what there is.',
    SHELL_UNAVAILABLE: NOTHING_RUNS,
  },
  formatError,
}))

const path = z.string().check(z.describe('Path of the file'))

const tools = [
  defineDialectTool({
    name: 'exec.write',
    description: 'Write a whole file. One that a command has changed is read again first.',
    input: z.object({ path, content: z.string() }),
    uses: ['write_file'],
    *steps({ path, content }, pathMapping) {
      const { bytesWritten, created } = yield* call('write_file', { path: pathMapping.inward(path), content })
      return { output: { path, created, bytesWritten } }
    },
  }),
  defineDialectTool({
    name: 'exec.read',
    description: 'Read a whole file.',
    input: z.object({ path }),
    uses: ['read_file'],
    *steps({ path }, pathMapping) {
      const { content } = yield* readWhole(pathMapping.inward(path))
      return { output: { path, content } }
    },
  }),
  defineDialectTool({
    name: 'exec.run',
    description:
      'Run a shell command line, such as the tests. A command that the shell does not have ends with SHELL_UNAVAILABLE and the reason.',
    input: z.object({
      command: z.string().check(z.minLength(1), z.describe('The command line')),
      cwd: z.optional(z.string().check(z.describe('Directory to run it in'))),
      timeoutMs: z.optional(z.int().check(z.minimum(1), z.describe('Milliseconds that it may take'))),
    }),
    uses: ['run_command'],
    *steps({ cwd, ...options }, pathMapping) {
      const result = yield* call('run_command', {
        ...options,
        ...(cwd === undefined ? {} : { cwd: pathMapping.inward(cwd) }),
      })
      return formatRun(result)
    },
  }),
  defineDialectTool({
    name: 'exec.ls',
    description: 'List a directory.',
    input: z.object({ path: z._default(z.string().check(z.describe('Path of the directory')), '.') }),
    uses: ['list_directory'],
    *steps({ path }, pathMapping) {
      const { entries, truncated } = yield* call('list_directory', {
        path: pathMapping.inward(path),
        maxEntries: yield* limitOr('listEntries', 500),
        includeHidden: true,
        includeIgnored: true,
      })
      const listed = entries.map((entry) => ({
        path: pathMapping.outward(entry.path),
        type: entry.type,
        ...(entry.sizeBytes === undefined ? {} : { sizeBytes: entry.sizeBytes }),
      }))
      return { output: { entries: listed, truncated } }
    },
  }),
]

/**
 * Formats the result of a command. An unknown command (exit code 127), or an npm command that is not a script, adds the error
 * `SHELL_UNAVAILABLE`. Effects of the commands before it remain.
 */
function formatRun(result: ToolOutput<'run_command'>): Answer {
  const { exitCode, stdout, stderr, filesChanged, truncated, outputUri, refused } = result
  const missing =
    exitCode === 127 || /^npm error \S+: only .* work in this shell$/m.test(stderr) ? lastLine(stderr) : undefined
  return {
    output: {
      exitCode,
      stdout,
      stderr,
      filesChanged,
      ...(truncated ? { truncated, outputUri } : {}),
      ...(refused === undefined ? {} : { refused }),
      ...(missing === undefined ? {} : { error: { code: 'SHELL_UNAVAILABLE', message: missing, hint: NOTHING_RUNS } }),
    },
    isError: exitCode !== 0,
  }
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) as string
}

function formatError({ code, message, hint, path }: DialectError): Answer {
  return { output: { error: { code, message, hint, ...(path === undefined ? {} : { path }) } } }
}
