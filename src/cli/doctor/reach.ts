import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { createTransport } from 'nodemailer'
import { z } from 'zod'
import { reasonOf } from '../../errors.ts'
import { createIdentityProvider } from '../../net/identity-provider.ts'
import { createMainClient } from '../../outage/main-client.ts'
import { compareClock } from './database.ts'
import { bad, type Finding, ok, type Patient } from './finding.ts'

const ANSWER_MS = 10_000
const onThisMachine = ['localhost', '127.0.0.1', '[::1]']

type Port = { variable: string; host: string; port: number; isOurs: (at: Port) => Promise<boolean> }

/** Checks each port of the settings: that Signalpost listens there, or that it could. */
export function checkPorts({ config }: Pick<Patient, 'config'>): Promise<Finding[]> {
  const { checkHost, checkPort, milter } = config
  const ports: Port[] = [
    httpPort(config),
    {
      variable: 'RECEIVE_PORT',
      host: config.receiveHost,
      port: config.receivePort,
      isOurs: greets,
    },
  ]
  if (checkPort !== undefined) {
    ports.push({ variable: 'CHECK_PORT', host: checkHost, port: checkPort, isOurs: isAlive })
  }
  // The milter protocol has no greeting.
  if (milter) {
    ports.push({ variable: 'CHECK_MILTER_PORT', ...milter, isOurs: () => Promise.resolve(true) })
  }
  return Promise.all(ports.map(examine))
}

/** Checks the only port of a front. */
export function checkHttpPort({ config }: Pick<Patient, 'config'>): Promise<Finding> {
  return examine(httpPort(config))
}

function httpPort({ httpHost: host, httpPort: port }: Patient['config']): Port {
  return { variable: 'HTTP_PORT', host, port, isOurs: isAlive }
}

/** Checks that the main installation of a front answers and accepts its key. */
export async function checkMain({ config }: Pick<Patient, 'config'>): Promise<Finding[]> {
  const { mainUrl, frontKey } = config
  if (mainUrl === undefined || frontKey === undefined) return []
  try {
    await createMainClient(mainUrl, frontKey).ask('limits', {}, z.unknown())
    return [ok(`The main installation ${mainUrl} accepts FRONT_KEY.`)]
  } catch (error) {
    const todo = 'Until then, reports stay on this machine, and only known reporters can report.'
    return [bad('problem', reasonOf(error), todo)]
  }
}

async function examine(at: Port): Promise<Finding> {
  const { variable, host, port } = at
  const obstacle = await tryListening(host, port)
  const place = `${host}:${port} (${variable})`
  if (obstacle === undefined) {
    return bad('unknown', `No program listens on ${place}.`, 'Start Signalpost.')
  }
  if (obstacle === 'EADDRINUSE') {
    if (await at.isOurs(at)) return ok(`Signalpost listens on ${place}.`)
    const todo = `Stop that program, or set ${variable} to another port.`
    return bad('problem', `Another program listens on ${place}.`, todo)
  }
  if (obstacle === 'EACCES') {
    const todo = `Set ${variable} to a port above 1023, or give the service CAP_NET_BIND_SERVICE.`
    return bad('problem', `This account may not listen on ${place}.`, todo)
  }
  const todo = `Set ${variable.replace(/PORT$/, 'HOST')} to an address of this machine.`
  return bad('problem', `No program can listen on ${place}: ${obstacle}.`, todo)
}

/** Returns the code of the error that prevents a process from listening; undefined if none does. */
function tryListening(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port }, () => server.close(() => resolve(undefined)))
  })
}

