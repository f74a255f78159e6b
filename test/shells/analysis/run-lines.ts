import { spawn } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { forbiddenPrograms } from './hidden-commands.ts'

/** Real programs that start others or that generated lines use, if the machine has them. */
const tools =
  'bash sh dash env nice nohup timeout stdbuf setsid xargs find cat tee sort split tar awk mawk gawk sed perl make git grep chmod ls rm'.split(
    ' ',
  )

export interface LineToRun {
  readonly shell: 'bash' | 'dash'
  readonly line: string
}

/**
 * Runs lines in real shells, in an empty directory and without network, with only stubs and the tools above on PATH.
 * Returns the names of the stubs that each line started.
 */
export async function runLines(lines: readonly LineToRun[]): Promise<string[][]> {
  const base = mkdtempSync(join(tmpdir(), 'judged-'))
  try {
    prepare(base)
    writeFileSync(join(base, 'lines'), lines.map(({ shell, line }) => `${shell}\0${line}\0`).join(''))
    await run(base)
    const started: string[][] = lines.map(() => [])
    const record = join(base, 'record')
    for (const entry of existsSync(record) ? readFileSync(record, 'utf8').split('\n') : []) {
      const [index, name] = entry.split(' ')
      if (name !== undefined) started[Number(index)]?.push(name)
    }
    return started
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

function prepare(base: string): void {
  const bin = join(base, 'path')
  const work = join(base, 'work')
  mkdirSync(bin)
  mkdirSync(join(work, 'bin'), { recursive: true })
  for (const tool of tools) {
    const real = (process.env.PATH ?? '')
      .split(delimiter)
      .map((directory) => join(directory, tool))
      .find((path) => existsSync(path))
    if (real !== undefined) symlinkSync(real, join(bin, tool))
  }
  for (const name of [...forbiddenPrograms, 'ok']) {
    // Only built-ins, so that the stub works with any PATH.
    writeFileSync(join(bin, name), `#!/bin/sh\nread -r n < '${base}/number'\necho "$n ${name}" >> '${base}/record'\n`)
    chmodSync(join(bin, name), 0o755)
    for (const directory of [work, join(work, 'bin')]) copyFileSync(join(bin, name), join(directory, name))
  }
  writeFileSync(join(work, 'a.txt'), 'a\nb\n')
  writeFileSync(join(work, 'Makefile'), 'all:\n\t@ok $(X)\n')
  writeFileSync(
    join(base, 'driver'),
    `ulimit -t 10 -f 2000
n=0
while IFS= read -r -d '' shell && IFS= read -r -d '' line; do
  printf '%s\\n' "$n" > '${base}/number'
  cd '${work}' || exit 9
  : > w1; : > w2
  env -i PATH='${bin}' HOME='${work}' /usr/bin/timeout -k 1 3 "/bin/$shell" -c "$line" < /dev/null > /dev/null 2>&1
  n=$((n+1))
done < '${base}/lines'
sleep 0.2
`,
  )
}

/** Runs the driver, in a separate network namespace if the machine allows it. */
function run(base: string): Promise<void> {
  return new Promise((done, fail) => {
    const script = `if unshare -n true 2>/dev/null; then exec unshare -n /bin/bash '${base}/driver'; else exec /bin/bash '${base}/driver'; fi`
    const child = spawn('/bin/bash', ['-c', script], { stdio: 'ignore', cwd: base })
    child.on('error', fail)
    child.on('exit', (code) => (code === 0 ? done() : fail(new Error(`The driver of the lines exited with ${code}`))))
  })
}
