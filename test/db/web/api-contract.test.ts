import { Validator } from '@seriousme/openapi-schema-validator'
import type { Router } from 'express'
import { expect, test } from 'vitest'
import { composeDocument, apiOperations } from '../../../src/web/api/contract/document.ts'
import type { Operation } from '../../../src/web/api/contract/operation.ts'
import { apiRoutes } from '../../../src/web/api/router.ts'
import { contractRoutes } from '../../../src/web/docs/docs-routes.ts'
import { healthRoutes } from '../../../src/web/health.ts'
import type { Site } from '../../../src/web/site.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import {
  type ContractDocument,
  type ContractResponse,
  faultsBy,
} from '../../support/contract/contract-schemas.ts'
import {
  askForAll,
  type ExampleAnswer,
  startExampleSite,
} from '../../support/contract/example-site.ts'
import { analyzeAlone } from '../../support/contract/analyze-alone.ts'
import { sampleMessage } from './web-site.ts'

const shown = await closeAfterTests(startExampleSite())
const person = await shown.addPerson()
const answer = await fetch(`${shown.site.url}/openapi.json`)
const document = (await answer.json()) as ContractDocument
const faultsOf = faultsBy(document)

test('the document is OpenAPI 3.1', async () => {
  const result = await new Validator().validate(document)
  expect(result.errors ?? '').toBe('')
  expect(result.valid).toBe(true)
  expect(document).toMatchObject({ openapi: '3.1.0' })
})

test('the validator refuses an invalid document', async () => {
  const wrong = { ...composeDocument('https://x.example'), paths: { '/a': { get: { id: 1 } } } }
  expect((await new Validator().validate(wrong)).valid).toBe(false)
})

test('operations have unique names and addresses', () => {
  const names = apiOperations.map(({ id }) => id)
  const addresses = apiOperations.map(({ method, path }) => `${method} ${path}`)
  expect(new Set(names).size).toBe(names.length)
  expect(new Set(addresses).size).toBe(addresses.length)
})

/** Returns the methods and addresses of a router, as in the OpenAPI document. */
function routesOf(router: Router, base = ''): string[] {
  return router.stack.flatMap(({ route }) => {
    if (!route) return []
    const path = `${base}${route.path}`.replace(/(?<=.)\/$/, '').replaceAll(/:(\w+)/g, '{$1}')
    const { methods } = route as unknown as { methods: Record<string, boolean> }
    return Object.keys(methods).flatMap((method) =>
      method === '_all' ? [] : [`${method} ${path}`],
    )
  })
}

test('the document contains exactly what the routers serve', () => {
  const nothing = { publicUrl: 'https://x.example' } as Site
  const served = [
    ...routesOf(apiRoutes(nothing), '/api'),
    ...routesOf(healthRoutes(nothing)),
    ...routesOf(contractRoutes(nothing)),
  ]
  const told = apiOperations
    .filter(({ chapter, id }) => chapter !== 'Mail servers' && !id.startsWith('get-list'))
    .map(({ method, path }) => `${method} ${path}`)
  expect(told.toSorted()).toEqual(served.toSorted())
})

/** Sends a request according to the contract. */
async function ask(operation: Operation, url: string, parts: Record<string, string>) {
  const { example, need, method } = operation
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? '')
  const headers = new Headers(example.headers)
  if (need === 'plug-in' || need === 'account') headers.set('authorization', person.basic)
  else if (need === 'desk') headers.set('authorization', `Bearer ${shown.desk.deskToken}`)
  else if (need !== 'nothing' && need !== 'mail-server') {
    headers.set('authorization', `Bearer ${person.token}`)
  }
  const message = sampleMessage('contract')
  const { body } = example
  if (body === 'message') headers.set('content-type', 'message/rfc822')
  else if (Array.isArray(body)) headers.set('content-type', 'application/x-ndjson')
  const text = Array.isArray(body)
    ? body.map((one) => JSON.stringify(one)).join('\n')
    : JSON.stringify(body)
  const sent =
    body === 'message'
      ? message
      : body === 'signaler'
        ? new URLSearchParams({ message: message.toString('base64') })
        : text?.replace('{message}', sampleMessage('line').toString('base64'))
  return fetch(`${url}${path}${example.query ?? ''}`, {
    method: method.toUpperCase(),
    headers,
    redirect: 'manual',
    ...(sent === undefined ? {} : { body: sent }),
  })
}

