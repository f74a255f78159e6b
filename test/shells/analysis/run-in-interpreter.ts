import { type IFileSystem, InMemoryFs } from 'just-bash'
import { loadInterpreter } from '../../../src/shells/bash/just-bash.ts'
import { runLine } from '../../../src/shells/bash/run-line.ts'
import { interpreterCommands } from '../../../src/shells/bash/same-thread.ts'
import { forbiddenPrograms } from './hidden-commands.ts'

const DIRECTORY = '/workspace'
const stubs = [...forbiddenPrograms, 'ok']

/** Runs a line in the interpreter of `bash()`, with stubs as commands and files. Returns the names of the stubs that it started. */
export async function runInInterpreter(line: string): Promise<string[]> {
  const started: string[] = []
  const commands = stubs.map((name) => ({
    name,
    async execute() {
      started.push(name)
      return { stdout: '', stderr: '', exitCode: 0 }
    },
  }))
  const scripts = stubs.flatMap((name) =>
    ['', 'bin/'].map((directory) => [
      `${DIRECTORY}/${directory}${name}`,
      { content: `#!/bin/bash\n${name}\n`, mode: 0o755 },
    ]),
  )
  const fs = new InMemoryFs({
    ...Object.fromEntries(scripts),
    [`${DIRECTORY}/a.txt`]: 'a\nb\n',
    [`${DIRECTORY}/w1`]: '',
    [`${DIRECTORY}/w2`]: '',
  })
  const environment = {
    fs: boundMethods(fs),
    commands: [
      ...interpreterCommands({ root: '/workspace', runner: noScript, endLine() {}, search: noSearch }),
      ...commands,
    ],
    signal: new AbortController().signal,
  }
  const request = { line, root: '/workspace', cwd: DIRECTORY, env: { HOME: DIRECTORY }, timeoutMs: 2000 }
  // A line that fails may have started a stub before.
  await runLine(await loadInterpreter(), request, environment).catch(() => {})
  return started
}

/** Scripts of `node` start no commands. */
const noScript = async () => ({ stdout: '', stderr: '', exitCode: 0 })
const noSearch = async function* () {}

/** Returns an object with the methods of another one as its own properties, as the interpreter gets its files. */
function boundMethods(fs: IFileSystem): IFileSystem {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(fs)) as (keyof IFileSystem)[]
  return Object.fromEntries(names.map((name) => [name, fs[name]?.bind(fs)])) as unknown as IFileSystem
}
