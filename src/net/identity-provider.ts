import type * as Library from 'openid-client'
import { forLog, reasonOf } from '../errors.ts'
import type { Clock } from '../world.ts'
import { createBoundedFetch } from './guarded-http.ts'

/** What the provider is, and who we are to it. */
type ProviderSettings = {
  issuer: string
  clientId: string
  clientSecret: string
  clientAuth: 'post' | 'basic'
  scopes: string
  rolesClaim: string
}

/** What the browser must bring back: stored in it, sealed, and used once. */
type FlowSecrets = { state: string; nonce: string; verifier: string }

/** What the provider says about a person who has signed in there. */
type Identity = {
  issuer: string
  subject: string
  email: string | undefined
  /** Undefined if the provider does not say. */
  isEmailVerified: boolean | undefined
  /** The values of the claim with the groups. */
  groups: readonly string[]
  /** For later questions; undefined if the provider gives none. */
  refreshToken: string | undefined
  /** When the person entered a password or the like there; undefined if it does not say. */
  provenAt: Date | undefined
}

/**
 * `refused`: the provider does not let the person in. `invalid`: it gave an answer that proves
 * nothing. `reason` is for the log: a code or a sentence without data about the person.
 */
type IdentityAnswer =
  | { is: 'confirmed'; identity: Identity }
  | { is: 'refused' | 'invalid' | 'unavailable'; reason: string }

/** The OpenID provider of the organization. It loads and requests nothing before the first call. */
export type IdentityProvider = {
  /**
   * Returns the page of the provider where the person signs in. `isFresh`: even if signed in
   * there.
   *
   * @throws Error if the provider is unavailable
   */
  begin: (back: string, isFresh: boolean) => Promise<{ url: URL; secrets: FlowSecrets }>
  /** Reads the address with which the provider sent the browser back. */
  finish: (at: URL, secrets: FlowSecrets) => Promise<IdentityAnswer>
  /** Asks again about a person. `refused`: the provider has ended the sign-in. */
  refresh: (token: string) => Promise<IdentityAnswer>
  /**
   * Returns the page that signs the person out at the provider; undefined if there is none.
   *
   * @throws Error if the provider is unavailable
   */
  signOutUrl: (back: string) => Promise<URL | undefined>
}

/** Providers publish up to some ten keys with certificates. */
const BYTES_MAX = 500_000
const ANSWER_MS = 5_000
/** The accepted difference of clocks. */
const SKEW_SECONDS = 60
/**
 * How long what the provider says about itself is kept, so that an outage shows before a browser is
 * sent there, and how long it is not asked again after a failure.
 */
const KNOWN_MS = 60_000
const AWAY_MS = 5_000
const GROUPS_MAX = 2_000

type Opened = { client: typeof Library; config: Library.Configuration }

export function createIdentityProvider(settings: ProviderSettings, clock: Clock): IdentityProvider {
  const open = remembered(() => openProvider(settings), clock)

  async function ask(question: (opened: Opened) => Promise<IdentityAnswer>) {
    try {
      return await question(await open())
    } catch (error) {
      return answerOf(error)
    }
  }

  return {
    async begin(back, isFresh) {
      const { client, config } = await open()
      const secrets = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      }
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: back,
        scope: settings.scopes,
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: 'S256',
        ...(isFresh && { prompt: 'login', max_age: '0' }),
      })
      return { url, secrets }
    },
    finish: (at, { state, nonce, verifier }) =>
      ask(async ({ client, config }) => {
        const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier }
        const tokens = await client.authorizationCodeGrant(config, at, checks)
        return identityOf({ client, config }, tokens, settings)
      }),
    refresh: (token) =>
      ask(async ({ client, config }) => {
        const tokens = await client.refreshTokenGrant(config, token)
        return identityOf({ client, config }, tokens, settings)
      }),
    async signOutUrl(back) {
      const { client, config } = await open()
      if (config.serverMetadata().end_session_endpoint === undefined) return undefined
      return client.buildEndSessionUrl(config, { post_logout_redirect_uri: back })
    },
  }
}

