/** A browser without a screen: keeps cookies, follows nothing by itself. */
export class Browser {
  readonly #url: string
  readonly #headers: Record<string, string>
  readonly #cookies = new Map<string, string>()

  constructor(url: string, headers: Record<string, string> = {}) {
    this.#url = url
    this.#headers = headers
  }

  /** What it would send in the Cookie header. */
  cookies(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  get(path: string): Promise<Response> {
    return this.send(path, {})
  }

  /** Sends an urlencoded form. */
  post(
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const body = new URLSearchParams(fields)
    return this.send(path, { method: 'POST', body, headers })
  }

  /** Sends a multipart form. */
  postForm(path: string, body: FormData): Promise<Response> {
    return this.send(path, { method: 'POST', body })
  }

  async send(path: string, options: RequestInit): Promise<Response> {
    const headers = new Headers(this.#headers)
    for (const [name, value] of new Headers(options.headers)) headers.set(name, value)
    if (this.#cookies.size > 0) headers.set('cookie', this.cookies())
    const answer = await fetch(`${this.#url}${path}`, { ...options, headers, redirect: 'manual' })
    for (const cookie of answer.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';')
      const at = pair.indexOf('=')
      this.#cookies.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return answer
  }
}

/** A browser in which somebody has signed in. */
export async function signedInBrowser(
  url: string,
  { email, password }: { email: string; password: string },
  language = 'en',
): Promise<Browser> {
  const browser = new Browser(url, { 'accept-language': language })
  await browser.post('/sign-in', { 'user[email_or_login]': email, 'user[password]': password })
  return browser
}
