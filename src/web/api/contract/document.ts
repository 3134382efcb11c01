import { z } from 'zod'
import { type ProblemName, problems, problemType } from '../../problem.ts'
import { accountOperations } from './account-operations.ts'
import { deskOperations } from './desk-operations.ts'
import { knowledgeOperations } from './knowledge-operations.ts'
import {
  answerHeaders,
  chapters,
  type Content,
  type HeaderName,
  type Need,
  type Operation,
  type OperationResponse,
} from './operation.ts'
import { reportOperations } from './report-operations.ts'
import { type SchemaName, schemas } from './schemas.ts'
import { searchOperations } from './search-operations.ts'

/** The schemas of request bodies, in which fields with defaults are optional. */
const incoming: readonly SchemaName[] = [
  'Submission',
  'BulkItem',
  'NewWebhook',
  'WebhookChange',
  'QueueChange',
  'MassChoice',
  'NewMassAction',
  'RelayStatement',
  'TestMessageRequest',
  'OutgoingEvents',
  'DeskAnswer',
]

export const operations = {
  ...reportOperations,
  ...accountOperations,
  ...knowledgeOperations,
  ...deskOperations,
  ...searchOperations,
}

export const apiOperations: readonly Operation[] = Object.entries(operations).map(
  ([id, operation]) => ({ id, problems: [], example: {}, ...operation }),
)

type Json = Record<string, unknown>

/** Problems that any operation may return. */
const anyProblem = ['header-too-big', 'too-slow', 'internal', 'unavailable'] as const

/** The header fields of problem responses, by status. */
const problemHeaders: Partial<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  415: ['Accept-Post'],
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
}

/** Composes the contract as an OpenAPI 3.1 document for a service at `publicUrl`. */
export function composeDocument(publicUrl: string): Json {
  composed ??= composeOperations()
  return {
    openapi: '3.1.0',
    info: {
      title: 'Signalpost',
      version: '1',
      summary: 'A clearing house for spam reports',
      description:
        'Report unwanted messages, follow your reports, and look up reputations. ' +
        'Every error is a problem document (RFC 9457). New fields may be added to responses ' +
        'at any time; none is removed within version 1.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    tags: Object.entries(chapters).map(([name, description]) => ({ name, description })),
    ...composed,
  }
}

/** The same for every service; composed once, because that takes 30 ms of a core. */
let composed: Json | undefined

function composeOperations(): Json {
  const paths: Record<string, Json> = {}
  for (const operation of apiOperations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: compose(operation) }
  }
  return {
    paths,
    webhooks: { report: { post: webhook() } },
    components: { schemas: composeSchemas(), securitySchemes },
  }
}

const securitySchemes = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'A token of the account, limited to its scopes and its role.',
  },
  password: {
    type: 'http',
    scheme: 'basic',
    description: 'The email address and password of the account; a token may replace the password.',
  },
  desk: {
    type: 'http',
    scheme: 'bearer',
    description: 'The last part of the address of the page of the abuse desk.',
  },
  mailServer: {
    type: 'apiKey',
    in: 'header',
    name: 'Password',
    description: 'The password for mail servers, if one is set.',
  },
}

const securityOf: Record<Need, readonly Json[]> = {
  report: needsScope('report'),
  read: needsScope('read'),
  retract: needsScope('retract'),
  account: needsScope('account'),
  any: [{ token: [] }, { password: [] }],
  viewer: needsScope('viewer'),
  analyst: needsScope('analyst'),
  operator: needsScope('operator'),
  administrator: needsScope('administrator'),
  'plug-in': [{ password: ['report'] }],
  desk: [{ desk: [] }],
  'mail-server': [{ mailServer: [] }, {}],
  nothing: [],
}

function needsScope(scope: string): Json[] {
  return [{ token: [scope] }, { password: [scope] }]
}

function compose(operation: Operation): Json {
  const { id, chapter, summary, description, need, parameters = {}, body } = operation
  const { isBodyOptional = false } = operation
  return {
    operationId: id,
    tags: [chapter],
    summary,
    ...(description && { description }),
    security: securityOf[need],
    parameters: Object.entries(parameters).flatMap(([place, schema]) => fieldsOf(place, schema)),
    ...(body && { requestBody: { required: !isBodyOptional, content: contentOf(body) } }),
    responses: { ...answersOf(operation), ...problemsOf(operation) },
  }
}

function fieldsOf(place: string, schema: z.ZodObject): Json[] {
  const { properties = {}, required = [] } = jsonSchemaOf(schema, 'input') as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...field }]) => ({
    name,
    in: place,
    ...(typeof description === 'string' && { description }),
    required: place === 'path' || required.includes(name),
    schema: field,
  }))
}

function answersOf({ answers }: Operation): Json {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, content, headers }]) => [
      status,
      {
        description,
        ...(headers && { headers: headersOf(headers) }),
        ...(content && { content: answerContent(content) }),
      },
    ]),
  )
}

