/// <reference types="vite/client" />
import { filesBelow } from './files-below.ts'

export const files = filesBelow(
  './team-page/',
  import.meta.glob<string>('./team-page/**', { query: '?raw', import: 'default', eager: true, exhaustive: true }),
)
