import type { Page } from 'playwright'

type Calls<Api extends object> = <K extends string & keyof Api>(
  page: Page,
  name: K,
  ...args: Parameters<Extract<Api[K], (...args: never[]) => unknown>>
) => Promise<Awaited<ReturnType<Extract<Api[K], (...args: never[]) => unknown>>>>

/** Returns a function that calls the functions of the global object `api` of a page. */
export function pageCalls<Api extends object>(): Calls<Api> {
  return (page, name, ...args) =>
    page.evaluate(
      ([name, args]) => {
        const { api } = globalThis as unknown as { api: Record<string, (...args: unknown[]) => unknown> }
        return api[name as string]?.(...(args as unknown[]))
      },
      [name, args] as const,
    ) as never
}
