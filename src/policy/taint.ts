import type { Path } from '../paths/logical-path.ts'
import { type Label, type LabelSink, labelNames } from './labels.ts'

/** The label of some content, and the path that the content was read from. */
export interface ContentLabel {
  readonly label: Label
  /** Absent for the output of a command. */
  readonly path?: string
}

/** The source of a label, for reports and error messages. */
export interface TaintOrigin {
  readonly label: Label
  /** The call that read the content. */
  readonly callId: string
  readonly tool: string
  /** The path that was read. Absent for the output of a command. */
  readonly path?: string
}

/** The highest label of the content that the model has received in one run. It never decreases. */
export interface Taint {
  /** The highest label so far. */
  label(): Label
  /**
   * The content that raised the label last; `undefined` while the label is public. Includes what programs have received whose
   * calls have not ended, except one.
   */
  origin(except?: ProgramContent): TaintOrigin | undefined
  /** All contents that raised the label, in order. */
  origins(): readonly TaintOrigin[]
  /** Raises the label to that of the origin, if that is higher. */
  raise(origin: TaintOrigin): void
  /** Adds what a program receives during its call. Returns a function that ends the call and keeps what it received. */
  addProgram(content: ProgramContent): () => void
}

/** Returns the content with the highest label that a program has received so far. */
export type ProgramContent = () => TaintOrigin | undefined

/** The destination of content, to compare with the sinks of a policy. */
export interface SinkTarget {
  /** All names of one path. */
  readonly paths?: readonly string[]
  /** A command line and each command in it. */
  readonly commands?: readonly string[]
  readonly host?: string
}

/** The compiled labels of a policy. Pure. */
export interface Labels {
  /** Whether the policy has labels. */
  readonly active: boolean
  /** The highest label of a path. */
  readonly highestOfPaths: Label
  /** Returns the label of a path. */
  ofPath(path: string): Label
  /** Whether the policy may label a path below a directory. */
  mayLabelBelow(directory: string): boolean
  /** Whether a sink may be a path below a directory. */
  maySinkBelow(directory: string): boolean
  /** Returns the label of the output of a command. */
  ofCommand(line: string): Label
  /** Returns the sinks whose ceiling is below the label. Sinks that deny come before those that ask. */
  exceededSinks(target: SinkTarget, label: Label): readonly LabelSink[]
}

/** Returns the higher of two labels. */
export function maxLabel(a: Label, b: Label): Label {
  return rank(b) > rank(a) ? b : a
}

/** Returns whether the first label is higher than the second. */
export function isAbove(label: Label, ceiling: Label): boolean {
  return rank(label) > rank(ceiling)
}

/** Returns whether a value is a label. */
export function isLabel(value: unknown): value is Label {
  return labelNames.some((label) => label === value)
}

function rank(label: Label): number {
  return labelNames.indexOf(label)
}

/** Returns the content with the higher label, or the first one if the labels are equal. */
export function higher<C extends ContentLabel>(a: C, b: C | undefined): C
export function higher<C extends ContentLabel>(a: C | undefined, b: C | undefined): C | undefined
export function higher<C extends ContentLabel>(a: C | undefined, b: C | undefined): C | undefined {
  return isAbove(b?.label ?? 'public', a?.label ?? 'public') ? b : a
}

/** Creates the taint of a run. `origin` continues the run of another process. */
export function createTaint(origin?: TaintOrigin): Taint {
  const origins: TaintOrigin[] = origin === undefined || origin.label === 'public' ? [] : [origin]
  const programs = new Set<ProgramContent>()
  const originOf = (except?: ProgramContent) =>
    [...programs].reduce((highest, content) => {
      return content === except ? highest : higher(highest, content())
    }, origins.at(-1))
  const raise = (origin: TaintOrigin | undefined) => {
    if (origin !== undefined && isAbove(origin.label, origins.at(-1)?.label ?? 'public')) origins.push(origin)
  }
  return {
    label: () => originOf()?.label ?? 'public',
    origin: originOf,
    origins: () => origins,
    raise,
    addProgram(content) {
      programs.add(content)
      return () => {
        raise(content())
        programs.delete(content)
      }
    },
  }
}

/** The labels of a policy without labels. */
export const noLabels: Labels = {
  active: false,
  highestOfPaths: 'public',
  ofPath: () => 'public',
  mayLabelBelow: () => false,
  maySinkBelow: () => false,
  ofCommand: () => 'public',
  exceededSinks: () => [],
}

/** Labels of files because of the content written to them, in addition to the labels of their paths. They only increase. */
export class FileLabels implements Iterable<readonly [Path, Label]> {
  readonly #labels = new Map<Path, Label>()
  #highest: { readonly label: Label; readonly path: Path } | undefined
  #revision = 0

  constructor(earlier: Iterable<readonly [Path, Label]> = []) {
    for (const [path, label] of earlier) this.raise(path, label)
  }

  /** The file with the highest label, if any has one. */
  get highest(): { readonly label: Label; readonly path: Path } | undefined {
    return this.#highest
  }

  /** Changes with every label that is raised. */
  get revision(): number {
    return this.#revision
  }

  /** Returns the label of a file: `public` if nothing raised it. */
  of(path: Path): Label {
    return this.#labels.get(path) ?? 'public'
  }

  /** Raises the label of a file, if the new one is higher. */
  raise(path: Path, label: Label): void {
    if (!isAbove(label, this.of(path))) return
    this.#labels.set(path, label)
    this.#revision += 1
    if (isAbove(label, this.#highest?.label ?? 'public')) this.#highest = { label, path }
  }

  /** The labels of all files that something raised. */
  [Symbol.iterator](): Iterator<readonly [Path, Label]> {
    return this.#labels.entries()
  }
}
