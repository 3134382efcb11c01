declare module 'mailauth/lib/dkim/dkim-verifier.js' {
  import type { ARCData } from 'mailauth'

  /** One header field in the form that the library uses. */
  export type LibraryField = { key: string; casedKey: string; line: Buffer }

  export type LibraryResult = {
    signingDomain?: string
    selector?: string
    signature?: string
    status: { result: string; comment?: string; underSized?: number; policy?: object }
  }

  /** Looks up a key record and parses it. */
  export type KeyLookup = (
    type: string,
    name: string,
    minBits: number | undefined,
    options: { hashAlgo: string },
  ) => Promise<unknown>

  /** The verifier behind `dkimVerify`; it accepts the header and the body instead of a stream. */
  export class DkimVerifier {
    constructor(options: {
      resolver: (name: string, type: string) => Promise<string[][] | string[]>
      curTime?: Date
      rejectRsaSha1?: boolean
    })
    headers: { parsed: readonly LibraryField[] }
    bodyHashes: ReadonlyMap<string, unknown>
    results: LibraryResult[]
    keyCache: { get: KeyLookup }
    arc: ARCData
    messageHeaders(headers: { parsed: readonly LibraryField[] }): Promise<void>
    nextChunk(body: Buffer): Promise<void>
    finalChunk(): Promise<void>
  }
}
