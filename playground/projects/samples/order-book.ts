/// <reference types="vite/client" />
import { filesBelow } from './files-below.ts'

export const files = filesBelow(
  './order-book/',
  import.meta.glob<string>('./order-book/**', { query: '?raw', import: 'default', eager: true, exhaustive: true }),
)
