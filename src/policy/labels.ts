/** The levels of sensitivity, in ascending order. */
export const labelNames = ['public', 'internal', 'confidential', 'restricted'] as const

/** The sensitivity of content: `public`, `internal`, `confidential` or `restricted`. */
export type Label = (typeof labelNames)[number]

/** Labels the content of paths or the output of commands. If several sources match, the highest label counts. */
export interface LabelSource {
  readonly label: Label
  /** Path globs, as in rules. */
  readonly paths?: readonly string[]
  /** Command lines; `*` matches any characters. */
  readonly commands?: readonly string[]
}

/** Limits the content that may be written to paths or passed to commands and the network. Every matching sink applies. */
export interface LabelSink {
  /** A unique name, for errors, approvals and the audit. */
  readonly name: string
  /** The highest label that the sink accepts. */
  readonly ceiling: Label
  readonly paths?: readonly string[]
  readonly commands?: readonly string[]
  /** Host names; `*` matches any characters. */
  readonly hosts?: readonly string[]
  /** Whether a higher label is denied (the default) or needs an approval for each call. */
  readonly above?: 'deny' | 'ask'
}

/** The labels of a policy: their sources and sinks. */
export interface LabelPolicy {
  readonly sources?: readonly LabelSource[]
  readonly sinks?: readonly LabelSink[]
}
