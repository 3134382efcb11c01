import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import Provider, { type Configuration } from 'oidc-provider'
import { freePort } from './free-port.ts'

/** What the provider knows about a person, besides the id. */
type ProviderPerson = { email?: string; email_verified?: boolean; groups?: string[] }

/** A real OpenID provider on the loopback address, with a sign-in page that needs no one. */
type TestProvider = {
  issuer: string
  /** The people, by id. A person who is removed has left the organization. */
  people: Map<string, ProviderPerson>
  /** Who enters a password at the next sign-in page; undefined: the person cancels. */
  next: string | undefined
  /** How many seconds ago the person entered it, as the provider says. */
  signedInAgo: number
  /** The number of requests for tokens. */
  tokenRequests: () => number
  stop: () => Promise<void>
  start: () => Promise<void>
  close: () => Promise<void>
}

export const client = { id: 'signalpost', secret: 'secret & with/special+characters' }

/** The settings of a site whose people sign in at the provider. */
export const settingsFor = ({ issuer }: Pick<TestProvider, 'issuer'>) => ({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: client.id,
  OIDC_CLIENT_SECRET: client.secret,
  OIDC_NAME: 'Acme',
  OIDC_SCOPES: 'openid email groups',
})

/** Starts a provider that sends browsers back to a site. */
export async function startProvider(siteUrl: string): Promise<TestProvider> {
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}`
  const people: TestProvider['people'] = new Map()
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const key = { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'one' }
  const configuration: Configuration = {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [`${siteUrl}/sign-in/organization/back`],
        post_logout_redirect_uris: [`${siteUrl}/`],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [key] } as NonNullable<Configuration['jwks']>,
    cookies: { keys: ['a key of the tests'] },
    scopes: ['openid', 'groups'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    ttl: {
      ...{ AccessToken: 600, AuthorizationCode: 60, IdToken: 600, RefreshToken: 86_400 },
      ...{ Grant: 86_400, Interaction: 600, Session: 86_400 },
    },
    rotateRefreshToken: true,
    issueRefreshToken: () => Promise.resolve(true),
    findAccount: (_ctx, id) => {
      const person = people.get(id)
      return person && { accountId: id, claims: () => ({ sub: id, ...person }) }
    },
    async loadExistingGrant(ctx) {
      const { accountId } = ctx.oidc.session ?? {}
      const grant = new ctx.oidc.provider.Grant({ clientId: client.id, accountId: accountId ?? '' })
      grant.addOIDCScope('openid email groups')
      await grant.save()
      return grant
    },
  }
  const provider = new Provider(issuer, configuration)
  provider.on('server_error', (_ctx, error) => console.error(error))
  const handle = provider.callback()
  let requests = 0
  const made: TestProvider = {
    issuer,
    people,
    next: undefined,
    signedInAgo: 0,
    tokenRequests: () => requests,
    start,
    stop,
    close: stop,
  }

  async function interact(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { next: accountId, signedInAgo } = made
    const ts = Math.floor(Date.now() / 1_000) - signedInAgo
    const result =
      accountId === undefined ? { error: 'access_denied' } : { login: { accountId, ts } }
    await provider.interactionFinished(req, res, result)
  }

  let server: Server | undefined
  async function start(): Promise<void> {
    server = createServer((req, res) => {
      if (req.url?.startsWith('/token')) requests++
      if (!req.url?.startsWith('/interaction/')) return void handle(req, res)
      interact(req, res).catch((error: unknown) => {
        console.error(error)
        res.destroy()
      })
    })
    await once(server.listen(port, '127.0.0.1'), 'listening')
  }
  async function stop(): Promise<void> {
    server?.closeAllConnections()
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
    server = undefined
  }
  await start()
  return made
}

/** The cookies that a browser has of the provider. */
type ProviderCookies = Map<string, string>

/**
 * Follows the redirects of the provider from an address of it, and returns the address to which it
 * sends the browser at last.
 */
export async function visitProvider(url: string, cookies: ProviderCookies): Promise<string> {
  const { origin } = new URL(url)
  for (let at = url; ;) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(at, { headers: { cookie }, redirect: 'manual' })
    for (const one of answer.headers.getSetCookie()) {
      const [pair = ''] = one.split(';')
      const [name = '', ...value] = pair.split('=')
      cookies.set(name, value.join('='))
    }
    const location = answer.headers.get('location')
    if (location === null) throw new Error(`${at}: ${answer.status} ${await answer.text()}`)
    at = new URL(location, at).href
    if (new URL(at).origin !== origin) return at
  }
}
