import type { FromOutside, ToOutside } from './messages.ts'

/*
 * The only script that reaches other origins. It is started for a single request of the person and has no access to the
 * open project.
 */
const send = (message: FromOutside): void => globalThis.postMessage(message)

globalThis.onmessage = async ({ data }: MessageEvent<ToOutside>) => {
  try {
    if (data.kind === 'fetch') await relay(data)
    else {
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
