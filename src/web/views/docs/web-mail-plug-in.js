// Reports the message that is open in a web mail program. Works from any origin, because the
// service allows all origins and uses no cookies, only the token.
export async function reportMessage(service, token, source, kind = 'spam') {
  const bytes = new TextEncoder().encode(source)
  const digest = await crypto.subtle.digest('SHA-256', bytes)
  const key = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'))
  const answer = await fetch(`${service}/api/v1/reports?kind=${kind}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'message/rfc822',
      'Idempotency-Key': key.join(''),
    },
    body: bytes,
  })
  const result = await answer.json()
  if (answer.ok) return result.url
  // "detail" explains the error to people.
  throw new Error(result.detail)
}
