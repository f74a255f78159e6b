/** Whether long lines wrap in the editor. */
export interface Wrapping {
  readonly code: boolean
  /** A line is often a paragraph. */
  readonly prose: boolean
}

/** What the lines of a file are. */
export function linesOf(path: string): keyof Wrapping {
  return /\.(?:md|markdown|txt|rst|adoc)$/i.test(path) ? 'prose' : 'code'
}

/** Turns the wrapping of files of the same kind. */
export function turned(wrapping: Wrapping, path: string): Wrapping {
  const kind = linesOf(path)
  return { ...wrapping, [kind]: !wrapping[kind] }
}
