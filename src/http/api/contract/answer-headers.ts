/** The header fields of answers that the contract promises. */
export const answerHeaders = {
  Location: { description: 'Where what was made is found.', type: 'string' },
  Link: { description: 'rel="next": where the list goes on (RFC 8288).', type: 'string' },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', type: 'integer' },
  Allow: { description: 'The methods that the address takes.', type: 'string' },
  'WWW-Authenticate': { description: 'How to say who you are (RFC 9110).', type: 'string' },
  'Accept-Post': { description: 'The types of bodies that are taken.', type: 'string' },
  'Idempotency-Replayed': {
    description: '"true" when this was answered before to the same Idempotency-Key.',
    type: 'string',
  },
  'Content-Disposition': { description: 'Always an attachment.', type: 'string' },
  RateLimit: { description: 'What is left of the limits that apply.', type: 'string' },
  'RateLimit-Policy': { description: 'The limits that apply.', type: 'string' },
} as const

/** One of them. */
export type HeaderName = keyof typeof answerHeaders
