import type { Path } from '../paths/logical-path.ts'
import { type Label, type LabelPolicy, type LabelSink, labelNames } from './labels.ts'
import { compilePaths, compileTexts } from './match.ts'

/** Where a label came from: what a report and a refusal name. */
export interface TaintOrigin {
  readonly label: Label
  /** The call that brought it. */
  readonly callId: string
  readonly tool: string
  /** The path that was read; left out where it was a command's output. */
  readonly path?: string
}

/** The highest label that has reached the model in one run. It never falls. */
export interface Taint {
  /** The highest label so far. */
  label(): Label
  /** What raised it last; `undefined` while it is public. */
  origin(): TaintOrigin | undefined
  /** Everything that raised it, in its order. */
  origins(): readonly TaintOrigin[]
  /** Raises it, where the origin has a higher label; it never falls. */
  raise(origin: TaintOrigin): void
}

/** What a flow would reach. */
export interface FlowTarget {
  /** Every name of one path. */
  readonly paths?: readonly string[]
  /** A command line, and each command in it. */
  readonly commands?: readonly string[]
  readonly host?: string
}

/** The compiled labels of a policy. Pure. */
export interface Labels {
  /** Whether the policy speaks of labels at all. */
  readonly active: boolean
  ofPath(path: string): Label
  ofCommand(line: string): Label
  /** The sinks that a label is too high for: those that refuse come first. */
  above(target: FlowTarget, label: Label): readonly LabelSink[]
}

/** The higher of two labels. */
export function maxLabel(a: Label, b: Label): Label {
  return rank(b) > rank(a) ? b : a
}

/** Whether the first label is higher than the second. */
export function isAbove(label: Label, ceiling: Label): boolean {
  return rank(label) > rank(ceiling)
}

/** Whether a value is a label. */
export function isLabel(value: unknown): value is Label {
  return labelNames.some((label) => label === value)
}

function rank(label: Label): number {
  return labelNames.indexOf(label)
}

/** The taint of a new run, or of one that goes on after another process. */
export function createTaint(from?: TaintOrigin): Taint {
  const origins: TaintOrigin[] = from === undefined || from.label === 'public' ? [] : [from]
  const label = () => origins.at(-1)?.label ?? 'public'
  return {
    label,
    origin: () => origins.at(-1),
    origins: () => origins,
    raise(origin) {
      if (isAbove(origin.label, label())) origins.push(origin)
    },
  }
}

/**
 * Compiles the labels of a policy. A path takes what its own label covers, whatever a sink says of it: what goes back to
 * where such content lives leaks nothing.
 *
 * @throws TypeError that names the field of a pattern that is not valid
 */
export function compileLabels(policy: LabelPolicy | undefined): Labels {
  const sources = (policy?.sources ?? []).map(({ label, paths, commands }, index) => ({
    label,
    path: paths && compilePaths(paths, `labels.sources[${index}].paths`).matches,
    command: commands && compileTexts(commands, `labels.sources[${index}].commands`),
  }))
  const sinks = (policy?.sinks ?? []).map((sink, index) => ({
    sink,
    path: sink.paths && compilePaths(sink.paths, `labels.sinks[${index}].paths`).matches,
    command: sink.commands && compileTexts(sink.commands, `labels.sinks[${index}].commands`),
    host: sink.hosts && compileTexts(lower(sink.hosts), `labels.sinks[${index}].hosts`),
  }))
  const ofPath = (path: string): Label =>
    sources.reduce<Label>((highest, { label, path: is }) => (is?.(path) ? maxLabel(highest, label) : highest), 'public')

  return {
    active: policy !== undefined,
    ofPath,
    ofCommand: (line) =>
      sources.reduce<Label>(
        (highest, { label, command: is }) => (is?.(line) ? maxLabel(highest, label) : highest),
        'public',
      ),
    above({ paths = [], commands = [], host }, label) {
      if (label === 'public') return []
      // The names of one path that take the label by their own are no way out.
      const low = paths.filter((path) => isAbove(label, ofPath(path)))
      const found = sinks.filter(
        ({ sink, path: isPath, command: isCommand, host: isHost }) =>
          isAbove(label, sink.ceiling) &&
          (low.some((path) => isPath?.(path)) ||
            commands.some((line) => isCommand?.(line)) ||
            (host !== undefined && isHost?.(host.toLowerCase()))),
      )
      const strict = found.filter(({ sink }) => sink.above !== 'ask')
      return [...strict, ...found.filter(({ sink }) => sink.above === 'ask')].map(({ sink }) => sink)
    },
  }
}

function lower(hosts: readonly string[]): string[] {
  return hosts.map((host) => host.toLowerCase())
}

/** Labels that files carry beside those of their paths, because of what was written into them. They only rise. */
export type FileLabels = Map<Path, Label>
