import type { Command, CommandContext, ExecResult, FsStat } from 'just-bash'
import { type Flags, parseFlags, unknownFlag } from './flags.ts'
import { resolvePath } from './virtual-paths.ts'

const table = {
  plain: {
    ...{
      '-a': 'all',
      '--all': 'all',
      '-A': 'almost',
      '--almost-all': 'almost',
      '-d': 'directory',
      '--directory': 'directory',
    },
    ...{
      '-F': 'classify',
      '--classify': 'classify',
      '-h': 'human',
      '--human-readable': 'human',
      '-l': 'long',
      '-1': 'one',
    },
    ...{
      '-r': 'reverse',
      '--reverse': 'reverse',
      '-R': 'recursive',
      '--recursive': 'recursive',
      '-S': 'size',
      '-t': 'time',
    },
  },
  valued: {},
}

/** `ls`, as that of GNU. A directory whose own date is not known has that of what changed last in it. */
export function lsCommand(): Command {
  return {
    name: 'ls',
    async execute(args, { cwd, fs }): Promise<ExecResult> {
      const flags = parseFlags(args, table)
      if (flags === undefined) {
        const option = unknownFlag(args, table)
        return {
          stdout: '',
          stderr: `ls: ${option}: unknown option; use -a, -A, -d, -F, -h, -l, -1, -r, -R, -S and -t\n`,
          exitCode: 2,
        }
      }
      const listing = new Listing(flags, fs)
      await listing.list(flags.operands.length === 0 ? ['.'] : flags.operands, cwd)
      const { stdout, stderr } = listing
      return { stdout, stderr, exitCode: stderr === '' ? 0 : 2 }
    },
  }
}

interface Entry {
  /** As it is shown. */
  readonly name: string
  readonly path: string
  /** Undefined where nothing but the name is shown. */
  readonly stat: FsStat | undefined
  /** Where a link leads. */
  readonly target: string | undefined
}

class Listing {
  stdout = ''
  stderr = ''
  readonly #flags: Flags
  readonly #fs: CommandContext['fs']

  constructor(flags: Flags, fs: CommandContext['fs']) {
    this.#flags = flags
    this.#fs = fs
  }

  #has(...flags: readonly string[]): boolean {
    return flags.some((flag) => this.#flags.count(flag) > 0)
  }

  async list(names: readonly string[], cwd: string): Promise<void> {
    const found: Entry[] = []
    for (const name of names) {
      const path = resolvePath(cwd, name)
      const entry = await this.#entry(name, path, name.endsWith('/') || !this.#has('long', 'directory', 'classify'))
      if (entry === undefined) this.#fail(name)
      else found.push(entry)
    }
    const isListed = ({ stat }: Entry) => stat?.isDirectory === true && !this.#has('directory')
    const entries = await this.#sorted(found)
    await this.#print(entries.filter((entry) => !isListed(entry)))
    for (const { name, path } of entries.filter(isListed)) {
      await this.#printDirectory(name, path, names.length > 1 || this.#has('recursive'))
    }
  }

