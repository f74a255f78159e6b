import type { FromOutside, ToOutside } from './messages.ts'

/*
 * The one script that speaks to other origins. It is started when the person asks for something from outside, for that
 * alone, and knows nothing of the project that is open.
 */
const tell = (message: FromOutside): void => globalThis.postMessage(message)

globalThis.onmessage = async ({ data }: MessageEvent<ToOutside>) => {
  try {
    if (data.kind === 'fetch') await relay(data)
    else {
      const { clone } = await import('./clone.ts')
      await clone(data, tell)
    }
  } catch (error) {
    tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
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
  })
  const { status, statusText } = response
  tell({ kind: 'head', status, statusText, headers: [...response.headers] })
  const reader = response.body?.getReader()
  for (;;) {
    const next = await reader?.read()
    if (next === undefined || next.done) break
    tell({ kind: 'chunk', bytes: next.value })
  }
  tell({ kind: 'end', warnings: [] })
}
