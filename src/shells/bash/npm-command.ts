import type { Command, ExecResult, ResolvedCommandContext } from 'just-bash'
import type { LiveOutput } from './live-output.ts'
import { PERSON_INPUT } from './person-input.ts'
import { resolvePath } from './virtual-paths.ts'

interface Manifest {
  readonly name?: string
  readonly version?: string
  readonly scripts?: Readonly<Record<string, string>>
}

/** `npm test`, `npm run NAME` and their short forms: runs the scripts of package.json in this shell. */
export function npmCommand(live?: LiveOutput): Command {
  return {
    name: 'npm',
    async execute(args, context) {
      const dashes = args.indexOf('--')
      const npmArgs = dashes === -1 ? args : args.slice(0, dashes)
      const extra = dashes === -1 ? [] : args.slice(dashes + 1)
      const isQuiet = npmArgs.includes('-s') || npmArgs.includes('--silent')
      const [verb = '', ...operands] = npmArgs.filter((arg) => !/^(-s|--silent|--if-present)$/.test(arg))
      const names: Readonly<Record<string, string>> = {
        t: 'test',
        tst: 'test',
        test: 'test',
        start: 'start',
        stop: 'stop',
        restart: 'restart',
      }
      const isRun = verb === 'run' || verb === 'run-script' || verb === 'rum' || verb === 'urn'
      const name = isRun ? operands.shift() : Object.hasOwn(names, verb) ? names[verb] : undefined
      if (verb === '-v' || verb === '--version') return { stdout: '10.8.2\n', stderr: '', exitCode: 0 }
      const nearest = await manifestFrom(context)
      if (isRun && name === undefined) return list(nearest?.manifest)
      if (name === undefined)
        return refused(`${verb === '' ? 'what to do' : verb}: only test, start, stop and run work in this shell`)
      if (nearest === undefined) return refused('there is no package.json here')
      const { manifest, directory } = nearest
      const scripts = manifest.scripts ?? {}
      if (!Object.hasOwn(scripts, name)) {
        if (npmArgs.includes('--if-present')) return { stdout: '', stderr: '', exitCode: 0 }
        return refused(`Missing script: "${name}"`)
      }
      return runScripts(name, [...operands, ...extra], { manifest, scripts, directory, isQuiet }, context, live)
    },
  }
}

interface ScriptPackage {
  readonly manifest: Manifest
  readonly scripts: NonNullable<Manifest['scripts']>
  readonly directory: string
  readonly isQuiet: boolean
}

async function runScripts(
  name: string,
  extra: readonly string[],
  { manifest, scripts, directory, isQuiet }: ScriptPackage,
  context: ResolvedCommandContext,
  live: LiveOutput | undefined,
): Promise<ExecResult> {
  const show = live?.writerFor('npm')
  let stdout = ''
  let stderr = ''
  for (const step of [`pre${name}`, name, `post${name}`]) {
    if (!Object.hasOwn(scripts, step)) continue
    const line = [scripts[step], ...(step === name ? extra.map(quote) : [])].join(' ')
    const title = `\n> ${manifest.name ?? 'package'}${manifest.version === undefined ? '' : `@${manifest.version}`} ${step}\n> ${line}\n\n`
    if (!isQuiet) {
      stdout += title
      show?.('stdout', title)
    }
    const env = {
      npm_lifecycle_event: step,
      npm_lifecycle_script: line,
      npm_package_json: `${directory}/package.json`,
      ...(manifest.name === undefined ? {} : { npm_package_name: manifest.name }),
      ...(manifest.version === undefined ? {} : { npm_package_version: manifest.version }),
    }
    const stdin = String(context.stdin) === PERSON_INPUT ? { stdin: PERSON_INPUT } : {}
    const options = {
      cwd: directory,
      env,
      ...stdin,
      ...(context.signal === undefined ? {} : { signal: context.signal }),
    }
    const result = await context.exec?.(`export ${Object.keys(env).join(' ')}; ${line}`, options)
    if (result === undefined) return refused('no script can be run here')
    stdout += result.stdout
    stderr += result.stderr
    if (result.exitCode !== 0) return { stdout, stderr, exitCode: result.exitCode }
  }
  return { stdout, stderr, exitCode: 0 }
}

async function manifestFrom({
  cwd,
  fs,
}: ResolvedCommandContext): Promise<{ manifest: Manifest; directory: string } | undefined> {
  for (let directory = cwd; ; directory = resolvePath(directory, '..')) {
    const path = resolvePath(directory, 'package.json')
    if (await fs.exists(path)) {
      try {
        return { manifest: JSON.parse(await fs.readFile(path)) as Manifest, directory }
      } catch {
        return { manifest: {}, directory }
      }
    }
    if (directory === '/') return undefined
  }
}

function list(manifest: Manifest | undefined): ExecResult {
  const scripts = Object.entries(manifest?.scripts ?? {})
  return { stdout: scripts.map(([name, line]) => `  ${name}\n    ${line}\n`).join(''), stderr: '', exitCode: 0 }
}

function refused(reason: string): ExecResult {
  return { stdout: '', stderr: `npm error ${reason}\n`, exitCode: 1 }
}

function quote(word: string): string {
  return /^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