/** Combines the schemas of media types that differ only in the parameters after the semicolon. */
function answerContent(content: NonNullable<OperationResponse['content']>): Json {
  const types = [...new Set(Object.keys(content).map((type) => type.split(';')[0] ?? type))]
  return Object.fromEntries(
    types.map((type) => {
      const its = Object.entries(content).filter(([name]) => name.split(';')[0] === type)
      const [only, ...others] = its.map(([, one]) => schemaOf(one))
      return [type, { schema: others.length > 0 ? { anyOf: [only, ...others] } : only }]
    }),
  )
}

function contentOf(content: Readonly<Record<string, Content>>): Json {
  return Object.fromEntries(
    Object.entries(content).map(([type, one]) => [type, { schema: schemaOf(one) }]),
  )
}

function schemaOf(content: Content): Json {
  if (content === 'text') return { type: 'string' }
  if (content === 'bytes') return { description: 'The message as raw bytes.' }
  if (content === 'file') return { description: 'The file as raw bytes, with its messages.' }
  if (content === 'lines') return { ...refTo('BulkItem'), description: 'One such object per line.' }
  if (content === 'form') return { type: 'object', additionalProperties: true }
  return refTo(content)
}

function refTo(name: SchemaName): Json {
  return { $ref: `#/components/schemas/${name}` }
}

function headersOf(names: readonly HeaderName[]): Json {
  return Object.fromEntries(
    names.map((name) => {
      const { description, type } = answerHeaders[name]
      return [name, { description, schema: { type } }]
    }),
  )
}

/** The problem responses by status, each with the names of its problems. */
function problemsOf(operation: Operation): Json {
  const { need, chapter, problems: own } = operation
  if (chapter === 'Mail servers') return need === 'mail-server' ? mailServerFaults : {}
  const names: ProblemName[] = [...own, ...impliedProblems(operation)]
  if (names.length === 0) return {}
  const byStatus = Map.groupBy(new Set([...names, ...anyProblem]), (name) => problems[name].status)
  return Object.fromEntries(
    [...byStatus].map(([status, some]) => [status, problemResponse(status, some)]),
  )
}

/** The problems that follow from the credentials, the parameters and the body of an operation. */
function impliedProblems({ need, path, parameters, body }: Operation): ProblemName[] {
  const isAsked = need !== 'nothing'
  const isEnough = need === 'any' || need === 'desk'
  return [
    ...(isAsked ? (['sign-in-needed', 'too-often'] as const) : []),
    ...(isAsked && !isEnough ? (['not-allowed'] as const) : []),
    ...(path.includes('{id}') ? (['not-found'] as const) : []),
    ...(parameters?.query ? (['bad-field'] as const) : []),
    ...(body?.['application/json'] ? jsonProblems : []),
  ]
}

const jsonProblems = ['bad-request', 'bad-field', 'too-big', 'wrong-type'] as const

function problemResponse(status: number, names: readonly ProblemName[]): Json {
  const headers = problemHeaders[status]
  return {
    description: names.map((name) => `${name}: ${problems[name].title}.`).join(' '),
    ...(headers && { headers: headersOf(headers) }),
    content: { [problemType]: { schema: refTo('Refused') } },
    'x-problems': names,
  }
}

const mailServerFaults: Json = Object.fromEntries(
  ([400, 401, 403, 405, 413, 415, 422, 429, 503] as const).map((status) => [
    status,
    {
      description: 'The message was not judged. The text says why.',
      content: { 'application/json': { schema: refTo('CheckError') } },
    },
  ]),
)

function webhook(): Json {
  return {
    operationId: 'told-by-webhook',
    tags: ['Webhooks'],
    summary: 'The body of a webhook request',
    description:
      'Signed as in Standard Webhooks: HMAC-SHA256 over "webhook-id.webhook-timestamp.body", ' +
      'with the decoded bytes after whsec_ as the key. Reject requests older than five ' +
      'minutes, and process each webhook-id once.',
    security: [],
    parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
      name,
      in: 'header',
      required: true,
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: refTo('WebhookMessage') } },
    },
    responses: {
      204: { description: 'Any 2xx status: accepted.' },
      410: { description: 'The receiver is gone. The webhook is switched off.' },
    },
  }
}

function composeSchemas(): Json {
  const names = Object.keys(schemas) as SchemaName[]
  return Object.fromEntries(
    names.map((name) => {
      const way = incoming.includes(name) ? 'input' : 'output'
      return [name, jsonSchemaOf(schemas[name], way)]
    }),
  )
}

/**
 * Converts a schema to JSON Schema. Objects may have further fields, because responses may get new
 * ones; no field is marked read-only.
 */
function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema, ...json } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      delete jsonSchema.readOnly
    },
  }) as Json
  void $schema
  return json
}
