import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolError } from '../../src/errors.ts'
import { straysIn, treeOf } from '../backends/node/tree.ts'
import { bundle } from './bundle.ts'

/** An operation on the attacked tree. Its result is searched for content and names from outside. */
export interface Operation {
  readonly name: string
  run(): Promise<unknown>
  /** Whether a path below a link counts as a missing one, so that the operation has nothing to refuse. */
  readonly refusesNothing?: true
}

export interface Tally {
  runs: number
  succeeded: number
  /** Refusals, which are expected while a link is in the path. */
  refused: number
  /** Results with content or names from outside. */
  escaped: number
  /** Failures other than a ToolError, or with a physical path in the message. */
  broken: string[]
}

/** A tree with `dir/file.txt` and `top.txt`, which another process repeatedly swaps for links to outside. */
export interface Attack {
  readonly base: string
  readonly root: string
  /** Number of swaps so far. */
  swaps(): number
  /** Runs the operations in turn, `times` rounds. One that has succeeded `enough` times is not run again. */
  run(operations: readonly Operation[], times: number, enough?: number): Promise<Map<string, Tally>>
  /** Whether realpath, check and open escape within this number of tries. */
  control(times: number): boolean
  /** Stops the attacker. Returns the paths that changed outside, and the remaining temporary files. */
  end(): Promise<{ outsideChanged: string[]; strays: string[] }>
  dispose(): void
}

export const INSIDE = 'inside, as it should be\n'

/** Occurs only in the content and in the names outside. */
const MARKER = 'OUTSIDE-MARKER'
const OUTSIDE = MARKER.padEnd(7777, '.')
const SIGNS = [MARKER, '"size":7777']

export async function startAttack(): Promise<Attack> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'race-')))
  const root = join(base, 'root')
  const outside = join(base, 'outside')
  for (const directory of [root, outside, join(root, 'dir')]) mkdirSync(directory)
  for (const location of [join(root, 'top.txt'), join(root, 'dir', 'file.txt')]) writeFileSync(location, INSIDE)
  for (const name of ['file.txt', MARKER, 'victim.txt']) writeFileSync(join(outside, name), OUTSIDE)
  const before = outsideState(outside)
  const script = await bundle('test/attack/swapper.ts', base)
  const attacker = fork(script, [root, outside, INSIDE], { stdio: 'ignore' })
  let swaps = 0
  attacker.on('message', (message) => {
    swaps = (message as { swaps: number }).swaps
  })
  await once(attacker, 'message')

  return {
    base,
    root,
    swaps: () => swaps,

    async run(operations, times, enough = Number.POSITIVE_INFINITY) {
      const tallies = new Map<string, Tally>()
      for (const { name } of operations) {
        tallies.set(name, { runs: 0, succeeded: 0, refused: 0, escaped: 0, broken: [] })
      }
      for (let i = 0; i < times; i++) {
        for (const operation of operations) {
          const tally = tallies.get(operation.name) as Tally
          if (tally.succeeded < enough) await runOne(operation, tally, base)
        }
        // Yields, so that messages of the attacker are received.
        if (i % 64 === 0) await new Promise((turn) => setImmediate(turn))
      }
      return tallies
    },

    control(times) {
      for (let i = 0; i < times; i++) {
        for (const path of ['dir/file.txt', 'top.txt']) {
          try {
            const real = realpathSync(join(root, path))
            if (!real.startsWith(`${root}/`)) continue
            if (readFileSync(join(root, path), 'latin1').includes(MARKER)) return true
          } catch {
            // The path was missing during a swap.
          }
        }
      }
      return false
    },

    async end() {
      await stop(attacker)
      const after = outsideState(outside)
      const changed = new Set([...before.keys(), ...after.keys()])
      return {
        outsideChanged: [...changed].filter((path) => before.get(path) !== after.get(path)),
        strays: straysIn(root),
      }
    },

    dispose() {
      attacker.kill('SIGKILL')
      rmSync(base, { recursive: true, force: true })
    },
  }
}

/** The sum of all tallies. */
export function sumOf(tallies: ReadonlyMap<string, Tally>): Omit<Tally, 'broken'> & { broken: string[] } {
  const sum: Tally = { runs: 0, succeeded: 0, refused: 0, escaped: 0, broken: [] }
  for (const tally of tallies.values()) {
    sum.runs += tally.runs
    sum.succeeded += tally.succeeded
    sum.refused += tally.refused
    sum.escaped += tally.escaped
    sum.broken.push(...tally.broken)
  }
  return sum
}

async function runOne({ name, run }: Operation, tally: Tally, base: string): Promise<void> {
  tally.runs += 1
  try {
    const result = textOf(await run())
    tally.succeeded += 1
    if (SIGNS.some((sign) => result.includes(sign))) tally.escaped += 1
  } catch (error) {
    tally.refused += 1
    const message = error instanceof Error ? error.message : String(error)
    if (error instanceof ToolError && !message.includes(base)) return
    if (tally.broken.length < 5) tally.broken.push(`${name}: ${error instanceof Error ? error.stack : message}`)
  }
}

function textOf(result: unknown): string {
  if (result instanceof Uint8Array) return Buffer.from(result).toString('latin1')
  return (
    JSON.stringify(result, (_, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    ) ?? ''
  )
}

/** Content, times and inodes of everything outside. */
function outsideState(outside: string): Map<string, string> {
  const state = new Map<string, string>()
  for (const [path, label] of treeOf(outside)) {
    const { ino, mtimeMs, ctimeMs, nlink, mode } = lstatSync(join(outside, path))
    state.set(path, [label, ino, mtimeMs, ctimeMs, nlink, mode].join('|'))
  }
  const { mtimeMs, ctimeMs } = lstatSync(outside)
  return state.set('.', [mtimeMs, ctimeMs].join('|'))
}

async function stop(attacker: ChildProcess): Promise<void> {
  if (attacker.exitCode !== null) return
  const ended = once(attacker, 'exit')
  attacker.disconnect()
  await ended
}
