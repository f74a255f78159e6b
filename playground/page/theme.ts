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

/** Applies the theme to the document whenever it changes. */
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
      // The browser does not store data.
    }
  })
}

function read(): Theme {
  try {
    const stored = localStorage.getItem(KEY)
    return stored === 'dark' || stored === 'light' ? stored : 'system'
  } catch {
    return 'system'
  }
}
