/** The name of a session's cookie, with and without https. */
const sessionCookie = /^(?:__Host-)?signalpost$/

/**
 * A browser without a screen: keeps cookies and follows no redirects. When signed in, it sends
 * forms with the hidden field of its session. It accepts no compression, which takes a
 * twentieth of the processor time.
 */
export class Browser {
  readonly #url: string
  readonly #headers: Record<string, string>
  readonly #cookies = new Map<string, string>()
  #token: string | undefined
  /** Whether forms say that the page before something final was read. */
  isSure = true

  constructor(url: string, headers: Record<string, string> = {}) {
    this.#url = url
    this.#headers = { 'accept-encoding': 'identity', ...headers }
  }

  /** Returns the Cookie header that the browser would send. */
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
    const { body } = options
    if (body instanceof URLSearchParams || body instanceof FormData) {
      for (const [name, value] of Object.entries(await this.tokenFields())) body.set(name, value)
      if (this.isSure) body.set('sure', 'yes')
    }
    const headers = new Headers(this.#headers)
    for (const [name, value] of new Headers(options.headers)) headers.set(name, value)
    if (this.#cookies.size > 0) headers.set('cookie', this.cookies())
    const answer = await fetch(`${this.#url}${path}`, { ...options, headers, redirect: 'manual' })
    for (const cookie of answer.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';')
      const at = pair.indexOf('=')
      const name = pair.slice(0, at)
      const value = pair.slice(at + 1)
      if (sessionCookie.test(name) && this.#cookies.get(name) !== value) this.#token = undefined
      this.#cookies.set(name, value)
    }
    return answer
  }

  /** Returns the hidden field of the forms of its session. */
  async tokenFields(): Promise<Record<string, string>> {
    if (![...this.#cookies.keys()].some((name) => sessionCookie.test(name))) return {}
    if (this.#token === undefined) {
      const page = await (await this.get('/')).text()
      this.#token = /name="form_token" value="([\w-]+)"/.exec(page)?.[1] ?? ''
    }
    return this.#token === '' ? {} : { form_token: this.#token }
  }
}

/** Returns a browser with a signed-in user. */
export async function signedInBrowser(
  url: string,
  { email, password }: { email: string; password: string },
  language = 'en',
): Promise<Browser> {
  const browser = new Browser(url, { 'accept-language': language })
  await browser.post('/sign-in', { 'user[email_or_login]': email, 'user[password]': password })
  return browser
}
