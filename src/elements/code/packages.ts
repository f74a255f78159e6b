// Bundlers take `await import()`, or one whose failure is handled, within `try` as that of a package which may be absent.

/** The packages of CodeMirror, with the languages that are installed. */
export type Packages = NonNullable<Awaited<ReturnType<typeof load>>>

async function load() {
  const languages = loadLanguages()
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
    return { state, view, language, commands, search, merge, highlight, ...(await languages) }
  } catch {
    return undefined
  }
}

function raise(error: unknown): never {
  throw error
}

/** Each in a function of its own: what some bundlers make of an absent package throws at once. */
async function loadLanguages() {
  const script = async () => {
    try {
      return await import('@codemirror/lang-javascript')
    } catch {
      return undefined
    }
  }
  const json = async () => {
    try {
      return await import('@codemirror/lang-json')
    } catch {
      return undefined
    }
  }
  const css = async () => {
    try {
      return await import('@codemirror/lang-css')
    } catch {
      return undefined
    }
  }
  const html = async () => {
    try {
      return await import('@codemirror/lang-html')
    } catch {
      return undefined
    }
  }
  const markdown = async () => {
    try {
      return await import('@codemirror/lang-markdown')
    } catch {
      return undefined
    }
  }
  const loading = [script(), json(), css(), html(), markdown()] as const
  return {
    script: await loading[0],
    json: await loading[1],
    css: await loading[2],
    html: await loading[3],
    markdown: await loading[4],
  }
}

let loaded: ReturnType<typeof load> | undefined

/** Loads the packages once. Returns undefined when they are not installed. */
export function loadPackages(): ReturnType<typeof load> {
  loaded ??= load()
  return loaded
}
