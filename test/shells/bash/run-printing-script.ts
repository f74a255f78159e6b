import { type IFileSystem, InMemoryFs } from 'just-bash'
import { loadInterpreter } from '../../../src/shells/bash/just-bash.ts'
import { lineOutput, type OutputListener } from '../../../src/shells/bash/live-output.ts'
import { type LineResult, runLine } from '../../../src/shells/bash/run-line.ts'
import { interpreterCommands } from '../../../src/shells/bash/same-thread.ts'

const DIRECTORY = '/workspace'

const files = {
  'a.txt': 'a\nb\n',
  'latin.bin': new Uint8Array([0xc3, 0xa9, 0xe9, 10]),
  'script.sh': 'echo s1\necho s2 >&2\nfor z in 1 2; do echo s3; done\n',
  'package.json': JSON.stringify({ scripts: { show: 'echo n1; echo n2 >&2; echo n3' } }),
}

/** Runs a script in the interpreter of `bash()`. Returns `undefined` if it exceeds a limit. */
export async function runPrintingScript(line: string, listener?: OutputListener): Promise<LineResult | undefined> {
  const interpreter = await loadInterpreter()
  const fs = new InMemoryFs(
    Object.fromEntries(Object.entries(files).map(([name, content]) => [`${DIRECTORY}/${name}`, content])),
  )
  await fs.writeFile(`${DIRECTORY}/run.sh`, files['script.sh'])
  await fs.chmod(`${DIRECTORY}/run.sh`, 0o755)
  const live = lineOutput(interpreter, listener)
  const request = { line, root: DIRECTORY, cwd: DIRECTORY, env: { HOME: DIRECTORY }, timeoutMs: 20_000 }
  const commands = interpreterCommands({ root: DIRECTORY, runner: noScript, endLine() {}, search: noSearch, live })
  const { signal } = new AbortController()
  return runLine(interpreter, request, { fs: boundMethods(fs), commands, signal, live }).catch(() => undefined)
}

const noScript = async () => ({ stdout: '', stderr: '', exitCode: 0 })
const noSearch = async function* () {}

/** Returns an object with the methods of another one as its own properties, as the interpreter gets its files. */
function boundMethods(fs: IFileSystem): IFileSystem {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(fs)) as (keyof IFileSystem)[]
  return Object.fromEntries(names.map((name) => [name, fs[name]?.bind(fs)])) as unknown as IFileSystem
}
