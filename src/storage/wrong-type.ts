import { ToolError } from '../errors.ts'
import { ancestorsOf, display, type Path, quote } from '../paths/logical-path.ts'
import { checkArgument, isFunction, requireText } from '../util/check-options.ts'
import type { EntryType } from './backend.ts'

/** The read that an error message names. */
export type ReadVerb = 'list' | 'read' | 'read link'

/** The action that an error message names; `change` for the parent directory of a change. */
export type PathVerb = ReadVerb | 'change'

/**
 * Returns the error for a path that is absent or has another type than the action needs, worded as every backend words
 * it: `NOT_FOUND`, `NOT_A_DIRECTORY` (also below a file), `IS_DIRECTORY`, `PATH_REJECTED` or `INVALID_INPUT`. `typeAt`
 * returns the type of what is at a path now.
 */
export function wrongType(verb: PathVerb, path: Path, typeAt: (path: Path) => EntryType | undefined): ToolError {
  checkArgument('wrongType()', 'typeAt', typeAt, isFunction)
  requireText('wrongType()', 'verb', verb)
  requireText('wrongType()', 'path', path)
  const cannot = `Cannot ${verb} ${quote(display(path))}`
  const type = typeAt(path)
  if (type === undefined) {
    const blocking = ancestorsOf(path)
      .map(typeAt)
      .find((above) => above !== undefined)
    if (blocking === undefined || blocking === 'directory') {
      return new ToolError('NOT_FOUND', `${cannot}: it does not exist`, { path })
    }
    return new ToolError('NOT_A_DIRECTORY', `${cannot}: a part of the path is a ${blocking}`, { path })
  }
  if (verb === 'list') return new ToolError('NOT_A_DIRECTORY', `${cannot}: it is a ${type}`, { path })
  if (type === 'directory') return new ToolError('IS_DIRECTORY', `${cannot}: it is a directory`, { path })
  const code = verb === 'read' ? 'PATH_REJECTED' : 'INVALID_INPUT'
  return new ToolError(code, `${cannot}: it is a ${type}`, { path })
}

/** Returns the same error for a storage whose lookups are asynchronous. Looks no higher than the nearest ancestor. */
export async function wrongTypeAt(
  verb: PathVerb,
  path: Path,
  typeAt: (path: Path) => Promise<EntryType | undefined>,
): Promise<ToolError> {
  checkArgument('wrongTypeAt()', 'typeAt', typeAt, isFunction)
  requireText('wrongTypeAt()', 'verb', verb)
  requireText('wrongTypeAt()', 'path', path)
  const types = new Map<Path, EntryType | undefined>()
  for (const at of [path, ...ancestorsOf(path)]) {
    const type = await typeAt(at)
    types.set(at, type)
    if (type !== undefined) break
  }
  return wrongType(verb, path, (at) => types.get(at))
}
