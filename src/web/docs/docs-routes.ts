import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type Response, Router } from 'express'
import { composeDocument, apiOperations } from '../api/contract/document.ts'
import { chapters, type Operation } from '../api/contract/operation.ts'
import { cors, otherMethods } from '../api/cors.ts'
import { createFixedContent } from '../compress.ts'
import { sendPage } from '../pages/render.ts'
import { useEnglish } from '../pages/visit.ts'
import type { Site } from '../site.ts'

/** Examples of an operation in three languages. */
export type Examples = { curl: string; javascript: string; python: string }

export type ExampleValues = {
  /** The URL of the service, without a trailing slash. */
  url: string
  /** The values of the path parameters. */
  parts: Readonly<Record<string, string>>
}

/** An example request, before it is formatted for curl, JavaScript or Python. */
type Request = {
  method: string
  url: string
  /** Header fields with fixed values. */
  headers: [name: string, value: string][]
  credentials: 'bearer' | 'basic' | 'desk' | 'password' | 'nothing'
  body: Body
}

type Body =
  | { is: 'nothing' }
  | { is: 'file' }
  | { is: 'signaler' }
  | { is: 'json'; text: string }
  | { is: 'lines'; lines: string[] }

/**
 * Composes the examples of an operation. They read `message.eml` in their folder, and the
 * environment variables TOKEN, EMAIL, PASSWORD and DESK_TOKEN. Tests run them unchanged.
 */
export function composeExamples(operation: Operation, values: ExampleValues): Examples {
  const request = requestOf(operation, values)
  return {
    curl: composeCurl(request),
    javascript: composeJavaScript(request),
    python: composePython(request),
  }
}

function requestOf({ method, path, need, example }: Operation, values: ExampleValues): Request {
  const filled = path.replaceAll(/\{(\w+)\}/g, (all, name: string) => values.parts[name] ?? all)
  const body = bodyOf(example.body)
  const type = typeOf(body)
  return {
    method: method.toUpperCase(),
    url: `${values.url}${filled}${example.query ?? ''}`,
    headers: [
      ...Object.entries(example.headers ?? {}),
      ...(type === undefined ? [] : [['Content-Type', type] as [string, string]]),
    ],
    credentials: credentialsFor(need),
    body,
  }
}

function credentialsFor(need: Operation['need']): Request['credentials'] {
  if (need === 'nothing') return 'nothing'
  if (need === 'plug-in') return 'basic'
  if (need === 'desk') return 'desk'
  return need === 'mail-server' ? 'password' : 'bearer'
}

function bodyOf(given: Operation['example']['body']): Body {
  if (given === undefined) return { is: 'nothing' }
  if (given === 'message' || given === 'form') return { is: 'file' }
  if (given === 'signaler') return { is: 'signaler' }
  if (Array.isArray(given)) return { is: 'lines', lines: given.map((one) => JSON.stringify(one)) }
  return { is: 'json', text: JSON.stringify(given) }
}

function typeOf(body: Body): string | undefined {
  if (body.is === 'file') return 'message/rfc822'
  if (body.is === 'json') return 'application/json'
  return body.is === 'lines' ? 'application/x-ndjson' : undefined
}

function composeCurl({ method, url, headers, credentials, body }: Request): string {
  const proofs = {
    bearer: ['--header "Authorization: Bearer $TOKEN"'],
    desk: ['--header "Authorization: Bearer $DESK_TOKEN"'],
    basic: ['--user "$EMAIL:$TOKEN"'],
    password: ['--header "Password: $PASSWORD"'],
    nothing: [],
  }
  const parts = [
    `curl --silent --show-error --request ${method} '${url}'`,
    ...proofs[credentials],
    ...headers.map(([name, value]) => `--header '${name}: ${value}'`),
  ]
  if (body.is === 'file') parts.push('--data-binary @message.eml')
  if (body.is === 'json') parts.push(`--data '${body.text}'`)
  if (body.is === 'signaler') parts.push('--data-urlencode "message=$(base64 < message.eml)"')
  if (body.is !== 'lines') return parts.join(' \\\n  ')
  const message = '$(base64 < message.eml | tr -d "\\n")'
  const lines = body.lines.map((line) => line.replace('{message}', message))
  return [`${parts.join(' \\\n  ')} \\\n  --data-binary @- <<END`, ...lines, 'END'].join('\n')
}

