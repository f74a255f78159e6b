import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { toolRows } from './table.ts'

/** The test file of each tool that shares it with other tools. Any other tool has `test/tools/NAME.test.ts`. */
const sharedFiles: Readonly<Record<string, string>> = {
  list_directory: 'tools/look.test.ts',
  find_files: 'tools/look.test.ts',
  search_text: 'tools/look.test.ts',
  file_info: 'tools/look.test.ts',
  create_directory: 'tools/move-copy-delete.test.ts',
  copy_file: 'tools/move-copy-delete.test.ts',
  move_file: 'tools/move-copy-delete.test.ts',
  delete_file: 'tools/move-copy-delete.test.ts',
  run_command: 'shells/bash/bash.test.ts',
  start_command: 'call/commands/background.test.ts',
  check_command: 'call/commands/background.test.ts',
  stop_command: 'call/commands/background.test.ts',
  memory_search: 'tools/memory.test.ts',
  memory_get: 'tools/memory.test.ts',
  memory_recall: 'tools/memory.test.ts',
  memory_store: 'tools/memory.test.ts',
  submit_plan: 'call/plan-mode.test.ts',
}

describe('the table of tools', () => {
  it.each(toolRows.map(([name]) => name))('%s has a test file that names it: add test/tools/NAME.test.ts', (name) => {
    const file = `test/${sharedFiles[name] ?? `tools/${name.replaceAll('_', '-')}.test.ts`}`
    expect(existsSync(file), file).toBe(true)
    expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`\\b${name}\\b`))
  })
})
