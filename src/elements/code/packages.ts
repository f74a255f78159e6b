const raise = (error: unknown): never => {
  throw error
}
const none = () => undefined

/** The packages of CodeMirror, with the languages that are installed. */
export type Packages = NonNullable<Awaited<ReturnType<typeof load>>>

async function load() {
  // Bundlers take an `import()` within `try` whose failure is handled as that of a package which may be absent.
  try {
    const [state, view, language, commands, search, merge, highlight] = await Promise.all([
      import('@codemirror/state').catch(raise),
      import('@codemirror/view').catch(raise),
      import('@codemirror/language').catch(raise),
      import('@codemirror/commands').catch(raise),
      import('@codemirror/search').catch(raise),
      import('@codemirror/merge').catch(raise),
      import('@lezer/highlight').catch(raise),
    ])
    const [script, json, css, html, markdown] = await Promise.all([
      import('@codemirror/lang-javascript').catch(none),
      import('@codemirror/lang-json').catch(none),
      import('@codemirror/lang-css').catch(none),
      import('@codemirror/lang-html').catch(none),
      import('@codemirror/lang-markdown').catch(none),
    ])
    return { state, view, language, commands, search, merge, highlight, ...{ script, json, css, html, markdown } }
  } catch {
    return undefined
  }
}

let loaded: ReturnType<typeof load> | undefined

/** Loads the packages once. Returns undefined when they are not installed. */
export function loadPackages(): ReturnType<typeof load> {
  loaded ??= load()
  return loaded
}
