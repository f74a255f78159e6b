/// <reference types="vite/client" />
import { filesBelow } from './files-below.ts'

export const files = filesBelow(
  './release-notes/',
  import.meta.glob<string>('./release-notes/**', { query: '?raw', import: 'default', eager: true, exhaustive: true }),
)
