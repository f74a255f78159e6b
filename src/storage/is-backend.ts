import { type Check, isBoolean, isObjectWith, isOneOf, must, type OptionTable, shape } from '../util/check-options.ts'
import type { Backend, Capabilities } from './backend.ts'

const capabilityTable: OptionTable<Capabilities> = {
  links: isBoolean,
  modes: isBoolean,
  times: isOneOf('set', 'own', 'none'),
  caseSensitive: isBoolean,
  authority: isOneOf('sole', 'shared'),
  persistent: isBoolean,
  atomic: isOneOf('set', 'file'),
}
const isCapabilities = shape(
  capabilityTable,
  ...(['links', 'modes', 'times', 'caseSensitive', 'authority', 'persistent', 'atomic'] as const),
)
const isObject = isObjectWith('a backend such as memory() or nodeBackend(path)')
const methods = ['canonical', 'stat', 'list', 'read', 'readLink', 'commit', 'close'] as const

/** Checks an option that takes a backend. */
export const isBackend: Check = (value, path, owner) => {
  const backend = isObject(value, path, owner) as Backend
  const missing = methods.find((name) => typeof backend[name] !== 'function')
  if (missing !== undefined) must(`a backend, which has the method "${missing}"`, () => false)(value, path, owner)
  isCapabilities(backend.capabilities, `${path}.capabilities`, owner)
  return value
}