  #fail(name: string): void {
    this.stderr += `ls: ${name}: No such file or directory\n`
  }

  /** @param follows whether a link stands for what it leads to, if that exists */
  async #entry(name: string, path: string, follows = false): Promise<Entry | undefined> {
    const followed = follows ? await this.#fs.stat(path).catch(() => undefined) : undefined
    const stat = followed ?? (await this.#fs.lstat(path).catch(() => undefined))
    const target = stat?.isSymbolicLink ? await this.#fs.readlink(path).catch(() => undefined) : undefined
    return stat && { name, path, stat, target }
  }

  async #printDirectory(name: string, path: string, hasHead: boolean): Promise<void> {
    const names = await this.#fs.readdir(path).catch(() => undefined)
    if (names === undefined) return this.#fail(name)
    const isHidden = (inside: string) => inside.startsWith('.') && !this.#has('all', 'almost')
    const dots = this.#has('all') ? ['.', '..'] : []
    const needsStat = this.#has('long', 'classify', 'size', 'time', 'recursive')
    const all = await Promise.all(
      [...dots, ...names.filter((one) => !isHidden(one))].map((one, at) => {
        const inside = resolvePath(path, one)
        const plain = { name: one, path: inside, stat: undefined, target: undefined }
        return needsStat ? this.#entry(one, inside, at < dots.length) : plain
      }),
    )
    const entries = await this.#sorted(all.filter((entry) => entry !== undefined))
    if (hasHead) this.stdout += `${this.stdout === '' ? '' : '\n'}${name}:\n`
    if (this.#has('long')) {
      const blocks = entries.reduce((sum, { stat }) => sum + (stat?.isFile ? Math.ceil(stat.size / 1024) : 0), 0)
      this.stdout += `total ${blocks}\n`
    }
    await this.#print(entries)
    if (!this.#has('recursive')) return
    for (const entry of entries) {
      if (entry.stat?.isDirectory !== true || dots.includes(entry.name)) continue
      await this.#printDirectory(`${name}/${entry.name}`.replace('//', '/'), entry.path, true)
    }
  }

  async #sorted(entries: readonly Entry[]): Promise<readonly Entry[]> {
    const bySize = this.#has('size')
    const byTime = !bySize && this.#has('time')
    const times = byTime
      ? new Map(await Promise.all(entries.map(async (one) => [one, await this.#timeOf(one)] as const)))
      : undefined
    const timeOf = (entry: Entry) => times?.get(entry) ?? 0
    const sorted = entries.toSorted(
      (a, b) =>
        (bySize ? sizeOf(b) - sizeOf(a) : 0) ||
        timeOf(b) - timeOf(a) ||
        (a.name < b.name ? -1 : Number(a.name > b.name)),
    )
    return this.#has('reverse') ? sorted.reverse() : sorted
  }

  async #print(entries: readonly Entry[]): Promise<void> {
    const marks = this.#has('classify')
    if (!this.#has('long')) {
      for (const { name, stat } of entries) this.stdout += `${name}${marks ? markOf(stat) : ''}\n`
      return
    }
    const sizes = entries.map(sizeOf).map((size) => (this.#has('human') ? humanSize(size) : String(size)))
    const width = Math.max(0, ...sizes.map((size) => size.length))
    const lines = await Promise.all(
      entries.map(async (entry, at) => {
        const { name, path, stat, target } = entry
        const there = marks && target !== undefined ? await this.#fs.stat(path).catch(() => undefined) : undefined
        const shown = target === undefined ? name + (marks ? markOf(stat) : '') : `${name} -> ${target}${markOf(there)}`
        const time = timeText(await this.#timeOf(entry))
        return `${modeText(stat)} 1 user user ${sizes[at]?.padStart(width)} ${time} ${shown}\n`
      }),
    )
    this.stdout += lines.join('')
  }

  async #timeOf(entry: Entry): Promise<number> {
    const own = timeOf(entry)
    if (own !== 0 || entry.stat?.isDirectory !== true) return own
    const names = await this.#fs.readdir(entry.path).catch(() => [])
    const inside = await Promise.all(names.map((name) => this.#entry(name, resolvePath(entry.path, name))))
    return Math.max(0, ...inside.map((one) => (one === undefined ? 0 : timeOf(one))))
  }
}

/** The size of a link is that of its target's name. */
function sizeOf({ stat, target }: Entry): number {
  return target === undefined ? (stat?.size ?? 0) : new TextEncoder().encode(target).length
}

/** Milliseconds since 1970; 0 if the time is not known. */
function timeOf({ stat }: Entry): number {
  return stat?.mtime.getTime() ?? 0
}

function markOf(stat: FsStat | undefined): string {
  if (stat === undefined) return ''
  return stat.isDirectory ? '/' : stat.isSymbolicLink ? '@' : (stat.mode & 0o111) === 0 ? '' : '*'
}

function modeText(stat: FsStat | undefined): string {
  const mode = stat?.mode ?? 0
  const bits = Array.from('rwxrwxrwx', (letter, at) => ((mode >> (8 - at)) & 1 ? letter : '-'))
  return `${stat?.isSymbolicLink ? 'l' : stat?.isDirectory ? 'd' : '-'}${bits.join('')}`
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
/** Older times, and those to come, are shown with their year. */
const HALF_A_YEAR = 182 * 24 * 60 * 60 * 1000

function timeText(at: number): string {
  const time = new Date(at)
  const age = Date.now() - at
  const twoDigits = (number: number) => String(number).padStart(2, '0')
  const isRecent = age >= 0 && age < HALF_A_YEAR
  const end = isRecent ? `${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}` : ` ${time.getFullYear()}`
  return `${months[time.getMonth()]} ${String(time.getDate()).padStart(2)} ${end}`
}

function humanSize(size: number): string {
  let value = size
  let unit = ''
  for (const next of 'KMGT') {
    if (value < 1024) break
    value /= 1024
    unit = next
  }
  if (unit === '') return String(size)
  const tenths = Math.ceil(value * 10) / 10
  return `${tenths < 10 ? tenths.toFixed(1) : Math.ceil(value)}${unit}`
}
