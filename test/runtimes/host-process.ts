import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Report } from './report.ts'

const modules = join(import.meta.dirname, '../../node_modules')

/** The commands that run a file in each runtime. */
export const programs = {
  Node: [process.execPath],
  Deno: [
    join(modules, '@deno/linux-x64-glibc/deno'),
    ...['run', '-A', '--no-remote', '--no-check', '--node-modules-dir=manual'],
  ],
  Bun: [join(modules, '.bin/bun'), 'run'],
} as const

/** Runs a bundle in its own process, and reads its report from a file. */
export async function runInProcess(runtime: keyof typeof programs, code: string): Promise<Report> {
  const home = mkdtempSync(join(tmpdir(), 'wardspace-runtime-'))
  try {
    writeFileSync(join(home, 'bundle.mjs'), code)
    writeFileSync(join(home, 'main.mjs'), mainModule)
    // Deno looks for packages next to a manifest, including those that our package loads on demand.
    writeFileSync(join(home, 'package.json'), '{ "type": "module" }')
    symlinkSync(modules, join(home, 'node_modules'))
    const [program, ...args] = programs[runtime]
    const env = { ...process.env, TMPDIR: home, XDG_STATE_HOME: join(home, 'state'), NO_COLOR: '1', DENO_DIR: home }
    const output = await finished(spawn(program, [...args, join(home, 'main.mjs')], { cwd: home, env, stdio: 'pipe' }))
    if (output !== undefined) throw new Error(`${runtime} did not finish: ${output}`)
    return JSON.parse(readFileSync(join(home, 'report.json'), 'utf8'))
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

const mainModule = `
import { writeFileSync } from 'node:fs'
import { run } from './bundle.mjs'
writeFileSync('report.json', JSON.stringify(await run()))
process.exit(0)
`

/** Returns the output of a failed process, or `undefined`. */
function finished(child: ReturnType<typeof spawn>): Promise<string | undefined> {
  const output: string[] = []
  child.stdout?.on('data', (chunk) => output.push(`${chunk}`))
  child.stderr?.on('data', (chunk) => output.push(`${chunk}`))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code === 0 ? undefined : `exit code ${code}\n${output.join('').slice(-4000)}`))
  })
}
