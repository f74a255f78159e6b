import type { LanguageModelV3, LanguageModelV3GenerateResult, LanguageModelV3StreamPart } from '@ai-sdk/provider'
import { APICallError } from '@ai-sdk/provider'

/** Replaces the key. */
const MARK = '[the key]'
/** Shorter keys are not redacted: they protect nothing and may be ordinary words. */
const MIN_LENGTH = 6

/**
 * Wraps a model so that its text, calls, metadata and errors never contain the key, even if its server repeats it. Code
 * that uses the model therefore cannot store the key.
 */
export function redactKey(model: LanguageModelV3, key: string): LanguageModelV3 {
  const forms = [...new Set([key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)])]
  const secrets = key.length < MIN_LENGTH ? [] : forms
  if (secrets.length === 0) return model
  const clean = (text: string): string => secrets.reduce((rest, secret) => rest.replaceAll(secret, MARK), text)

  async function guarded<R>(act: () => PromiseLike<R>): Promise<R> {
    try {
      return await act()
    } catch (error) {
      throw cleanError(error, clean)
    }
  }

  return {
    specificationVersion: 'v3',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) =>
      guarded(async () => {
        const { content, finishReason, usage, providerMetadata, warnings } = await model.doGenerate(options)
        const said: LanguageModelV3GenerateResult = {
          ...{ content, finishReason, usage, warnings },
          ...(providerMetadata && { providerMetadata }),
        }
        return cleanDeep(said, clean)
      }),
    doStream: (options) =>
      guarded(async () => {
        const { stream } = await model.doStream(options)
        return { stream: stream.pipeThrough(cleanParts(secrets, clean)) }
      }),
  }
}

type Clean = (text: string) => string

/** A key may arrive in pieces, so the end of a text is held back while it could be the beginning of a key. */
function cleanParts(secrets: readonly string[], clean: Clean) {
  const held = new Map<string, { readonly part: Delta; rest: string }>()

  function take(part: Delta): Delta {
    const key = `${part.type} ${part.id}`
    const text = clean((held.get(key)?.rest ?? '') + part.delta)
    const rest = beginning(text, secrets)
    held.set(key, { part, rest })
    return { ...part, delta: text.slice(0, text.length - rest.length) }
  }

  function release(which: (id: string) => boolean, put: (part: Delta) => void): void {
    for (const [key, { part, rest }] of held) {
      if (!which(part.id)) continue
      held.delete(key)
      if (rest !== '') put({ ...part, delta: rest })
    }
  }

  return new TransformStream<LanguageModelV3StreamPart, LanguageModelV3StreamPart>({
    transform(part, controller) {
      const put = (one: LanguageModelV3StreamPart): void => controller.enqueue(one)
      if (isDelta(part)) {
        const now = take(part)
        if (now.delta !== '') put(now)
        return
      }
      if (part.type === 'text-end' || part.type === 'reasoning-end' || part.type === 'tool-input-end') {
        release((id) => id === part.id, put)
      } else if (part.type === 'finish') release(() => true, put)
      put(part.type === 'error' ? { type: 'error', error: cleanError(part.error, clean) } : cleanDeep(part, clean))
    },
    flush: (controller) =>
      release(
        () => true,
        (part) => controller.enqueue(part),
      ),
  })
}

type Delta = Extract<LanguageModelV3StreamPart, { type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta' }>

function isDelta(part: LanguageModelV3StreamPart): part is Delta {
  return part.type === 'text-delta' || part.type === 'reasoning-delta' || part.type === 'tool-input-delta'
}

/** Returns the longest end of a text that is the beginning of a secret. */
function beginning(text: string, secrets: readonly string[]): string {
  const maxLength = Math.max(...secrets.map(({ length }) => length - 1))
  for (let length = Math.min(maxLength, text.length); length > 0; length--) {
    const end = text.slice(-length)
    if (secrets.some((secret) => secret.startsWith(end))) return end
  }
  return ''
}

function cleanDeep<T>(value: T, clean: Clean): T {
  if (typeof value === 'string') return clean(value) as T
  if (Array.isArray(value)) return value.map((one) => cleanDeep(one, clean)) as T
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [clean(name), cleanDeep(one, clean)])) as T
}

/** Copies an error without its request, cause and stack, and redacts its message. */
function cleanError(error: unknown, clean: Clean): unknown {
  if (APICallError.isInstance(error)) {
    const { message, url, statusCode, responseBody, responseHeaders, isRetryable } = error
    const wait = responseHeaders?.['retry-after']
    return new APICallError({
      message: clean(message),
      url: clean(url),
      requestBodyValues: undefined,
      isRetryable,
      ...(statusCode !== undefined && { statusCode }),
      ...(responseBody !== undefined && { responseBody: clean(responseBody) }),
      ...(wait !== undefined && { responseHeaders: { 'retry-after': clean(wait) } }),
    })
  }
  if (!(error instanceof Error)) return cleanDeep(error, clean)
  if (error.name === 'AbortError') return error
  return Object.assign(new Error(clean(error.message)), { name: error.name })
}