/** Describes how an answer violates the document. */
async function check(
  operation: Operation,
  answer: Response,
): Promise<ExampleAnswer & { faults: string }> {
  const text = await answer.text()
  const told = document.paths[operation.path]?.[operation.method]?.responses[answer.status]
  const faults = told ? faultsIn(told, answer, text) : `${answer.status} is not in the document`
  return { status: answer.status, text, faults: faults && `${operation.id}: ${faults} ${text}` }
}

function faultsIn({ headers = {}, content }: ContractResponse, answer: Response, text: string) {
  const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
  if (!content) return text === '' ? '' : 'a body that the document does not know'
  const schema = content[type]?.schema
  if (!schema) return `the type ${type} is not in the document`
  const optional = ['Link', 'Idempotency-Replayed', 'RateLimit', 'RateLimit-Policy', 'Location']
  const missing = Object.keys(headers).filter(
    (name) => !optional.includes(name) && !answer.headers.has(name),
  )
  if (missing.length > 0) return `without ${missing.join(', ')}`
  return type.endsWith('json') && !isText(schema) ? faultsOf(schema, JSON.parse(text)) : ''
}

function isText(schema: object): boolean {
  return 'type' in schema && schema.type === 'string'
}

test('every operation is answered according to the document', async () => {
  const seen: [string, number][] = []
  await askForAll(shown.site.url, shown.desk, async (operation, { url, parts }) => {
    const said = await check(operation, await ask(operation, url, parts))
    seen.push([operation.id, said.status])
    expect(said.faults).toBe('')
    return said
  })
  expect(seen.filter(([, status]) => status >= 400)).toEqual([])
  expect(seen).toHaveLength(apiOperations.length)
})

test('an analyzed report follows the document, with all its parts', async () => {
  const [report] = apiOperations.filter(({ id }) => id === 'read-report')
  const id = await shown.site.report(person, sampleMessage('analyzed'))
  await analyzeAlone(shown.site.app, id)
  if (!report) throw new Error('there is no such operation')
  const said = await check(report, await ask(report, shown.site.url, { id }))
  expect(said.faults).toBe('')
  expect(JSON.parse(said.text)).toMatchObject({
    origin: { ip: '198.51.100.23' },
    verdict: { class: expect.any(String) as unknown },
    picture: { stations: expect.any(Array) as unknown },
  })
})

const asDesk = { headers: { authorization: `Bearer ${shown.desk.deskToken}` } }