function composeJavaScript({ method, url, headers, credentials, body }: Request): string {
  const proofs = {
    bearer: ['Authorization: `Bearer ${process.env.TOKEN}`'],
    desk: ['Authorization: `Bearer ${process.env.DESK_TOKEN}`'],
    basic: ['Authorization: `Basic ${btoa(`${process.env.EMAIL}:${process.env.TOKEN}`)}`'],
    password: ['Password: process.env.PASSWORD'],
    nothing: [],
  }
  const fields = [
    ...proofs[credentials],
    ...headers.map(([name, value]) => `${quoted(name)}: ${quoted(value)}`),
  ]
  const readsFile = ['file', 'signaler', 'lines'].includes(body.is)
  const bodies: Record<Body['is'], string | undefined> = {
    nothing: undefined,
    file: 'message',
    signaler: "new URLSearchParams({ message: message.toString('base64') })",
    json: body.is === 'json' ? `JSON.stringify(${body.text})` : undefined,
    lines: "lines.map((line) => JSON.stringify(line)).join('\\n')",
  }
  const inMessage = (line: string) => line.replace('"{message}"', "message.toString('base64')")
  return [
    ...(readsFile ? ["import { readFile } from 'node:fs/promises'", ''] : []),
    ...(readsFile ? ["const message = await readFile('message.eml')"] : []),
    ...(body.is === 'lines'
      ? ['const lines = [', ...body.lines.map((line) => `  ${inMessage(line)},`), ']']
      : []),
    `const answer = await fetch('${url}', {`,
    `  method: '${method}',`,
    ...(fields.length > 0 ? ['  headers: {', ...fields.map((one) => `    ${one},`), '  },'] : []),
    ...(bodies[body.is] === undefined ? [] : [`  body: ${bodies[body.is]},`]),
    '})',
    'console.log(answer.status, await answer.text())',
  ].join('\n')
}

function composePython({ method, url, headers, credentials, body }: Request): string {
  const basic = "base64.b64encode(f\"{os.environ['EMAIL']}:{os.environ['TOKEN']}\".encode())"
  const proofs = {
    bearer: [`"Authorization": f"Bearer {os.environ['TOKEN']}"`],
    desk: [`"Authorization": f"Bearer {os.environ['DESK_TOKEN']}"`],
    basic: [`"Authorization": "Basic " + ${basic}.decode()`],
    password: [`"Password": os.environ["PASSWORD"]`],
    nothing: [],
  }
  const fields = [
    ...proofs[credentials],
    ...headers.map(([name, value]) => `"${name}": "${value}"`),
  ]
  const bodies: Record<Body['is'], string | undefined> = {
    nothing: undefined,
    file: 'message',
    signaler: 'urllib.parse.urlencode({"message": base64.b64encode(message)}).encode()',
    json: body.is === 'json' ? `json.dumps(${body.text}).encode()` : undefined,
    lines: '"\\n".join(json.dumps(line) for line in lines).encode()',
  }
  const data = bodies[body.is]
  const inMessage = (line: string) =>
    line.replace('"{message}"', 'base64.b64encode(message).decode()')
  return [
    'import base64, json, os, urllib.error, urllib.parse, urllib.request',
    '',
    ...(['file', 'signaler', 'lines'].includes(body.is)
      ? ['message = open("message.eml", "rb").read()']
      : []),
    ...(body.is === 'lines'
      ? ['lines = [', ...body.lines.map((line) => `    ${inMessage(line)},`), ']']
      : []),
    'request = urllib.request.Request(',
    `    "${url}",`,
    `    method="${method}",`,
    ...(fields.length > 0
      ? ['    headers={', ...fields.map((one) => `        ${one},`), '    },']
      : []),
    ...(data === undefined ? [] : [`    data=${data},`]),
    ')',
    'try:',
    '    answer = urllib.request.urlopen(request)',
    'except urllib.error.HTTPError as error:',
    '    answer = error',
    'print(answer.status, answer.read().decode())',
  ].join('\n')
}

/** Formats a key or a string value of JavaScript. */
function quoted(text: string): string {
  return `'${text}'`
}

type WellKnownNeeds = Pick<Site, 'config' | 'publicUrl' | 'clock'>

/** RFC 9116 §2.5.5 recommends less than a year; the date advances automatically, once a month. */
const VALID_MONTHS = 6

/** The files under `/.well-known/`, and `robots.txt`. */
export function wellKnownRoutes(site: WellKnownNeeds): Router {
  const router = Router()
  router.get(['/.well-known/security.txt', '/security.txt'], (req, res, next) => {
    const { securityContact, securityPolicy } = site.config
    if (securityContact === undefined) return next()
    if (req.path === '/security.txt') return res.redirect(301, '/.well-known/security.txt')
    sendText(
      res,
      [
        `Contact: ${securityContact}`,
        `Expires: ${expiresAfter(site.clock()).toISOString()}`,
        'Preferred-Languages: en, fr, ru',
        `Canonical: ${site.publicUrl}/.well-known/security.txt`,
        ...(securityPolicy === undefined ? [] : [`Policy: ${securityPolicy}`]),
      ],
      86_400,
    )
  })
  router.get('/.well-known/change-password', (_req, res) => res.redirect(302, '/account/password'))
  router.get('/robots.txt', (_req, res) => {
    const closed = ['/admin', '/reports', '/lookup/', '/account', '/settings', '/api/']
    sendText(res, ['User-agent: *', ...closed.map((path) => `Disallow: ${path}`)], 86_400)
  })
  return router
}

