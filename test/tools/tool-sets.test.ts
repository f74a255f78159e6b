import { describe, expect, it } from 'vitest'
import { resolveToolSet } from '../../src/tools/tool-sets.ts'

const registry = [
  'read_file',
  'write_file',
  'edit_file',
  'delete_file',
  'move_file',
  'list_directory',
  'search_text',
  'run_command',
]

describe('resolveToolSet', () => {
  it('returns named sets in the order of the registry', () => {
    expect(resolveToolSet('minimal', registry)).toEqual(['read_file', 'write_file', 'list_directory', 'search_text'])
    expect(resolveToolSet('files', registry)).toEqual(registry.slice(0, -1))
    expect(resolveToolSet('full', registry)).toEqual(registry)
    expect(resolveToolSet(['search_text', 'read_file'], registry)).toEqual(['read_file', 'search_text'])
  })

  it.each([
    ['minimum', 'minimum'],
    ['constructor', 'constructor'],
    [[], 'empty'],
    [['read_file', 'rm'], '"rm"'],
    [['read_file', 'read_file'], 'twice'],
    [[true], 'true'],
    [{ read_file: true }, 'list'],
    [null, 'list'],
  ])('refuses %j', (set, name) => {
    expect(() => resolveToolSet(set as never, registry)).toThrow(TypeError)
    expect(() => resolveToolSet(set as never, registry)).toThrow(name)
  })
})
