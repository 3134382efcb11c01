/** What an answer of a partner means; `later`: the same page may be sent again. */
export type AnswerMeaning = 'accepted' | 'duplicate' | 'refused' | 'bad-key' | 'later'

/** How a partner takes pages over HTTP. */
export type SubmissionTemplate = {
  method: 'POST' | 'PUT'
  address: string
  /** JSON with the placeholders `{url}`, `{contact}` and `{reason}` in its texts. */
  body: unknown
  /** The header with the key that the partner gave to the operator; null if it needs none. */
  keyHeader: string | null
  hourlyMax: number
  dailyMax: number
  /** The first that fits holds. */
  answers: readonly {
    status: number
    /** A field that the JSON has. */
    has?: string
    /** A text in the JSON, in any case. */
    says?: string
    means: AnswerMeaning
  }[]
}

type Values = { url: string; contact: string; reason: string }

export function composeSubmission({ body }: SubmissionTemplate, values: Values): string {
  return JSON.stringify(body, (_, value: unknown) =>
    typeof value === 'string'
      ? value.replace(/\{(url|contact|reason)\}/g, (_all, name: keyof Values) => values[name])
      : value,
  )
}

/**
 * What an answer means. One that the template does not know: an error of ours is refused; anything
 * else, such as a page of a proxy with the status of success, says nothing, so we ask again.
 */
export function meaningOf(
  { answers }: SubmissionTemplate,
  { status, text }: { status: number; text: string },
): AnswerMeaning {
  const json = parseObject(text)
  const found = answers.find((one) => {
    if (one.status !== status) return false
    if (one.has !== undefined && !(json && Object.hasOwn(json, one.has))) return false
    return one.says === undefined || (json && text.toLowerCase().includes(one.says.toLowerCase()))
  })
  if (found) return found.means
  return status >= 400 && status < 500 && status !== 408 ? 'refused' : 'later'
}

function parseObject(text: string): object | undefined {
  try {
    const json: unknown = JSON.parse(text)
    return typeof json === 'object' && json !== null ? json : undefined
  } catch {
    return undefined
  }
}
