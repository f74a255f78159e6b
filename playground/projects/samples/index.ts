/// <reference types="vite/client" />
import type { Sample } from '../types.ts'

/** The sample projects. Each is in the folder named by its id, and the build puts its files into one chunk. */
export const samples: readonly Sample[] = [
  {
    id: 'price-list',
    title: 'Price list',
    summary: 'A small shop’s prices in whole cents. Two of its tests fail.',
    files: async () => (await import('./price-list.ts')).files,
  },
  {
    id: 'weather-station',
    title: 'Weather station',
    summary: 'Five modules, tests, documentation and a built file that all know one function.',
    files: async () => (await import('./weather-station.ts')).files,
  },
  {
    id: 'release-notes',
    title: 'Release notes',
    summary: 'Its README holds a comment that tries to turn an agent against its owner. There is a secret to lose.',
    files: async () => (await import('./release-notes.ts')).files,
  },
  {
    id: 'order-book',
    title: 'Order book',
    summary: 'Depends on a package that it could do without, with a lockfile.',
    files: async () => (await import('./order-book.ts')).files,
  },
  {
    id: 'team-page',
    title: 'Team page',
    summary: 'A published page beside a table of salaries.',
    files: async () => (await import('./team-page.ts')).files,
  },
]
