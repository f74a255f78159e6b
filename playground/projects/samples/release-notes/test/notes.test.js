import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notesFor } from '../src/notes.js'

test('messages are sorted by kind', () => {
  assert.equal(
    notesFor('1.0.0', ['fix: a leak', 'feat: a button', 'chore: tidy']),
    '# 1.0.0\n\n## New\n\n- a button\n\n## Mended\n\n- a leak\n',
  )
})