/** Invalid requests, by the operations that must refuse them. */
const wrong: readonly [
  operation: string,
  request: RequestInit & { query?: string },
  type: string,
][] = [
  ['report', { headers: { 'content-type': 'text/html' }, body: 'x' }, 'wrong-type'],
  ['report', { headers: { 'content-type': 'message/rfc822' }, body: '' }, 'not-a-message'],
  ['report', { headers: { 'content-type': 'message/rfc822' }, body: 'hello' }, 'not-a-message'],
  ['report', { headers: { 'content-type': 'application/json' }, body: '{' }, 'bad-request'],
  ['report', { headers: { 'content-type': 'application/json' }, body: '{}' }, 'bad-field'],
  ['look-into', { headers: { 'content-type': 'text/html' }, body: 'x' }, 'wrong-type'],
  ['report-many', { headers: { 'content-type': 'text/plain' }, body: 'x' }, 'wrong-type'],
  ['list-reports', { query: '?limit=0' }, 'bad-field'],
  ['read-report', {}, 'not-found'],
  ['read-message', {}, 'not-found'],
  ['retract-report', {}, 'not-found'],
  ['report-by-plug-in', { body: 'message=*' }, 'bad-base64'],
  ['set-relay', { body: '{"cidr":"x"}' }, 'bad-field'],
  ['set-relay', { body: '[' }, 'bad-request'],
  ['forget-relay', { query: '?cidr=192.0.2.99' }, 'not-found'],
  ['add-webhook', { body: '{"url":"http://x.example","events":["report.told"]}' }, 'bad-field'],
  ['add-webhook', { body: 'x'.repeat(9_000) }, 'too-big'],
  ['change-webhook', { body: '{}' }, 'not-found'],
  ['read-webhook', {}, 'not-found'],
  ['try-webhook', {}, 'not-found'],
  ['look-up', {}, 'bad-field'],
  ['read-counters', { query: '?series=x' }, 'bad-field'],
  ['list-desk-reports', { ...asDesk, query: '?before=x' }, 'bad-field'],
  ['read-desk-report', asDesk, 'not-found'],
  ['answer-desk-reports', { ...asDesk, body: '{"reports":[],"answer":"stop"}' }, 'bad-field'],
  ['search-reports', { query: '?q=shape:round' }, 'bad-field'],
  ['preview-mass-action', { body: '{"action":"retract"}' }, 'bad-field'],
  ['start-mass-action', { body: '{"action":"delete-messages","search":"a"}' }, 'bad-field'],
  ['read-mass-action', {}, 'not-found'],
  ['stop-mass-action', {}, 'not-found'],
  ['undo-mass-action', {}, 'not-found'],
  ['add-outgoing-events', { body: '{"events":[]}' }, 'bad-field'],
  ['add-outgoing-events', { body: '{"events":[{"event":"sent","user":"a"}]}' }, 'bad-field'],
  ['add-outgoing-events', { body: 'x'.repeat(600_000) }, 'too-big'],
]

test.for(wrong)(
  '%s refuses an invalid request according to the document: %j',
  async ([id, request, type]) => {
    const operation = apiOperations.find((one) => one.id === id)
    if (!operation) throw new Error(`there is no ${id}`)
    const gone = '01999999-0000-7000-8000-000000000000'
    const path = operation.path.replaceAll(/\{\w+\}/g, () => (id === 'look-up' ? '%3D' : gone))
    const { query = '', ...init } = request
    const answer = await fetch(`${shown.site.url}${path}${query}`, {
      ...init,
      method: operation.method.toUpperCase(),
      headers: { authorization: person.basic, ...init.headers },
    })
    const said = await check(operation, answer)
    expect(said.faults).toBe('')
    const problem = (JSON.parse(said.text) as { type: string }).type.split('#')[1]
    expect(problem).toBe(type)
    const told = document.paths[operation.path]?.[operation.method]?.responses[said.status]
    expect(told?.['x-problems']).toContain(problem)
  },
)

test('every operation that needs authentication refuses a request without it', async () => {
  for (const operation of apiOperations) {
    if (['nothing', 'mail-server'].includes(operation.need)) continue
    // Metrics need no authentication from this machine, unless through a proxy.
    const headers = { 'x-forwarded-for': '192.0.2.1' }
    const path = operation.path.replace('{id}', '01999999-0000-7000-8000-000000000000')
    const method = operation.method.toUpperCase()
    const answer = await fetch(`${shown.site.url}${path}`, { method, headers })
    const said = await check(operation, answer)
    expect([operation.id, said.status, said.faults]).toEqual([operation.id, 401, ''])
  }
})

test('the schemas refuse invalid values, so the checks above can fail', () => {
  const schema = { $ref: '#/components/schemas/Receipt' }
  const receipt = {
    id: crypto.randomUUID(),
    status: 'received',
    url: 'https://x.example/',
    changed: false,
  }
  expect(faultsOf(schema, receipt)).toBe('')
  expect(faultsOf(schema, { ...receipt, status: 'lost' })).not.toBe('')
  expect(faultsOf(schema, { ...receipt, more: 1 })).not.toBe('')
  expect(faultsOf(schema, {})).not.toBe('')
})

test('the document can be read from any origin, and only by GET', async () => {
  const url = `${shown.site.url}/openapi.json`
  const answer = await fetch(url, { headers: { origin: 'https://tools.example' } })
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  const post = await fetch(url, { method: 'POST' })
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
})
