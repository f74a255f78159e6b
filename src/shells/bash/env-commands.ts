import type { Command, ExecResult } from 'just-bash'

/** `env` and `printenv`: the interpreter's own also print variables that are not exported. */
export function envCommands(): Command[] {
  return [
    {
      name: 'env',
      async execute(args, { exportedEnv = {}, origCommand }) {
        const changes = changesOf(args)
        if (changes === undefined) return (await origCommand?.(args)) ?? listing({})
        const { unset, set, isEmpty } = changes
        const kept = Object.entries(isEmpty ? {} : exportedEnv).filter(([name]) => !unset.includes(name))
        return listing(Object.fromEntries([...kept, ...set]))
      },
    },
    {
      name: 'printenv',
      async execute(args, { exportedEnv = {}, origCommand }) {
        if (args.some((arg) => arg.startsWith('-'))) return (await origCommand?.(args)) ?? listing({})
        if (args.length === 0) return listing(exportedEnv)
        const values = args.map((name) => (Object.hasOwn(exportedEnv, name) ? exportedEnv[name] : undefined))
        const lines = values.flatMap((value) => (value === undefined ? [] : [`${value}\n`]))
        return { stdout: lines.join(''), stderr: '', exitCode: values.includes(undefined) ? 1 : 0 }
      },
    },
  ]
}

function listing(env: Readonly<Record<string, string>>): ExecResult {
  const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`)
  return { stdout: lines.join(''), stderr: '', exitCode: 0 }
}

interface EnvironmentChanges {
  readonly isEmpty: boolean
  readonly unset: readonly string[]
  readonly set: readonly (readonly [name: string, value: string])[]
}

/** Returns what `env` changes before it prints, or `undefined` if it starts a command or has other options. */
function changesOf(args: readonly string[]): EnvironmentChanges | undefined {
  const unset: string[] = []
  const set: [string, string][] = []
  let isEmpty = false
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string
    const equals = arg.indexOf('=')
    if (equals > 0 && !arg.startsWith('-')) set.push([arg.slice(0, equals), arg.slice(equals + 1)])
    else if (set.length > 0) return undefined
    else if (/^(-|-i|--ignore-environment)$/.test(arg)) isEmpty = true
    else if (arg.startsWith('--unset=')) unset.push(arg.slice('--unset='.length))
    else if (arg === '-u' && at + 1 < args.length) unset.push(args[++at] as string)
    else return undefined
  }
  return { isEmpty, unset, set }
}
