import type { FromOutside, ToOutside } from './messages.ts'

/*
 * The only script that reaches other origins. It is started for a single request of the person and has no access to the
 * open project.
 */
const send = (message: FromOutside): void => globalThis.postMessage(message)

globalThis.onmessage = async ({ data }: MessageEvent<ToOutside>) => {
  try {
    if (data.kind === 'fetch') await relay(data)
    else if (data.kind === 'github') {
      const { importGithub } = await import('./github.ts')
      await importGithub(data, send)
    } else {
      const { clone } = await import('./clone.ts')
      await clone(data, send)
    }
  } catch (error) {
    send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
}

async function relay({ url, method, headers, body }: Extract<ToOutside, { kind: 'fetch' }>): Promise<void> {
  const response = await fetch(url, {
    method,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    credentials: 'omit',
    redirect: 'error',
    referrerPolicy: 'no-referrer',
    ...(body !== undefined && { body }),
  }).catch(async (error: unknown) => {
    if (!(await answersOthers(url))) throw error
    throw new TypeError('Failed to fetch: the server does not let other pages ask it')
  })
  const { status, statusText } = response
  send({ kind: 'head', status, statusText, headers: [...response.headers] })
  const reader = response.body?.getReader()
  for (;;) {
    const next = await reader?.read()
    if (next === undefined || next.done) break
    send({ kind: 'chunk', bytes: next.value })
  }
  send({ kind: 'end', warnings: [] })
}

/** Whether a server answers a request whose response the page may not read. Where the page cannot know, it is false. */
async function answersOthers(url: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(3_000)
    await fetch(new URL(url).origin, { mode: 'no-cors', credentials: 'omit', referrerPolicy: 'no-referrer', signal })
    return true
  } catch {
    return false
  }
}
