import { type FileHandle, open, readFile } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import {
  fileNamesOf,
  isListFile,
  listCategories,
  listCodes,
  listNames,
  MANIFEST,
  pageFeedOf,
  pageFeeds,
} from '../../verdict/lists/list.ts'
import { authenticateRequest } from '../authenticate.ts'
import { sendPage } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'

type Needs = Pick<Site, 'config' | 'credentials'>

const FRESH_SECONDS = 300
const manifestSchema = z.object({
  generated_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  lists: z.record(z.string(), z.object({ zone: z.string(), entries: z.number() })),
})

/**
 * The list downloads: public if configured, otherwise for people with a role and their programs.
 * The public gets the feed of confirmed pages with a delay.
 */
export function downloadRoutes(site: Needs): Router {
  const router = Router()
  router.get('/lists', async (req, res) => {
    await sendLists(req, res, site, await readerOf(req, site))
  })
  router.get(['/lists/:file', '/lists/:folder/:file'], async (req, res) => {
    const { folder, file } = req.params as { folder?: string; file: string }
    const name = folder === undefined ? file : `${folder}/${file}`
    const reader = await readerOf(req, site)
    if (!mayRead(name, reader, site)) {
      throw new ProblemError('not-allowed', 'The public gets this feed with a delay.')
    }
    await sendFile(req, res, site, name)
  })
  return router
}

/** Who reads: somebody with a role, or the public. */
type Reader = 'with role' | 'public'

async function readerOf(req: Request, { config, credentials }: Needs): Promise<Reader> {
  if (req.headers.authorization !== undefined) {
    await authenticateRequest(req, credentials, ['bearer', 'basic'], 'viewer')
    return 'with role'
  }
  const isPublic = config.listsArePublic
  const reporter = isPublic ? visitOf(req).reporter : requireReporter(req)
  if (reporter && reporter.role !== null) return 'with role'
  if (isPublic) return 'public'
  throw new ProblemError('not-allowed', 'These lists are not public.')
}

function mayRead(file: string, reader: Reader, { config }: Needs): boolean {
  const isDelayed = pageFeedOf(file) === 'pages' && config.pagesDelayHours > 0
  return reader === 'with role' || !isDelayed
}

async function sendLists(req: Request, res: Response, site: Needs, reader: Reader): Promise<void> {
  const { texts } = visitOf(req)
  const manifest = await readManifest(site.config.listsDir)
  const lists = [...listNames, ...pageFeeds].flatMap((list) => {
    const files = fileNamesOf(list).filter((file) => mayRead(file, reader, site))
    if (files.length === 0) return []
    const name = texts(`lists.names.${list}`, { hours: site.config.pagesDelayHours })
    return { name, files, ...manifest?.lists[list] }
  })
  const codes = listCategories.map((category) => ({
    code: listCodes[category],
    meaning: texts(`lists.downloads.meanings.${category}`),
  }))
  const data = { manifest, lists, codes, manifestName: MANIFEST }
  sendPage(req, res, { view: 'pages/lists', title: texts('lists.downloads.title'), data })
}

async function readManifest(folder: string) {
  const text = await readFile(path.join(folder, MANIFEST), 'utf8').catch(absent)
  return text === undefined ? undefined : manifestSchema.parse(JSON.parse(text))
}

/** Sends a list from one open file, so that a new edition does not affect a running download. */
async function sendFile(req: Request, res: Response, site: Needs, name: string): Promise<void> {
  const { config } = site
  if (!isListFile(name)) throw new ProblemError('not-found', 'List not found.')
  await using handle = await open(path.join(config.listsDir, name)).catch(absent)
  if (!handle) throw new ProblemError('not-found', 'This list has not been published yet.')
  const caching = mayRead(name, 'public', site) && config.listsArePublic ? 'public' : 'private'
  await sendOpen(req, res, handle, { name, caching })
}

async function sendOpen(
  req: Request,
  res: Response,
  handle: FileHandle,
  { name, caching }: { name: string; caching: 'public' | 'private' },
): Promise<void> {
  const { size, mtime, ino } = await handle.stat()
  const etag = `"${[mtime.getTime(), size, ino].map((part) => part.toString(36)).join('-')}"`
  res.setHeader('etag', etag)
  res.setHeader('last-modified', mtime.toUTCString())
  res.setHeader('cache-control', `${caching}, max-age=${FRESH_SECONDS}`)
  if (isKnown(req, etag, mtime)) return void res.status(304).end()
  res.setHeader('content-type', `${typeOf(name)}; charset=utf-8`)
  res.setHeader('content-length', size)
  if (req.method === 'HEAD' || size === 0) return void res.end()
  // A client that disconnects needs no response.
  await pipeline(handle.createReadStream({ autoClose: false, end: size - 1 }), res).catch(() =>
    res.destroy(),
  )
}

/**
 * Whether the client has this version (RFC 9110 §13.1): the ETag takes precedence over the date.
 */
function isKnown(req: Request, etag: string, mtime: Date): boolean {
  const tags = req.headers['if-none-match']
  if (tags !== undefined) {
    return tags.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
  }
  const since = Date.parse(req.headers['if-modified-since'] ?? '')
  return Math.floor(mtime.getTime() / 1_000) * 1_000 <= since
}

function typeOf(name: string): string {
  if (name.endsWith('.json')) return 'application/json'
  if (name.endsWith('.jsonl')) return 'application/jsonl'
  return name.endsWith('.csv') ? 'text/csv' : 'text/plain'
}

function absent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}
