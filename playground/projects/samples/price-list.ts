/// <reference types="vite/client" />
import { filesBelow } from './files-below.ts'

export const files = filesBelow(
  './price-list/',
  import.meta.glob<string>('./price-list/**', { query: '?raw', import: 'default', eager: true, exhaustive: true }),
)
