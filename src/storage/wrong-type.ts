import { ToolError } from '../errors.ts'
import { ancestorsOf, display, type Path, quote } from '../paths/logical-path.ts'
import type { EntryType } from './backend.ts'

/** What a read was meant to do, as its refusal names it. */
export type ReadVerb = 'list' | 'read' | 'read link'

/**
 * The refusal of a read of something that is not there, or is of another type, as every backend words it. `typeAt` tells
 * what is at a path now.
 */
export function wrongType(verb: ReadVerb, path: Path, typeAt: (path: Path) => EntryType | undefined): ToolError {
  const cannot = `Cannot ${verb} ${quote(display(path))}`
  const type = typeAt(path)
  if (type === undefined) {
    const inTheWay = ancestorsOf(path)
      .map(typeAt)
      .find((above) => above !== undefined)
    if (inTheWay === undefined || inTheWay === 'directory') {
      return new ToolError('NOT_FOUND', `${cannot}: it does not exist`, { path })
    }
    return new ToolError('NOT_A_DIRECTORY', `${cannot}: a part of the path is a ${inTheWay}`, { path })
  }
  if (verb === 'list') return new ToolError('NOT_A_DIRECTORY', `${cannot}: it is a ${type}`, { path })
  if (type === 'directory') return new ToolError('IS_DIRECTORY', `${cannot}: it is a directory`, { path })
  const code = verb === 'read' ? 'PATH_REJECTED' : 'INVALID_INPUT'
  return new ToolError(code, `${cannot}: it is a ${type}`, { path })
}
