import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Router } from 'express'
import { cors } from '../api/cors.ts'
import { composeDocument } from '../api/contract/compose-document.ts'
import { chapters, type Operation } from '../api/contract/operation.ts'
import { operations } from '../api/contract/operations.ts'
import { otherMethods } from '../api/methods.ts'
import { sendPage } from '../pages/render.ts'
import { speakEnglish } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { composeExamples } from './examples.ts'

type Needs = Pick<Site, 'publicUrl'>

const SECONDS_FRESH = 300
const ANY_ID = '01999999-0000-7000-8000-000000000000'

/** The contract for programs: `/openapi.json`. Any page may read it. */
export function contractRoutes(site: Needs): Router {
  const router = Router()
  const json = JSON.stringify(composeDocument(site.publicUrl))
  router.get('/openapi.json', cors, (_req, res) => {
    res.setHeader('content-type', 'application/json; charset=utf-8')
    res.setHeader('cache-control', `public, max-age=${SECONDS_FRESH}`)
    res.end(json)
  })
  router.all('/openapi.json', cors, otherMethods('GET'))
  return router
}

/** The same for people who write programs, in English: `/docs`. */
export function docsRoutes(site: Needs): Router {
  const router = Router()
  const data = describeContract(site.publicUrl)
  router.get('/docs', (req, res) => {
    speakEnglish(req)
    sendPage(req, res, { view: 'docs/reference', title: 'For programs', data })
  })
  return router
}

/** The programs that the page shows whole, by name. Tests run them. */
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
  const parts = { id: ANY_ID, name: 'shop.example', file: 'domains.json' }
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
      operations: operations.filter(({ chapter }) => chapter === name).map(describe),
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

/** What of a composed operation the page shows. */
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
  admin: 'For administrators: a token with the scope “admin”, or the password.',
  'plug-in': 'Needs Basic credentials: the mail address, and the password or a token.',
  'mail-server': 'Needs the header Password, or to be asked from this machine where none is set.',
  nothing: 'For anybody.',
}