/**
 * Returns the first day of the month that is `VALID_MONTHS` after this one, so that the text
 * changes only monthly.
 */
function expiresAfter(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + VALID_MONTHS, 1))
}

function sendText(res: Response, lines: readonly string[], maxAge: number): void {
  res.statusCode = 200
  res.setHeader('content-type', 'text/plain; charset=utf-8')
  res.setHeader('cache-control', `public, max-age=${maxAge}`)
  res.end(`${lines.join('\n')}\n`)
}

type Needs = Pick<Site, 'publicUrl'>

const SECONDS_FRESH = 300
const ANY_ID = '01999999-0000-7000-8000-000000000000'

/** The API contract: `/openapi.json`. Pages of any origin may read it. */
export function contractRoutes(site: Needs): Router {
  const router = Router()
  const end = createFixedContent(JSON.stringify(composeDocument(site.publicUrl)))
  router.get('/openapi.json', cors, async (req, res) => {
    res.setHeader('content-type', 'application/json; charset=utf-8')
    res.setHeader('cache-control', `public, max-age=${SECONDS_FRESH}`)
    await end(req, res)
  })
  router.all('/openapi.json', cors, otherMethods('GET'))
  return router
}

/** The API reference for developers, in English: `/docs`. */
export function docsRoutes(site: Needs): Router {
  const router = Router()
  const data = describeContract(site.publicUrl)
  router.get('/docs', (req, res) => {
    useEnglish(req)
    sendPage(req, res, { view: 'docs/reference', title: 'For programs', data })
  })
  return router
}

/** The programs shown in full on the page, by name. Tests run them. */
export const shownPrograms = {
  'web-mail-plug-in.js': program('web-mail-plug-in.js'),
  'verify-webhook.js': program('verify-webhook.js'),
}

function program(name: string): string {
  return readFileSync(path.join(import.meta.dirname, '..', 'views', 'docs', name), 'utf8')
}

function describeContract(publicUrl: string) {
  const document = composeDocument(publicUrl) as {
    paths: Record<string, Record<string, Composed>>
    components: { schemas: Record<string, unknown> }
  }
  const parts = { id: ANY_ID, name: 'shop.example', file: 'domains.json', number: `${ANY_ID}.1` }
  const describe = (operation: Operation) => ({
    ...operation,
    method: operation.method.toUpperCase(),
    proof: proofs[operation.need],
    examples: Object.entries(composeExamples(operation, { url: publicUrl, parts })),
    ...composedOf(document.paths[operation.path]?.[operation.method]),
  })
  return {
    isReference: true,
    programs: shownPrograms,
    chapters: Object.entries(chapters).map(([name, about]) => ({
      name,
      about,
      operations: apiOperations.filter(({ chapter }) => chapter === name).map(describe),
    })),
    schemas: Object.entries(document.components.schemas).map(([name, schema]) => ({
      name,
      text: JSON.stringify(schema, null, 2),
    })),
  }
}

type Named = { $ref?: string; type?: string; description?: string; anyOf?: Named[] }
type Content = Record<string, { schema: Named }>
type Composed = {
  parameters: { name: string; in: string; required: boolean; description?: string }[]
  requestBody?: { content: Content }
  responses: Record<string, { description: string; content?: Content; 'x-problems'?: string[] }>
}

/** The parts of a composed operation that the page shows. */
function composedOf(composed: Composed | undefined) {
  if (!composed) return { fields: [], bodies: [], replies: [] }
  return {
    fields: composed.parameters,
    bodies: bodiesOf(composed.requestBody?.content),
    replies: Object.entries(composed.responses).map(([status, reply]) => ({
      status,
      about: reply['x-problems'] ? undefined : reply.description,
      problems: reply['x-problems'] ?? [],
      bodies: bodiesOf(reply.content),
    })),
  }
}

function bodiesOf(content: Content = {}) {
  return Object.entries(content).map(([type, { schema }]) => ({
    type,
    names: (schema.anyOf ?? [schema]).flatMap(({ $ref }) => $ref?.split('/').at(-1) ?? []),
  }))
}

const proofs: Record<Operation['need'], string> = {
  report: 'Needs a token with the scope “report”, or the password.',
  read: 'Needs a token with the scope “read”, or the password.',
  retract: 'Needs a token with the scope “retract”, or the password.',
  account: 'Needs a token with the scope “account”, or the password.',
  any: 'Needs any token, or the password.',
  viewer: 'Needs the role “viewer”.',
  analyst: 'Needs the role “analyst”.',
  operator: 'Needs the role “operator”.',
  administrator: 'Needs the role “administrator”.',
  'plug-in': 'Needs Basic credentials: the email address, and the password or a token.',
  desk: 'Needs the token of an abuse desk: the last part of the address of its page.',
  'mail-server':
    'Needs the header Password. If no password is set, only works from the same machine.',
  nothing: 'Needs no account.',
}