/** Loads the library and reads what the provider says about itself. */
async function openProvider(settings: ProviderSettings): Promise<Opened> {
  const client = await import('openid-client')
  const issuer = new URL(settings.issuer)
  const isLocal = issuer.protocol === 'http:'
  const bounded = createBoundedFetch({ bytesMax: BYTES_MAX, msMax: ANSWER_MS })
  const config = await client.discovery(
    issuer,
    settings.clientId,
    { [client.clockTolerance]: SKEW_SECONDS },
    settings.clientAuth === 'post'
      ? client.ClientSecretPost(settings.clientSecret)
      : client.ClientSecretBasic(settings.clientSecret),
    {
      timeout: ANSWER_MS / 1_000,
      [client.customFetch]: (url, options) => {
        // Without encryption, only a provider on this machine is asked, and nothing else.
        if (isLocal && new URL(url).host !== issuer.host) {
          throw new Error(`The provider names ${new URL(url).host}, which is another host.`)
        }
        return bounded(url, options)
      },
      execute: isLocal ? [client.allowInsecureRequests] : [],
    },
  )
  return { client, config }
}

/** Shares the work of `open`, remembers its result, and for a moment also a failure. */
function remembered(open: () => Promise<Opened>, clock: Clock): () => Promise<Opened> {
  let known: { opened: Promise<Opened>; until: number } | undefined
  return () => {
    if (known && clock().getTime() < known.until) return known.opened
    const one = { opened: open(), until: clock().getTime() + KNOWN_MS }
    one.opened.catch(() => (one.until = clock().getTime() + AWAY_MS))
    known = one
    return one.opened
  }
}

type Tokens = Pick<
  Awaited<ReturnType<typeof Library.refreshTokenGrant>>,
  'claims' | 'access_token' | 'refresh_token'
>

async function identityOf(
  { client, config }: Opened,
  tokens: Tokens,
  { rolesClaim }: ProviderSettings,
): Promise<IdentityAnswer> {
  const token = tokens.claims()
  const isWhole = token?.[rolesClaim] !== undefined && token['email'] !== undefined
  const hasMore = config.serverMetadata().userinfo_endpoint !== undefined
  const expected = token?.sub ?? client.skipSubjectCheck
  const more =
    isWhole || !hasMore ? {} : await client.fetchUserInfo(config, tokens.access_token, expected)
  const claims: Record<string, unknown> = { ...more, ...token }
  const { sub, email, email_verified: isVerified, auth_time: authTime } = claims
  if (typeof sub !== 'string') return { is: 'invalid', reason: 'The answer names no person.' }
  if (claims[rolesClaim] === undefined && isElsewhere(claims, rolesClaim)) {
    const reason = `The person has too many groups for the claim "${rolesClaim}".`
    return { is: 'invalid', reason }
  }
  const identity = {
    issuer: config.serverMetadata().issuer,
    subject: sub,
    email: typeof email === 'string' ? email : undefined,
    isEmailVerified: typeof isVerified === 'boolean' ? isVerified : undefined,
    groups: textsOf(claims[rolesClaim]),
    refreshToken: tokens.refresh_token,
    provenAt: typeof authTime === 'number' ? new Date(authTime * 1_000) : undefined,
  }
  return { is: 'confirmed', identity }
}

/** Whether a claim is too long for the token, so that it only says where to ask for it. */
function isElsewhere({ _claim_names: names }: Record<string, unknown>, claim: string): boolean {
  return typeof names === 'object' && names !== null && Object.hasOwn(names, claim)
}

function textsOf(claim: unknown): string[] {
  return [claim ?? []]
    .flat()
    .slice(0, GROUPS_MAX)
    .filter((one) => typeof one === 'string')
}

/** Errors of OAuth that concern the person. Others concern us, such as a wrong secret. */
const refusals = new Set(['access_denied', 'invalid_grant', 'login_required'])
const outages = new Set(['server_error', 'temporarily_unavailable'])

/**
 * What an error of the library means. Descriptions of providers are left out, because some contain
 * addresses.
 */
function answerOf(error: unknown): IdentityAnswer {
  const { error: said, code, name } = error as { error?: string; code?: string; name?: string }
  if (said !== undefined) {
    const reason = `The provider answers "${said.slice(0, 100)}".`
    if (refusals.has(said)) return { is: 'refused', reason }
    return { is: outages.has(said) ? 'unavailable' : 'invalid', reason }
  }
  const isInvalid = /^OAUTH_(?:JWT|INVALID|JSON_ATTRIBUTE|PARSE|KEY)/.test(code ?? '')
  const reason = [code ?? name, reasonOf(error)].join(': ')
  return { is: isInvalid ? 'invalid' : 'unavailable', reason: forLog(reason) }
}
