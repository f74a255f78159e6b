import type { scriptedModel } from 'wardspace/testing/scripted-model'

export type Prompt = Parameters<ReturnType<typeof scriptedModel>['doGenerate']>[0]['prompt']
type Generated = Awaited<ReturnType<ReturnType<typeof scriptedModel>['doGenerate']>>

/** A body of a request, as far as every protocol has it. */
export interface ModelRequest {
  readonly model: string
  readonly stream?: boolean
  readonly messages: readonly object[]
}

/** An answer to stream. */
export interface ModelAnswer<Request> {
  readonly request: Request
  readonly content: Generated['content']
  readonly finishReason: Generated['finishReason']['unified']
  readonly inputTokens: number
  readonly outputTokens: number
  /** Ids of calls begin with it. */
  readonly idPrefix: string
  readonly isCut: boolean
  /** Splits a text into chunks. */
  readonly split: (text: string) => readonly string[]
  /** Splits the input of a call. */
  readonly splitInput: (json: string) => readonly string[]
  /** Sends an event: its name, if the protocol has one, and its data. */
  readonly send: (data: unknown, name?: string) => Promise<void>
  /** Called after each chunk of text or of an input. Returns true if the answer is over. */
  readonly hasEnded: () => Promise<boolean>
}

/** A streaming protocol of model servers. */
export interface ModelProtocol<Request extends ModelRequest = ModelRequest> {
  /** The path of its requests. */
  readonly path: string
  /** The key of a request. */
  readonly keyOf: (headers: Readonly<Record<string, string | string[] | undefined>>) => string
  /** Returns the error of a strict server for a request, or undefined for a valid one. */
  readonly faultOf: (request: Request) => string | undefined
  /** Converts the conversation for the model of the server. */
  readonly promptOf: (request: Request) => Prompt
  readonly stream: (answer: ModelAnswer<Request>) => Promise<void>
}
