import type { CommandContext, ExecResult, FsStat } from 'just-bash'
import type { Flags } from './flags.ts'
import { resolvePath } from './virtual-paths.ts'

interface Entry {
  /** As it is shown. */
  readonly name: string
  readonly path: string
  readonly stat: FsStat
  /** Where a link leads. */
  readonly target: string | undefined
}

/** `ls -l`, as that of GNU: mode, size and time of each entry, and where a link leads. */
export async function longListing(flags: Flags, { cwd, fs }: CommandContext): Promise<ExecResult> {
  const listing = new LongListing(flags, fs)
  await listing.list(flags.operands.length === 0 ? ['.'] : flags.operands, cwd)
  const { stdout, stderr } = listing
  return { stdout, stderr, exitCode: stderr === '' ? 0 : 2 }
}

class LongListing {
  stdout = ''
  stderr = ''
  readonly #flags: Flags
  readonly #fs: CommandContext['fs']

  constructor(flags: Flags, fs: CommandContext['fs']) {
    this.#flags = flags
    this.#fs = fs
  }

  #has(flag: string): boolean {
    return this.#flags.count(flag) > 0
  }

  async list(names: readonly string[], cwd: string): Promise<void> {
    const found: Entry[] = []
    for (const name of names) {
      const path = resolvePath(cwd, name)
      // A slash at the end follows a link.
      const entry = await this.#entry(name, path, name.endsWith('/'))
      if (entry === undefined) this.stderr += `ls: ${name}: No such file or directory\n`
      else found.push(entry)
    }
    const isListed = ({ stat }: Entry) => stat.isDirectory && !this.#has('directory')
    const entries = this.#sorted(found)
    await this.#print(entries.filter((entry) => !isListed(entry)))
    for (const { name, path } of entries.filter(isListed)) {
      await this.#printDirectory(name, path, names.length > 1 || this.#has('recursive'))
    }
  }

  async #entry(name: string, path: string, follows = false): Promise<Entry | undefined> {
    const stat = await (follows ? this.#fs.stat(path) : this.#fs.lstat(path)).catch(() => undefined)
    const target = stat?.isSymbolicLink ? await this.#fs.readlink(path).catch(() => undefined) : undefined
    return stat && { name, path, stat, target }
  }

  async #printDirectory(name: string, path: string, hasHead: boolean): Promise<void> {
    const all = await this.#fs.readdir(path).catch(() => [])
    const isHidden = (inside: string) => inside.startsWith('.') && !this.#has('all') && !this.#has('almost')
    const inside = await Promise.all(
      all.filter((one) => !isHidden(one)).map((one) => this.#entry(one, resolvePath(path, one))),
    )
    const dots = this.#has('all')
      ? await Promise.all(['.', '..'].map((one) => this.#entry(one, resolvePath(path, one), true)))
      : []
    const entries = this.#sorted([...dots, ...inside].filter((entry) => entry !== undefined))
    const blocks = entries.reduce((sum, { stat }) => sum + (stat.isFile ? Math.ceil(stat.size / 1024) : 0), 0)
    this.stdout += `${this.stdout === '' ? '' : '\n'}${hasHead ? `${name}:\n` : ''}total ${blocks}\n`
    await this.#print(entries)
    if (!this.#has('recursive')) return
    for (const entry of entries.filter(({ name, stat }) => stat.isDirectory && name !== '.' && name !== '..')) {
      await this.#printDirectory(`${name}/${entry.name}`.replace('//', '/'), entry.path, true)
    }
  }

  #sorted(entries: readonly Entry[]): readonly Entry[] {
    const bySize = this.#has('size')
    const byTime = !bySize && this.#has('time')
    const sorted = entries.toSorted(
      (a, b) =>
        (bySize ? sizeOf(b) - sizeOf(a) : 0) ||
        (byTime ? b.stat.mtime.getTime() - a.stat.mtime.getTime() : 0) ||
        (a.name < b.name ? -1 : Number(a.name > b.name)),
    )
    return this.#has('reverse') ? sorted.reverse() : sorted
  }

  async #print(entries: readonly Entry[]): Promise<void> {
    const sizes = entries.map(sizeOf).map((size) => (this.#has('human') ? humanSize(size) : String(size)))
    const width = Math.max(0, ...sizes.map((size) => size.length))
    const names = await Promise.all(entries.map((entry) => this.#nameOf(entry)))
    const times = await Promise.all(entries.map((entry) => this.#timeOf(entry)))
    for (const [at, { stat }] of entries.entries()) {
      const [size = '', time = new Date(0)] = [sizes[at], times[at]]
      this.stdout += `${modeText(stat)} 1 user user ${size.padStart(width)} ${timeText(time)} ${names[at]}\n`
    }
  }

  async #nameOf({ name, path, stat, target }: Entry): Promise<string> {
    const marks = this.#has('classify')
    if (!stat.isSymbolicLink) return marks ? `${name}${markOf(stat)}` : name
    if (target === undefined) return name
    const there = marks ? await this.#fs.stat(path).catch(() => undefined) : undefined
    return `${name} -> ${target}${there === undefined ? '' : markOf(there)}`
  }

  /** The time of an entry; for a directory whose time is not known, that of what changed last in it. */
  async #timeOf({ path, stat }: Entry): Promise<Date> {
    if (!stat.isDirectory || stat.mtime.getTime() !== 0) return stat.mtime
    const names = await this.#fs.readdir(path).catch(() => [])
    const inside = await Promise.all(names.map((name) => this.#entry(name, resolvePath(path, name))))
    return new Date(Math.max(0, ...inside.map((entry) => entry?.stat.mtime.getTime() ?? 0)))
  }
}

/** The size of a link is that of its target's name. */
function sizeOf({ stat, target }: Entry): number {
  return target === undefined ? stat.size : new TextEncoder().encode(target).length
}

function markOf({ isDirectory, mode }: FsStat): string {
  return isDirectory ? '/' : (mode & 0o111) === 0 ? '' : '*'
}

function modeText({ isDirectory, isSymbolicLink, mode }: FsStat): string {
  const bits = Array.from('rwxrwxrwx', (letter, at) => ((mode >> (8 - at)) & 1 ? letter : '-'))
  return `${isSymbolicLink ? 'l' : isDirectory ? 'd' : '-'}${bits.join('')}`
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
/** Older times, and those to come, are shown with their year. */
const HALF_A_YEAR = 182 * 24 * 60 * 60 * 1000

function timeText(time: Date): string {
  const age = Date.now() - time.getTime()
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
