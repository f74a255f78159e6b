import { ToolError } from '../errors.ts'
import { type LogicalPath, parsePath, quote } from '../paths/logical-path.ts'
import { requireText } from '../util/check-options.ts'

/**
 * Returns the path that a link at `path` leads to, from its text alone. Accepts only relative targets that stay inside,
 * with `..` only at the beginning: after a name, it would be relative to wherever that name leads, which can change.
 *
 * @throws ToolError `PATH_REJECTED`
 */
export function linkTarget(path: LogicalPath, target: string): LogicalPath {
  requireText('linkTarget()', 'path', path)
  requireText('linkTarget()', 'target', target)
  const refuse = (reason: string): never => {
    throw new ToolError('PATH_REJECTED', `Cannot link ${quote(path)} to ${quote(target)}: the target ${reason}`, {
      path,
    })
  }
  if (target === '') return refuse('is empty')
  if (target.startsWith('/')) return refuse('is absolute')
  const names = target.split('/').filter((name) => name !== '' && name !== '.')
  let climbs = 0
  while (names[climbs] === '..') climbs += 1
  const down = names.slice(climbs)
  if (down.includes('..')) return refuse('climbs after it went down')
  const base = path.split('/').slice(0, -1)
  if (climbs > base.length) return refuse('leads outside the workspace')
  const full = [...base.slice(0, base.length - climbs), ...down].join('/')
  if (full === '') return '' as LogicalPath
  let parsed: LogicalPath
  try {
    parsed = parsePath(full)
    if (down.length > 0) parsePath(down.join('/'))
  } catch {
    return refuse('has a name that is not allowed')
  }
  return parsed
}
