/// <reference types="vite/client" />
import { filesBelow } from './files-below.ts'

export const files = filesBelow(
  './weather-station/',
  import.meta.glob<string>('./weather-station/**', { query: '?raw', import: 'default', eager: true, exhaustive: true }),
)