/** The address at which this machine reaches a server that listens on `host`. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host.includes(':') ? `[${host === '::' ? '::1' : host}]` : host
}

async function isAlive({ host, port }: Port): Promise<boolean> {
  const answer = await get(`http://${reachable(host)}:${port}/healthz`).catch(() => undefined)
  return answer !== undefined && (await answer.text()).startsWith('alive')
}

async function greets({ host, port }: Port): Promise<boolean> {
  const socket = connect({ host: reachable(host).replaceAll(/[[\]]/g, ''), port })
  try {
    const [greeting] = await once(socket, 'data', { signal: AbortSignal.timeout(ANSWER_MS) })
    return /^220 .*Signalpost/.test(String(greeting))
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

function get(url: string): Promise<Response> {
  return fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) }).catch(
    (error: unknown) => {
      throw error instanceof Error && error.cause ? error.cause : error
    },
  )
}

/** Checks that people reach the service at its public address. */
export async function checkPublicUrl({ config }: Pick<Patient, 'config'>): Promise<Finding> {
  const { publicUrl } = config
  const { protocol, hostname } = new URL(publicUrl)
  if (onThisMachine.includes(hostname)) {
    const todo = 'Set PUBLIC_URL to the https address at which people reach it.'
    return bad('warning', 'Only this machine reaches the service.', todo)
  }
  if (protocol !== 'https:') {
    const todo = 'Put a proxy with TLS in front, and set PUBLIC_URL to its https address.'
    return bad('problem', `${publicUrl} is not encrypted.`, todo)
  }
  const todo = 'Check the DNS, the firewall, the proxy and its certificate.'
  try {
    const answer = await get(`${publicUrl}/healthz`)
    if ((await answer.text()).startsWith('alive')) return ok(`${publicUrl} answers.`)
    return bad('problem', `Another service answers at ${publicUrl} (HTTP ${answer.status}).`, todo)
  } catch (error) {
    return bad('problem', `${publicUrl} does not answer: ${reasonOf(error)}`, todo)
  }
}

/** Checks that the mail server for outgoing mail accepts us; sends no mail. */
export async function checkRelay({ config }: Pick<Patient, 'config'>): Promise<Finding> {
  const { smtpUrl } = config
  if (smtpUrl === undefined) {
    return bad('warning', 'No mail is sent.', 'Set SMTP_URL to your mail server.')
  }
  const { host } = new URL(smtpUrl)
  const times = { connectionTimeout: ANSWER_MS, greetingTimeout: ANSWER_MS, dnsTimeout: ANSWER_MS }
  const transport = createTransport({ url: smtpUrl, ...times, socketTimeout: ANSWER_MS })
  try {
    await transport.verify()
    return ok(`The mail server ${host} accepts connections from here.`)
  } catch (error) {
    const isRefusal = error instanceof Error && 'responseCode' in error
    const todo = isRefusal
      ? 'Check the password in SMTP_URL, and that the mail server relays for this machine.'
      : 'Check the host and the port in SMTP_URL, and the firewall: many providers block port 25.'
    const did = isRefusal ? 'refuses us' : 'does not answer'
    return bad('problem', `The mail server ${host} ${did}: ${reasonOf(error)}`, todo)
  } finally {
    transport.close()
  }
}

/** Checks that the provider of the organization answers, and says what it must know about us. */
export async function checkProvider({
  config,
  clock,
}: Omit<Patient, 'resolve'>): Promise<Finding[]> {
  const { oidc, publicUrl } = config
  if (!oidc) return []
  const back = `${publicUrl}/sign-in/organization/back`
  try {
    await createIdentityProvider(oidc, clock).begin(back, false)
    const answer = await get(oidc.issuer)
    await answer.body?.cancel()
    const at = new Date(answer.headers.get('date') ?? '')
    return [
      ok(`The provider ${oidc.issuer} answers. Its redirect URI for us must be ${back}`),
      ...(Number.isNaN(at.getTime()) ? [] : [compareClock('the provider', at, clock())]),
    ]
  } catch (error) {
    const says = `The provider ${oidc.issuer} does not answer as it should: ${reasonOf(error)}`
    const todo =
      'Check OIDC_ISSUER: it is what /.well-known/openid-configuration there calls issuer.'
    return [bad('problem', says, todo)]
  }
}

/** Checks that the Internet registries answer, and compares the clock with theirs. */
export async function checkRegistries({
  config,
  clock,
}: Omit<Patient, 'resolve'>): Promise<Finding[]> {
  const { rdapBootstrapUrl: url } = config
  if (url === undefined) return []
  try {
    const answer = await get(`${url}/dns.json`)
    await answer.body?.cancel()
    const at = new Date(answer.headers.get('date') ?? '')
    const answers = ok('The Internet registries answer.')
    return Number.isNaN(at.getTime())
      ? [answers]
      : [answers, compareClock('the registries', at, clock())]
  } catch (error) {
    const says = `The Internet registries do not answer: ${reasonOf(error)}`
    const todo = 'Allow https to all addresses, or set RDAP_BOOTSTRAP_URL to "none".'
    return [bad('warning', says, todo)]
  }
}
