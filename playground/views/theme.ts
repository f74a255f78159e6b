import { effect, signal } from '@preact/signals'

export type Theme = 'system' | 'dark' | 'light'

const KEY = 'wardspace-playground-theme'

/** The person's choice. */
export const theme = signal<Theme>(read())

const bright = globalThis.matchMedia?.('(prefers-color-scheme: light)')
const systemIsLight = signal(bright?.matches ?? false)
bright?.addEventListener('change', ({ matches }) => {
  systemIsLight.value = matches
})

/** Puts the theme on the document, and keeps it so. */
export function followTheme(): void {
  effect(() => {
    const isLight = theme.value === 'light' || (theme.value === 'system' && systemIsLight.value)
    document.documentElement.dataset.theme = isLight ? 'light' : 'dark'
  })
  effect(() => {
    const chosen = theme.value
    try {
      localStorage.setItem(KEY, chosen)
    } catch {
      // A browser that keeps nothing.
    }
  })
}

function read(): Theme {
  try {
    const kept = localStorage.getItem(KEY)
    return kept === 'dark' || kept === 'light' ? kept : 'system'
  } catch {
    return 'system'
  }
}
